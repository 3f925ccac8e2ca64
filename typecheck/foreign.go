package typecheck

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// foreignTypes maps type names of other languages to those of aeon.
var foreignTypes = map[string]string{
	"float64": "float", "float32": "float", "double": "float", "Double": "float", "Float": "float", "f64": "float", "f32": "float",
	"boolean": "bool", "Boolean": "bool", "Bool": "bool", "byte": "uint8", "char": "uint8", "rune": "int32",
	"long": "int", "Long": "int", "short": "int16", "integer": "int", "Integer": "int", "number": "int", "Number": "int", "Int": "int",
	"usize": "int", "isize": "int", "i64": "int", "i32": "int32", "i16": "int16", "i8": "int8",
	"uint": "uint64", "unsigned": "uint64", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8",
	"String": "string", "str": "string", "list": "vector", "List": "vector", "ArrayList": "vector", "MutableList": "vector", "LinkedList": "vector", "Vec": "vector", "Vector": "vector",
	"array": "vector", "Array": "vector", "dict": "map", "Dictionary": "map", "Map": "map", "HashMap": "map", "TreeMap": "map",
	"MutableMap": "map", "Set": "set", "HashSet": "set", "TreeSet": "set", "Instant": "time", "Date": "time", "DateTime": "time", "Void": "void", "unit": "void", "Unit": "void",
}

// What aeon has instead of the types and names of other languages.
const (
	optionalHelp   = "a value that may be missing has the type `T?`, and is null or not"
	anyHelp        = "every value has one type; alternatives are an enum"
	failureHelp    = "a failure is a message: `abort \"why\";` undoes the event, and `catch (string why)` takes it"
	pendingHelp    = "the result of an event that is not there yet is a `pending<T>`, and `await` takes it"
	threadHelp     = "actors run in parallel: `event a.m();` issues an event"
	waitHelp       = "nothing waits within an event: `require` what must hold, or issue an event that comes later"
	lockHelp       = "an event has its actors to itself until it ends, so there is nothing to lock"
	functionsHelp  = "functions are no values: write a loop, or a function with a name"
	tupleHelp      = "declare a class with a field for each value"
	printHelp      = "text is printed with `print(…)`"
	inheritHelp    = "there is no inheritance: hold the other object in a field, and call it"
	parseIntHelp   = "parseInt(…) reads a number from a string; it returns `int?`"
	parseFloatHelp = "parseFloat(…) reads a number from a string; it returns `float?`"
	interpolate    = "values stand in braces in a string: `\"{x} of {y}\"`"
)

var foreignTypeHelp = map[string]string{
	"Option": optionalHelp, "Optional": optionalHelp, "Maybe": optionalHelp, "any": anyHelp, "Any": anyHelp, "Object": anyHelp, "object": anyHelp, "dynamic": anyHelp, "interface": anyHelp,
	"auto": "`var` takes the type of the value: `var x = 1;`", "error": failureHelp, "Error": failureHelp, "Exception": failureHelp, "Throwable": failureHelp,
	"RuntimeException": failureHelp, "Result": failureHelp, "Promise": pendingHelp, "Future": pendingHelp, "CompletableFuture": pendingHelp, "Task": pendingHelp,
	"Thread": threadHelp, "Runnable": threadHelp, "chan": threadHelp, "Channel": threadHelp, "Mutex": lockHelp, "Lock": lockHelp, "ReentrantLock": lockHelp, "AtomicInteger": lockHelp,
	"AtomicLong": lockHelp, "Function": functionsHelp, "Func": functionsHelp, "Callable": functionsHelp, "Action": functionsHelp, "Pair": tupleHelp, "Tuple": tupleHelp, "tuple": tupleHelp,
	"tail":   "a tail call has parentheses: `tail f(…);`",
	"record": "a value is declared with `class`", "struct": "a value is declared with `class`",
}

// foreignNames does the same for names in expressions.
var foreignNames = map[string]string{
	"NULL": "null", "Null": "null", "nil": "null", "None": "null", "nullptr": "null", "True": "true", "TRUE": "true", "False": "false", "FALSE": "false", "self": "this",
	"println": "print", "printf": "print", "puts": "print", "echo": "print", "rand": "random", "length": "len", "size": "len", "toString": "str", "string_of": "str", "atoi": "parseInt", "atof": "parseFloat",
}

