package diag

import (
	"fmt"
	"strings"
)

// typeCodes documents the codes on types, constants and null.
var typeCodes = []Info{
	{
		Code: TypeMismatch, Title: "value has another type",
		Explanation: `The place needs a value of one type and gets another. Nothing is converted
implicitly, numbers included: write the conversion, such as float(n) or str(n).`,
		Bad: inMain("int n = 1;\n\tfloat f = n;\n\tprint(f);"), Good: inMain("int n = 1;\n\tfloat f = float(n);\n\tprint(f);"),
	},
	{
		Code: BadOperand, Title: "operator does not work on these types",
		Explanation: `Both sides of an operator have the same type, and one that the operator knows.
Exceptions: a time and a duration can be added, a duration and an int multiplied.`,
		Bad: inMain("print(\"n = \" + 1);"), Good: inMain("print(\"n = {1}\");"),
	},
	{
		Code: BadArgCount, Title: "wrong number of arguments",
		Explanation: `A call gives one argument per parameter. There are no optional parameters.`,
		Bad:         program("int twice(int n) {\n\treturn 2 * n;\n}\n\nvoid main() {\n\tprint(twice(1, 2));\n}"),
		Good:        program("int twice(int n) {\n\treturn 2 * n;\n}\n\nvoid main() {\n\tprint(twice(1));\n}"),
	},
	{
		Code: BadConversion, Title: "no such conversion",
		Explanation: `Conversions exist between numbers, between an int and a time or duration (in
nanoseconds), and between string and bytes. str(x) makes a text of anything, and
parseInt(s) reads an int, parseFloat(s) a float.`,
		Bad: inMain("print(int(\"12\"));"), Good: inMain("print(parseInt(\"12\") ?? 0);"),
	},
	{
		Code: NotCallable, Title: "this cannot be called",
		Explanation: `Only functions and methods are called.`,
		Bad:         inMain("int n = 1;\n\tprint(n(2));"), Good: inMain("int n = 1;\n\tprint(n * 2);"),
	},
	{
		Code: BadKey, Title: "type cannot be a key",
		Explanation: `The keys of maps and the elements of sets are integers, bool, string, bytes,
enums, time, duration or actors: they have an order, and it is always the same.`,
		Bad: inMain("print(new map<float, int>());"), Good: inMain("print(new map<int, int>());"),
	},
	{
		Code: NotIndexable, Title: "no elements to index",
		Explanation: `Vectors, maps, strings and bytes have elements that can be indexed; vectors,
strings and bytes can be sliced.`,
		Bad: inMain("int n = 1;\n\tprint(n[0]);"), Good: inMain("vector<int> n = [1];\n\tprint(n[0]);"),
	},
	{
		Code: ConstOverflow, Title: "constant does not fit",
		Explanation: `Constant expressions are computed exactly when the program is compiled, and the
value has to fit its type. At run time an overflow aborts the event.`,
		Bad: inMain("uint8 n = 256;\n\tprint(n);"), Good: inMain("uint16 n = 256;\n\tprint(n);"),
	},
	{
		Code: ConstDivision, Title: "division by zero",
		Explanation: `The divisor is the constant 0, so this would always abort.`,
		Bad:         inMain("int n = 1;\n\tprint(n / 0);"), Good: inMain("int n = 1;\n\tprint(n / 2);"),
	},
	{
		Code: NotConstant, Title: "value is not known at compile time",
		Explanation: `A constant is made from literals, other constants and enum values with operators
and conversions. For anything else write a function, or set a local.`,
		Bad: program("const int N = len(\"abc\");"), Good: program("const int N = 3;"),
	},
	{
		Code: CannotInfer, Title: "type is not known here",
		Explanation: "`null` and `[]` take their type from the place where they stand; `var` has none to give.",
		Bad:         inMain("var xs = [];\n\tprint(xs);"), Good: inMain("vector<int> xs = [];\n\tprint(xs);"),
	},
	{
		Code: VoidValue, Title: "call has no result",
		Explanation: `The function returns nothing, so its call is a statement and no value.`,
		Bad:         program("void f() {\n}\n\nvoid main() {\n\tprint(f());\n}"), Good: program("void f() {\n}\n\nvoid main() {\n\tf();\n}"),
	},
	{
		Code: NotComparable, Title: "values cannot be compared",
		Explanation: `A pending result has no equality: await it and compare the results.`,
		Bad:         program("actorclass A {\n\tint one() {\n\t\treturn 1;\n\t}\n}\n\nvoid main() {\n\tA a = new A();\n\tpending<int> p = event a.one();\n\tprint(p == p);\n}"),
		Good:        program("actorclass A {\n\tint one() {\n\t\treturn 1;\n\t}\n}\n\nvoid main() {\n\tA a = new A();\n\tint p = await event a.one();\n\tprint(p == 1);\n}"),
	},
	{
		Code: BadIteration, Title: "a loop cannot go over this",
		Explanation: "`for (T x : xs)` goes over vectors, sets and tables. Of a map, take keys() or values(), or both with `for (K k, V v : m)`; to count, write `for (int i = 0 upto n)`.",
		Bad:         inMain("map<int, int> m = new map<int, int>();\n\tfor (int k : m) {\n\t\tprint(k);\n\t}"),
		Good:        inMain("map<int, int> m = new map<int, int>();\n\tfor (int k : m.keys()) {\n\t\tprint(k);\n\t}"),
	},
	{
		Code: RecursiveValue, Title: "class contains itself",
		Explanation: `Objects of classes are values: a field holds the other object itself, not a
reference to it. A class that contains itself would have no end. Make the field
optional, or a vector: then the chain can end.`,
		Bad: program("class Node {\n\tint value;\n\tNode next;\n}"), Good: program("class Node {\n\tint value;\n\tNode? next;\n}"),
	},
	{
		Code: DuplicateCase, Title: "second case for the same value",
		Explanation: `The second case would never be reached.`,
		Bad:         inMain("int n = 1;\n\tswitch (n) {\n\tcase 1:\n\t\tprint(\"one\");\n\tcase 1:\n\t\tprint(\"uno\");\n\t}"),
		Good:        inMain("int n = 1;\n\tswitch (n) {\n\tcase 1:\n\t\tprint(\"one\");\n\tcase 2:\n\t\tprint(\"two\");\n\t}"),
	},
	{
		Code: MissingCases, Title: "not all values of the enum have a case",
		Explanation: "A `match` has a case for every value of its enum, or a default: when a value is added, the compiler shows where it matters. A `switch` that leaves some out gets a warning.",
		Bad:         program("enum Light { RED, GREEN }\n\nvoid show(Light l) {\n\tmatch (l) {\n\tcase RED:\n\t\tprint(\"stop\");\n\t}\n}"),
		Good:        program("enum Light { RED, GREEN }\n\nvoid show(Light l) {\n\tmatch (l) {\n\tcase RED:\n\t\tprint(\"stop\");\n\tcase GREEN:\n\t\tprint(\"go\");\n\t}\n}"),
	},
	{
		Code: TooDeep, Title: "nested too deep",
		Explanation: `Types nest at most 32 deep. Put the inner part into a value class of its own.`,
		Bad:         program("void f(vector<vector</* … 70 more */ int>> x) {\n}"),
		Good:        program("void f(vector<vector<int>> x) {\n}"),
		BadGen: func() string {
			return program("void f(" + strings.Repeat("vector<", 70) + "int" + strings.Repeat(">", 70) + " x) {\n}")
		},
	},
	{
		Code: BadTypeUse, Title: "type cannot be used here",
		Explanation: "`void` is only a result, pending results live in the locals of clients, `T??` is `T?`, and predeclared types take no type arguments.",
		Bad:         program("class Job {\n\tpending<int> result;\n}"), Good: program("class Job {\n\tint result;\n}"),
	},
	{
		Code: ConstCycle, Title: "constant is defined by itself",
		Explanation: `The value of the constant depends on the constant.`,
		Bad:         program("const int N = N + 1;"), Good: program("const int N = 1;"),
	},
	{
		Code: ConstIndex, Title: "negative index",
		Explanation: `Indices count from 0. The last element of xs is xs[xs.size() - 1].`,
		Bad:         inMain("vector<int> xs = [1];\n\tprint(xs[-1]);"), Good: inMain("vector<int> xs = [1];\n\tprint(xs[xs.size() - 1]);"),
	},
	{
		Code: UnusedExpression, Title: "result is not used",
		Explanation: `The call only computes a value, and nothing takes it.`,
		Bad:         inMain("min(1, 2);"), Good: inMain("print(min(1, 2));"),
	},
	{
		Code: TooLarge, Title: "ownership graph is too large",
		Explanation: `A package, with what it imports, has at most 4096 actor classes, and at most
250 000 pairs of a class and one below it in the ownership graph. No person writes
that; a program that generates source can use one class with a field that tells
its kind.`,
		Bad: "package p\n\nactorclass C0 {\n\tC1? next;\n}\n\n// … up to C5000\n", Good: program("actorclass C {\n\tint kind = 0;\n\tC? next;\n}"),
		BadGen: func() string {
			var b strings.Builder
			b.WriteString("package p\n\n")
			for i := range 5000 {
				fmt.Fprintf(&b, "actorclass C%d {\n\tC%d? next;\n}\n\n", i, i+1)
			}
			return b.String() + "actorclass C5000 {\n}\n"
		},
	},
	{
		Code: DuplicateKey, Title: "duplicate key in a literal",
		Explanation: `A literal of a map has each key once, and a literal of a set each element. Of two
equal keys that are not known before the program runs, the last one counts.`,
		Bad: inMain("map<string, int> m = [\"a\": 1, \"a\": 2];\n\tprint(m);"), Good: inMain("map<string, int> m = [\"a\": 1, \"b\": 2];\n\tprint(m);"),
	},
	{
		Code: MaybeNull, Title: "this may be null",
		Explanation: "A value of a type `T?` is tested before it is used as a `T`: `if (x != null)` for a local or parameter, `if (T y = x)` for anything. `x ?? y` gives another value for null, `x?.f` goes on with null, and `x!` aborts on null. A test does not narrow a field, since another call may change the field in between.",
		Bad:         program("class Steak {\n\tint grams;\n}\n\nint weigh(Steak? s) {\n\treturn s.grams;\n}"),
		Good:        program("class Steak {\n\tint grams;\n}\n\nint weigh(Steak? s) {\n\tif (s == null) {\n\t\treturn 0;\n\t}\n\treturn s.grams;\n}"),
	},
	{
		Code: NeverNull, Title: "this is never null",
		Explanation: `Only values of optional types can be null; the test or operator has nothing to do.`,
		Bad:         inMain("int n = 1;\n\tprint(n!);"), Good: inMain("int n = 1;\n\tprint(n);"),
	},
	{
		Code: NullNotHere, Title: "null does not fit",
		Explanation: "Only optional types, written with a question mark, can be null.",
		Bad:         inMain("int n = null;\n\tprint(n);"), Good: inMain("int? n = null;\n\tprint(n);"),
	},
}
