package diag

// valueCodes documents the codes on values and paths.
var valueCodes = []Info{
	{
		Code: CannotAssign, Title: "this cannot be assigned to",
		Explanation: `Variables, fields and elements can be assigned. Constants, enum values and the
bytes of a string cannot.`,
		Bad:  program("const int N = 1;\n\nvoid main() {\n\tN = 2;\n}"),
		Good: inMain("int n = 1;\n\tn = 2;\n\tprint(n);"),
	},
	{
		Code: TemporaryWritten, Title: "a temporary value is changed",
		Explanation: `Objects of classes, containers and bytes are values: what a call returns is a
copy, and what is written to it is lost. Keep it in a variable, change that, and
store it where it belongs.`,
		Bad:  inMain("string s = \"a b\";\n\ts.split(\" \").push(\"c\");"),
		Good: inMain("string s = \"a b\";\n\tvector<string> words = s.split(\" \");\n\twords.push(\"c\");\n\tprint(words);"),
	},
	{
		Code: SelfAssigned, Title: "variable is assigned to itself",
		Explanation: "The assignment changes nothing. Most often a parameter or local hides a field of its name,\n" +
			"which is written `this.n`. It is a warning.",
		Bad:  program("class Counter {\n\tint n = 0;\n\tvoid set(int n) {\n\t\tn = n;\n\t}\n}"),
		Good: program("class Counter {\n\tint n = 0;\n\tvoid set(int n) {\n\t\tthis.n = n;\n\t}\n}"),
	},
}