var foreignNameHelp = map[string]string{
	"System": printHelp, "console": printHelp, "fmt": printHelp, "std": printHelp, "panic": failureHelp, "error": failureHelp, "Error": failureHelp, "raise": failureHelp,
	"super": inheritHelp, "base": inheritHelp, "Math": "`min`, `max` and `abs` are functions", "math": "`min`, `max` and `abs` are functions",
	"range": "a loop that counts: `for (int i = 0 upto n) { … }`", "append": "a vector grows with `xs.push(x);`", "make": "`new map<K, V>()` makes a map, `[]` is an empty vector",
	"sprintf": interpolate, "format": interpolate, "exit": "a program ends when main has returned and no event is left", "Some": optionalHelp, "Ok": optionalHelp, "Err": failureHelp,
	"assertEquals": "a test asserts what is true: `assert(a == b);`", "assertTrue": "a test asserts what is true: `assert(a == b);`", "expect": "a test asserts what is true: `assert(a == b);`",
	"wait": waitHelp, "notify": waitHelp, "join": waitHelp, "lock": lockHelp, "unlock": lockHelp, "Thread": threadHelp, "thread": threadHelp, "spawn": threadHelp, "launch": threadHelp, "setTimeout": "`event a.m() after 1s;` within an actor sets a timer", "typeof": anyHelp, "isinstance": anyHelp,
}

// foreignMethods maps names of methods in other languages to those of aeon; the first that the type
// has is meant.
var foreignMethods = map[string][]string{
	"add": {"push", "insert"}, "append": {"push"}, "push_back": {"push"}, "put": {"insert"}, "length": {"size"}, "len": {"size"},
	"count": {"size"}, "erase": {"remove"}, "delete": {"remove"}, "includes": {"contains", "has"}, "contains": {"has"}, "containsKey": {"has"}, "contains_key": {"has"},
	"find": {"get"}, "indexOf": {"find"}, "index": {"find"}, "strip": {"trim"}, "trimSpace": {"trim"}, "TrimSpace": {"trim"}, "toLowerCase": {"lower"}, "toLower": {"lower"}, "lowercase": {"lower"}, "ToLower": {"lower"},
	"toUpperCase": {"upper"}, "toUpper": {"upper"}, "uppercase": {"upper"}, "ToUpper": {"upper"}, "hasPrefix": {"startsWith"}, "HasPrefix": {"startsWith"}, "hasSuffix": {"endsWith"}, "HasSuffix": {"endsWith"},
	"removeAt": {"remove"}, "replaceAll": {"replace"}, "toInt": {"parseInt"}, "parse": {"parseInt"}, "toFloat": {"parseFloat"}, "toDouble": {"parseFloat"}, "toFixed": {"format"}, "getFullYear": {"year"}, "getMonth": {"month"}, "dayOfMonth": {"day"}, "dayOfWeek": {"weekday"}, "popBack": {"pop"}, "removeLast": {"pop"},
	"keySet": {"keys"}, "subList": {"slice"}, "removeAll": {"clear"}, "addAll": {"push"}, "get_or_default": {"get"}, "getOrDefault": {"get"},
}

