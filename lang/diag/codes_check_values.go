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
	}, {
		Code: LostWrite, Title: "write to a copy that nothing uses",
		Explanation: "Objects of classes, containers and bytes are values: the variable of a loop, a parameter and a\n" +
			"local have a copy, and what it was read from stays as it is. Write to the original by its path,\n" +
			"as in `rows[i].n = 1`, or store the copy where it belongs after the write. It is a warning, and\n" +
			"given only where nothing reads, passes, stores or returns the copy afterwards.",
		Bad:  program("class Row {\n\tint n;\n}\n\nactorclass Sheet {\n\tvector<Row> rows;\n\tvoid reset() {\n\t\tfor (Row r : rows) {\n\t\t\tr.n = 0;\n\t\t}\n\t}\n}"),
		Good: program("class Row {\n\tint n;\n}\n\nactorclass Sheet {\n\tvector<Row> rows;\n\tvoid reset() {\n\t\tfor (int i = 0 upto rows.size()) {\n\t\t\trows[i].n = 0;\n\t\t}\n\t}\n}"),
	},
}
