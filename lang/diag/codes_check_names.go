package diag

// program is an example of a package with the given declarations.
func program(decls string) string { return "package p\n\n" + decls + "\n" }

// inMain is an example with statements in main.
func inMain(stmts string) string { return program("void main() {\n\t" + stmts + "\n}") }

// nameCodes documents the codes on names and declarations.
var nameCodes = []Info{
	{
		Code: UndefinedName, Title: "name is not declared",
		Explanation: `No local, parameter, member of the class, declaration of the package, import or
predeclared name is called so. If one has a similar name, the message suggests it.`,
		Bad: inMain("int total = 3;\n\tprint(totl, total);"), Good: inMain("int total = 3;\n\tprint(total, total);"),
	},
	{
		Code: UndefinedType, Title: "there is no such type",
		Explanation: `The name denotes no class, enum or predeclared type. The predeclared types are
int, int8, int16, int32, uint8, uint16, uint32, uint64, float, bool, string,
bytes, time and duration.`,
		Bad: inMain("double d = 1.5;\n\tprint(d);"), Good: inMain("float d = 1.5;\n\tprint(d);"),
	},
	{
		Code: UnknownMember, Title: "no such field, method or enum value",
		Explanation: `The type has no member of this name.`,
		Bad:         inMain("vector<int> xs = [1];\n\txs.add(2);"), Good: inMain("vector<int> xs = [1];\n\txs.push(2);"),
	},
	{
		Code: Redeclared, Title: "declared twice",
		Explanation: `A scope has each name once: there is no overloading, and a field and a method
cannot share a name. An inner block may declare a name of an outer one again. The tests
of a package differ in name, too, so that a report says which one has failed.`,
		Bad: inMain("int n = 1;\n\tint n = 2;\n\tprint(n);"), Good: inMain("int n = 1;\n\tint m = 2;\n\tprint(n, m);"),
	},
	{
		Code: UnusedLocal, Title: "local variable is not used",
		Explanation: `A local that nothing reads is most often a mistake. Parameters, loop variables
and caught messages may be unused.`,
		Bad: inMain("int n = 1;\n\tprint(\"done\");"), Good: inMain("print(\"done\");"),
	},
	{
		Code: NotExported, Title: "name is not exported",
		Explanation: `Other packages see only names that start with a capital letter. This holds for
fields and methods as well.`,
		Bad: "package p\n\nimport \"example.com/shapes\"\n\nvoid main() {\n\tshapes.secret();\n}\n", Good: "package p\n\nimport \"example.com/shapes\"\n\nvoid main() {\n\tshapes.Open();\n}\n",
	},
	{
		Code: BadImport, Title: "package cannot be imported",
		Explanation: `There is no such package, or it has errors of its own. The path is that of a
directory with .aeon files, below the path of its module.`,
		Bad: "package p\n\nimport \"example.com/nothing\"\n\nvoid main() {\n}\n", Good: program("void main() {\n}"),
	},
	{
		Code: UnusedImport, Title: "import is not used",
		Explanation: `Nothing in the file mentions the package.`,
		Bad:         "package p\n\nimport \"example.com/shapes\"\n\nvoid main() {\n}\n", Good: program("void main() {\n}"),
	},
	{
		Code: AmbiguousName, Title: "value of more than one enum",
		Explanation: `Two enums have a value of this name, and the place does not tell which is meant.
Write the enum in front of it.`,
		Bad:  program("enum Light { RED, GREEN }\n\nenum Fruit { RED, PLUM }\n\nvoid main() {\n\tprint(RED);\n}"),
		Good: program("enum Light { RED, GREEN }\n\nenum Fruit { RED, PLUM }\n\nvoid main() {\n\tprint(Light.RED);\n}"),
	},
	{
		Code: WrongKind, Title: "name denotes something of another kind",
		Explanation: `A type stands where a value is wanted, a function where a field is, or the like.`,
		Bad:         program("int twice(int n) {\n\treturn 2 * n;\n}\n\nvoid main() {\n\tprint(twice);\n}"),
		Good:        program("int twice(int n) {\n\treturn 2 * n;\n}\n\nvoid main() {\n\tprint(twice(2));\n}"),
	},
	{
		Code: PackageMismatch, Title: "files of one directory name different packages",
		Explanation: `A directory is one package, so all of its files start with the same clause. (The
example is two files.)`,
		Bad: "package p\n\nvoid main() {\n}\n-- second.aeon --\npackage q\n", Good: "package p\n\nvoid main() {\n}\n-- second.aeon --\npackage p\n",
	},
	{
		Code: BadMain, Title: "main is not declared as main is",
		Explanation: `main is run when the program starts: it has no result and is not called by
the program. It may have one parameter, of a value class of its package without a
constructor: each field is filled from a flag, or from the environment. A field
maxOrders of a package shop is --max-orders or SHOP_MAX_ORDERS. A field with an
initial value may be left out, and so may one of a type T? or a vector.`,
		Bad:  program("int main() {\n\treturn 0;\n}"),
		Good: program("class Config {\n\tint maxOrders;\n}\n\nvoid main(Config c) {\n\tprint(\"{c.maxOrders}\");\n}"),
	},
	{
		Code: ThisOutside, Title: "there is no `this` here",
		Explanation: "`this` is the object whose method or constructor runs. Free functions and tests have none.",
		Bad:         inMain("print(this);"), Good: program("class Point {\n\tint x;\n\tint get() {\n\t\treturn this.x;\n\t}\n}"),
	},
	{
		Code: LaterVersion, Title: "comes with a later version",
		Explanation: `The language has it, but this version of aeonc does not yet: payloads of enum
values, generic classes and functions.`,
		Bad:  program("class Box<T> {\n\tT value;\n}"),
		Good: program("class Box {\n\tint value;\n}"),
	},
	{
		Code: GoPackage, Title: "there is no such Go package to bind",
		Explanation: `An ` + "`extern go`" + ` block names a package as Go code imports it. Packages of Go's
standard library are always there. The others are those that Go finds in the module that
the sources lie in, of that module and of others that it requires; run, build, test,
explore, ` + "`aeonc gen`" + ` and ` + "`aeond start`" + ` take them from there. Nothing is downloaded for
it: ` + "`go get`" + ` adds what the module does not require, and ` + "`go mod tidy`" + ` what is missing in
its go.mod and go.sum for its own Go code. A package that does not compile cannot be bound
either: the error has the first line that Go says.`,
		Bad:  program("extern go \"string s\" {\n\tpure string ToUpper(string s);\n}"),
		Good: program("extern go \"strings\" {\n\tpure string ToUpper(string s);\n}"),
	},
	{
		Code: GoFunction, Title: "this is not the signature of the Go function",
		Explanation: `A function of an ` + "`extern go`" + ` block has the name of an exported function of the Go
package, and its types: int is int64 or int in Go, float is float64, bytes []byte,
time time.Time, duration time.Duration, T? a pointer, vector<T> a slice and map<K, V> a
map; bool, string and the sized integers have their names. Other types pass if the block
binds them, ` + "`type T;`" + `, as it binds their methods: ` + "`pure int T.Len();`" + `. An
error that the Go function returns aborts if the declaration ends in ` + "`error`" + `.
Without that word the result is declared T?, and null if there is an error; of a
function that returns nothing but an error it is string?, its text.`,
		Bad:  program("extern go \"strings\" {\n\tpure int ToUpper(string s);\n}"),
		Good: program("extern go \"strings\" {\n\tpure string ToUpper(string s);\n}"),
	},
	{
		Code: GoEffect, Title: "a Go function with an effect is called after the commit",
		Explanation: `An event may run its code several times, so a Go function that changes what is
outside of the program, one that is neither pure nor ro, is not called within it. A
method of an actor that is not ro issues the call: it is made after the event has
committed, and tried up to 100 times. Behind ` + "`then`" + ` stands a method of the same actor,
which gets the error of the last try as its last argument, or null.`,
		Bad: program("extern go \"os\" {\n\tvoid Remove(string name) error;\n}\n\nactorclass Files {\n\tvoid drop(string name) {\n\t\tRemove(name);\n\t}\n}"),
		Good: program("extern go \"os\" {\n\tvoid Remove(string name) error;\n}\n\nactorclass Files {\n\tvoid drop(string name) {\n\t\tevent go Remove(name) retry 5 then dropped(name);\n\t}\n" +
			"\tvoid dropped(string name, string? failure) {\n\t}\n}"),
	},
	{
		Code: GoOpaque, Title: "a Go type without a text cannot stand here",
		Explanation: `A Go type that an ` + "`extern go`" + ` block binds, and that has no methods MarshalText and
UnmarshalText, has values that Go alone knows. They may stand in locals, and in
parameters and results of functions, of methods of value classes, and of Go functions.
They cannot be stored, sent or compared: they stand in no field or container, no call of
an actor or client object has them as an argument or result, and they have no ==, text
or JSON. Keep what they are made of, and make them again in each event.`,
		Bad: program("extern go \"strings\" {\n\ttype Replacer;\n}\n\nactorclass Texts {\n\tReplacer? quotes;\n}"),
		Good: program("extern go \"strings\" {\n\ttype Replacer;\n\tpure Replacer NewReplacer(vector<string> oldnew);\n\tpure string Replacer.Replace(string s);\n}\n\n" +
			"actorclass Texts {\n\tvector<string> quotes;\n\tstring plain(string s) {\n\t\tReplacer r = NewReplacer(quotes);\n\t\treturn r.Replace(s);\n\t}\n}"),
	},
	{
		Code: GoBody, Title: "this body is not what Go has, or cannot be written in Go",
		Explanation: `The body ` + "`= go`" + ` of a function, or of a method of a value class, is a function of the
Go package in the directory go beside the sources, which lies in a Go module. It is
called as the function is, with a capital letter; that of a method Class_method, and its
first parameter is the object. It is pure or ro, as it is called within events. The types
are those of an ` + "`extern go`" + ` block. The help shows the Go function to write.`,
		Bad:  program("int twice(int n) = go;"),
		Good: program("int twice(int n) {\n\treturn 2 * n;\n}"),
	},
}