// foreignMethodHelp says what there is instead of a method, by kind of receiver.
func foreignMethodHelp(t Type, name string) string {
	switch t := t.(type) {
	case *Vector:
		switch name {
		case "get", "at", "elementAt":
			return "an element is `xs[i]`"
		case "set":
			return "an element is set with `xs[i] = x;`"
		case "sorted", "sortBy", "sortedBy", "orderBy":
			if _, ok := t.Elem.(*Class); ok {
				return "a vector in a variable is sorted in place: `xs.sort(field);`; a table has its rows in the order of an index: `rows.sorted(column)`"
			}
			return "a vector in a variable is sorted in place: `xs.sort();`"
		case "first", "front", "last", "back":
			return "the first element is `xs[0]`, the last one `xs[xs.size() - 1]`"
		}
	case *Map:
		switch name {
		case "put", "set", "insert", "add":
			return "an entry is set with `m[k] = v;`"
		case "entries", "items", "entrySet", "iter":
			return "a loop over entries: `for (K k, V v : m) { … }`"
		}
	case *Basic:
		if t == String || t == Bytes {
			switch name {
			case "slice", "substring", "substr", "sub", "subSequence":
				return "a part is `s[a:b]`, b excluded"
			case "charAt", "at", "get", "codePointAt":
				return "a byte is `s[i]`"
			case "concat", "append", "add", "push":
				return "texts are joined with `+`, or in one string: `\"{a}{b}\"`"
			case "format", "formatted":
				return interpolate
			case "equals", "compareTo", "equalsIgnoreCase":
				return "`==` compares the contents, and `<` orders"
			}
		}
		if name == "toString" || name == "to_string" {
			return "`str(x)` is the text of any value, and `\"{x}\"` has it in a string"
		}
	}
	switch name {
	case "map", "filter", "forEach", "for_each", "reduce", "fold", "stream", "iter", "any", "all", "each", "collect":
		return functionsHelp
	case "isEmpty", "empty", "is_empty":
		return "compare `size()` with 0"
	case "equals":
		return "`==` compares the contents"
	case "clone", "copy":
		return "an assignment copies: `T y = x;`"
	}
	return ""
}

// membersShown bounds how many members a message names.
const membersShown = 8

// few joins names, and says how many more there are.
func few(names []string) string {
	if n := len(names) - membersShown; n > 1 {
		return strings.Join(names[:membersShown], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// memberHelp says which methods, or else fields, values of a type have.
func (b *body) memberHelp(t Type, call bool) string {
	class, ok := t.(*Class)
	if !ok {
		if help := libraryHelp(t); help != "" {
			return help
		}
		if call {
			return "it has no methods: functions take it as an argument, as in `str(x)`"
		}
		return "it has no fields"
	}
	if !b.mayList() {
		return ""
	}
	var fields, methods []string
	for _, f := range class.Fields {
		if class.Pkg == b.pkg || exported(f.name) {
			fields = append(fields, f.name)
		}
	}
	for _, m := range class.Methods {
		if class.Pkg == b.pkg || exported(m.name) {
			methods = append(methods, m.name)
		}
	}
	switch {
	case call && len(methods) > 0:
		return "it has the " + pluralOnly(len(methods), "method") + " " + few(methods)
	case call:
		return "it has no methods"
	case class.Kind == ast.ValueClass && len(fields) > 0:
		return "it has the " + pluralOnly(len(fields), "field") + " " + few(fields)
	case class.Kind == ast.ValueClass:
		return "it has no fields"
	case len(methods) > 0:
		return "others reach it by its " + pluralOnly(len(methods), "method") + " " + few(methods)
	}
	return ""
}

func pluralOnly(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// libraryHelp lists the methods of a library type.
func libraryHelp(t Type) string {
	var have []string
	for _, n := range libraryNames {
		if _, ok := libraryMethod(t, n); ok && n != "" {
			have = append(have, n)
		}
	}
	if len(have) == 0 {
		return ""
	}
	return "it has " + strings.Join(have, ", ")
}

// typeBehindName reports a declaration in the order of Go, Rust or Kotlin: what stands
// for the type is undeclared, and the name is that of a type. It returns false if the
// declaration is none.
func (c *checker) typeBehindName(fs *fileScope, t ast.Type, name ast.Name) bool {
	n, ok := t.(*ast.NamedType)
	if !ok || n.Pkg != nil || len(n.Args) > 0 || c.lookupTop(fs, n.Name.Text) != nil || c.lookupTop(fs, name.Text) == nil || !isTypeObject(c.lookupTop(fs, name.Text)) {
		return false
	}
	both := n.Span().To(name.Span())
	c.report(diag.New(diag.UndefinedType, n.Span(), "there is no type %s", n.Name.Text).
		WithHelp("the type stands before the name: `%s %s`", name.Text, n.Name.Text).
		WithFix("swap them", diag.Replace(both, name.Text+" "+n.Name.Text)))
	return true
}
