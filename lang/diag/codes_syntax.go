package diag

import "strings"

// The codes of the lexer and the parser are append-only.
const (
	UnexpectedToken       Code = "AE0001"
	MissingSemicolon      Code = "AE0002"
	UnclosedBracket       Code = "AE0003"
	StrayCharacter        Code = "AE0004"
	UnterminatedString    Code = "AE0005"
	UnterminatedComment   Code = "AE0006"
	InvalidEscape         Code = "AE0007"
	InvalidNumber         Code = "AE0008"
	NumberTooLarge        Code = "AE0009"
	NestingTooDeep        Code = "AE0010"
	FileTooLarge          Code = "AE0011"
	MissingPackage        Code = "AE0012"
	MisplacedClause       Code = "AE0013"
	NullSpelling          Code = "AE0014"
	AssignInCondition     Code = "AE0015"
	ElseIfSpelling        Code = "AE0016"
	MissingBraces         Code = "AE0017"
	NotAStatement         Code = "AE0018"
	DecorationWithoutCall Code = "AE0019"
	MisplacedModifier     Code = "AE0020"
	ConstructorName       Code = "AE0021"
	TimerClause           Code = "AE0022"
	StrayClosing          Code = "AE0023"
	EmptyInterpolation    Code = "AE0024"
	ReservedWord          Code = "AE0025"
	NestedDeclaration     Code = "AE0026"
	NotAssignable         Code = "AE0027"
	DuplicateDefault      Code = "AE0028"
	ForeignOperator       Code = "AE0029"
	ForeignWord           Code = "AE0030"
)

// in is a program that is correct but perhaps for the given statements.
func in(stmts string) string {
	return "package p\n\nvoid f(int x, int y) {\n\t" + strings.ReplaceAll(stmts, "\n", "\n\t") + "\n}\n"
}

// syntaxCodes documents the codes of the lexer and the parser.
var syntaxCodes = []Info{
	{
		Code:  UnexpectedToken,
		Title: "unexpected token",
		Explanation: `Something else was expected here. The message names what was expected and what
was found. When the word found is close to a keyword that would fit, the message
suggests it.`,
		Bad:  "package p\n\nvoid f(int) {\n}\n",
		Good: "package p\n\nvoid f(int n) {\n}\n",
	},
	{
		Code:  MissingSemicolon,
		Title: "missing semicolon",
		Explanation: `Statements, fields and constants end with a semicolon. Declarations that end in
a closing brace do not, and neither do the package clause and imports.`,
		Bad:  in("int n = x\nn++;"),
		Good: in("int n = x;\nn++;"),
	},
	{
		Code:  UnclosedBracket,
		Title: "bracket is not closed",
		Explanation: `An opening bracket has no partner. For a brace, the compiler guesses from the
indentation which one it is, and reads on as if it were closed there.`,
		Bad:  in("if (x < y) {\n\tprint(\"less\");\nprint(\"done\");"),
		Good: in("if (x < y) {\n\tprint(\"less\");\n}\nprint(\"done\");"),
	},
	{
		Code:  StrayCharacter,
		Title: "unexpected character",
		Explanation: `The character starts no token. Often it comes from a word processor: a curly
quotation mark, a long dash, a space that does not break. Source files are UTF-8;
characters outside of ASCII stand in strings and comments only.`,
		Bad:  in("int n = x – y;"),
		Good: in("int n = x - y;"),
	},
	{
		Code:  UnterminatedString,
		Title: "string is not closed",
		Explanation: `A string between double quotes ends on the line it starts on, and so do the
interpolations in it. Text of several lines stands between backquotes. Between
single quotes stands exactly one character.`,
		Bad:  in("print(\"hello);"),
		Good: in("print(\"hello\");"),
	},
	{
		Code:        UnterminatedComment,
		Title:       "comment is not closed",
		Explanation: "A comment that starts with `/*` ends with `*/`. Such comments do not nest.",
		Bad:         "package p\n\n/* everything below is a comment\nvoid f() {\n}\n",
		Good:        "package p\n\n/* only this is a comment */\nvoid f() {\n}\n",
	},
	{
		Code:  InvalidEscape,
		Title: "unknown escape sequence",
		Explanation: "In a string, a backslash starts an escape sequence: those of Go, and `\\{` and `\\}` for\n" +
			"braces that start no interpolation. A backslash itself is written `\\\\`. Strings\n" +
			"between backquotes have no escape sequences.",
		Bad:  in(`print("50\%");`),
		Good: in(`print("50%");`),
	},
	{
		Code:  InvalidNumber,
		Title: "malformed number",
		Explanation: `Numbers are written as in Go: 42, 1_000, 0xff, 0b101, 0o17, 2.5, 1e9. A duration
is a number with a unit of Go, such as 50ms, 90s or 1h30m.`,
		Bad:  in("x = 12abc;"),
		Good: in("x = 12;"),
	},
	{
		Code:  NumberTooLarge,
		Title: "number is too large",
		Explanation: `Integer literals have at most 64 bits, floating-point literals fit in a float64,
and durations end at about 292 years.`,
		Bad:  in("x = 100_000_000_000_000_000_000;"),
		Good: in("x = 100_000_000_000_000;"),
	},
	{
		Code:  NestingTooDeep,
		Title: "nested too deep",
		Explanation: `Brackets, expressions, types, statements and chains of operators nest at most
1000 levels deep. No person writes that; a program that generates source can name
intermediate results instead.`,
		Bad:    in("x = ((((/* … 1000 more */ x))));"),
		BadGen: func() string { return in("x = " + strings.Repeat("(", 1100) + "x" + strings.Repeat(")", 1100) + ";") },
		Good:   in("x = ((((x))));"),
	},
	{
		Code:  FileTooLarge,
		Title: "too large",
		Explanation: `A file has at most 4 MB and a declaration at most about a million tokens. All
files of a directory form one package, so that a file can always be split.`,
		Bad:    "package p\n\n// … 4 MB of text\n",
		BadGen: func() string { return "package p\n\n// " + strings.Repeat("x", 4<<20) + "\n" },
		Good:   "package p\n\n// text\n",
	},
	{
		Code:        MissingPackage,
		Title:       "missing package clause",
		Explanation: "Every file starts with the name of its package. All files of a directory have the same.",
		Bad:         "void main() {\n}\n",
		Good:        "package p\n\nvoid main() {\n}\n",
	},
	{
		Code:        MisplacedClause,
		Title:       "misplaced package clause or import",
		Explanation: "The package clause comes first, then the imports, then the declarations.",
		Bad:         "package p\n\nconst N = 1;\n\nimport \"example.com/q\"\n",
		Good:        "package p\n\nimport \"example.com/q\"\n\nconst N = 1;\n",
	},
	{
		Code:        NullSpelling,
		Title:       "null is spelt differently",
		Explanation: "The absence of a value is written `null`. Only a type that ends in `?` has it.",
		Bad:         "package p\n\nvoid f(int? n) {\n\tn = NULL;\n}\n",
		Good:        "package p\n\nvoid f(int? n) {\n\tn = null;\n}\n",
	},
	{
		Code:  AssignInCondition,
		Title: "assignment in a condition",
		Explanation: "A condition compares with `==`; `=` assigns, and an assignment is a statement. To test\n" +
			"and name an optional value, declare it in the condition: `if (Steak s = steak) { … }`.",
		Bad:  in("if (x = y) {\n}"),
		Good: in("if (x == y) {\n}"),
	},
	{
		Code:        ElseIfSpelling,
		Title:       "else if is spelt differently",
		Explanation: "The two words are written apart: `else if`.",
		Bad:         in("if (x < y) {\n} elseif (x > y) {\n}"),
		Good:        in("if (x < y) {\n} else if (x > y) {\n}"),
	},
	{
		Code:        MissingBraces,
		Title:       "missing braces",
		Explanation: "The body of every control statement stands in braces, as in Go.",
		Bad:         in("if (x < y) x = y;"),
		Good:        in("if (x < y) {\n\tx = y;\n}"),
	},
	{
		Code:        NotAStatement,
		Title:       "expression without effect",
		Explanation: "Of the expressions, only calls, `new` and `await` can stand as a statement.",
		Bad:         in("x + y;"),
		Good:        in("x += y;"),
	},
	{
		Code:        DecorationWithoutCall,
		Title:       "`async` or `event` without a call",
		Explanation: "`async` and `event` decorate a method call and say how it runs. They apply to nothing else.",
		Bad:         "package p\n\nvoid f(Grill g) {\n\tevent g.turn;\n}\n",
		Good:        "package p\n\nvoid f(Grill g) {\n\tevent g.turn();\n}\n",
	},
	{
		Code:  MisplacedModifier,
		Title: "modifier does not belong here",
		Explanation: "`yield` marks fields, parameters and results; locals take no modifier, because a local is\n" +
			"yield if anything assigned to it is. `ro` marks methods of actors, `pure` Go functions.\n" +
			"No modifier is written twice.",
		Bad:  "package p\n\nvoid f(yield Cook a) {\n\tyield Cook b = a;\n\tb = a;\n}\n",
		Good: "package p\n\nvoid f(yield Cook a) {\n\tCook b = a;\n\tb = a;\n}\n",
	},
	{
		Code:  ConstructorName,
		Title: "method without result type",
		Explanation: "Only the constructor has no result type, and it has the name of its class. A method that\n" +
			"returns nothing is declared `void`.",
		Bad:  "package p\n\nactorclass Grill {\n\tturn() {\n\t}\n}\n",
		Good: "package p\n\nactorclass Grill {\n\tvoid turn() {\n\t}\n}\n",
	},
	{
		Code:  TimerClause,
		Title: "timer clause does not fit",
		Explanation: "Only an `event` can be timed. `after D` runs it once, later; `every D` repeats it and needs\n" +
			"a name, `as \"name\"`, by which `cancel` stops it.",
		Bad:  "package p\n\nvoid f(Grill g) {\n\tevent g.turn() every 5s;\n}\n",
		Good: "package p\n\nvoid f(Grill g) {\n\tevent g.turn() every 5s as \"turn\";\n}\n",
	},
	{
		Code:  StrayClosing,
		Title: "bracket or semicolon between declarations",
		Explanation: `Nothing is open that this could close: either an opening bracket is missing
above, or this one is left over. Declarations that end in a brace, the package
clause and imports take no semicolon.`,
		Bad:  "package p\n\nclass Steak {\n\tint grams;\n};\n",
		Good: "package p\n\nclass Steak {\n\tint grams;\n}\n",
	},
	{
		Code:  EmptyInterpolation,
		Title: "empty interpolation",
		Explanation: "In a string, braces enclose an expression whose value becomes part of the text. A brace\n" +
			"that is text is written `\\{`.",
		Bad:  in(`print("a set: {}");`),
		Good: in(`print("a set: \{}");`),
	},
	{
		Code:  ReservedWord,
		Title: "keyword used as a name",
		Explanation: "Keywords cannot be names. The words `after as client every go log map pure set test time\n" +
			"vector` are no keywords in this sense: they can name anything.",
		Bad:  in("int event = x;\nprint(y);"),
		Good: in("int event_ = x;\nprint(y);"),
	},
	{
		Code:  NestedDeclaration,
		Title: "declaration within a function or class",
		Explanation: `Functions, classes, enums and constants stand at the top level of a file; a class
contains fields, a constructor and methods only. Often the cause is a missing
closing brace above.`,
		Bad:  in("void g() {\n}"),
		Good: "package p\n\nvoid f(int x, int y) {\n}\n\nvoid g() {\n}\n",
	},
	{
		Code:        NotAssignable,
		Title:       "this cannot be assigned to",
		Explanation: "The left side of an assignment is a path: a variable, a field, an element, or a path that continues one, such as `a.b[i].c`.",
		Bad:         in("x + 1 = y;"),
		Good:        in("x = y - 1;"),
	},
	{
		Code:        DuplicateDefault,
		Title:       "second default",
		Explanation: "A `switch` or `match` has at most one `default`.",
		Bad:         in("switch (x) {\ndefault:\n\tprint(1);\ndefault:\n\tprint(2);\n}"),
		Good:        in("switch (x) {\ncase 1:\n\tprint(1);\ndefault:\n\tprint(2);\n}"),
	},
	{
		Code:  ForeignOperator,
		Title: "operator of another language",
		Explanation: "There is no `?:`, no `->`, no `and` and `or`; `++`, `--` and assignments are statements and\n" +
			"have no value.",
		Bad:  in("x = y->z;"),
		Good: in("x = y.z;"),
	},
	{
		Code:  ForeignWord,
		Title: "word of another language",
		Explanation: "The word means something in other languages and nothing here; the message says what aeon\n" +
			"has instead. There is no inheritance, so no `extends` and no `interface`; there are no modifiers\n" +
			"of access, since a name that starts with a capital letter is exported; functions start with the\n" +
			"type of their result, locals with theirs or with `var`; a failure is an `abort`.",
		Bad:  in("if (x < 0) {\n\tthrow \"negative\";\n}"),
		Good: in("if (x < 0) {\n\tabort \"negative\";\n}"),
	},
}
