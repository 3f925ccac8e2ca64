package generate

import "github.com/aeon-lang/aeon/lang/diag"

// rule is a text that breaks one rule where it is inserted. In it $A is the actor class around, or one of the program, $n its first
// field, $bump a method that writes it, $first the class at the top of the ownership graph.
type rule struct {
	name string
	code diag.Code
	site site
	text string
	// line, if set, says where the error is to be shown, given where the text was inserted.
	line func(p place, inserted int) int
}

// rules is the catalogue of what is inserted.
var rules = []rule{
	// Types.
	{name: "condition is no bool", code: diag.BadOperand, site: anywhere, text: `require(7, "x");`},
	{name: "initial value of another type", code: diag.TypeMismatch, site: anywhere, text: "int w_ = §\"text\";\nrequire(w_ == w_, \"x\");"},
	{name: "numbers are not converted", code: diag.TypeMismatch, site: anywhere, text: "int w_ = 1;\n§float v_ = w_;\nrequire(v_ == v_, \"x\");"},
	{name: "operands of two types", code: diag.BadOperand, site: anywhere, text: `require("a" < 1, "x");`},
	{name: "operator on a type without it", code: diag.BadOperand, site: anywhere, text: `require((true + false) == true, "x");`},
	{name: "too many arguments", code: diag.BadArgCount, site: anywhere, text: `require("a".contains("b", "c"), "x");`},
	{name: "no such conversion", code: diag.BadConversion, site: anywhere, text: `require(int("12") == 12, "x");`},
	{name: "call of a variable", code: diag.NotCallable, site: anywhere, text: "int w_ = 1;\n§require(w_(2) == 1, \"x\");"},
	{name: "float as key", code: diag.BadKey, site: anywhere, text: `require(len(new map<float, int>()) == 0, "x");`},
	{name: "index of a number", code: diag.NotIndexable, site: anywhere, text: "int w_ = 1;\n§require(w_[0] == 1, \"x\");"},
	{name: "constant does not fit", code: diag.ConstOverflow, site: anywhere, text: "uint8 w_ = 256;\nrequire(w_ == w_, \"x\");"},
	{name: "division by a constant zero", code: diag.ConstDivision, site: anywhere, text: "int w_ = 1;\n§require(w_ / 0 == 1, \"x\");"},
	{name: "type of empty vector", code: diag.CannotInfer, site: anywhere, text: "var w_ = [];\nrequire(w_ == w_, \"x\");"},
	{name: "value of a void call", code: diag.VoidValue, site: anywhere, text: `require(print("x"), "x");`},
	{name: "loop over a number", code: diag.BadIteration, site: anywhere, text: "for (int w_ : 5) {\n}"},
	{name: "case twice", code: diag.DuplicateCase, site: anywhere, text: "int w_ = 1;\nswitch (w_) {\ncase 1:\n\tprint(w_);\n§case 1:\n\tprint(w_);\n}"},
	{name: "negative constant index", code: diag.ConstIndex, site: anywhere, text: `require("abc"[-1] == 'a', "x");`},
	{name: "class contains itself", code: diag.RecursiveValue, site: topLevel, text: "class W_ {\n\tW_ next;\n}\n"},
	{name: "type without a place", code: diag.BadTypeUse, site: topLevel, text: "class W_ {\n\t§pending<int> w;\n}\n"},
	{name: "constant by a call", code: diag.NotConstant, site: topLevel, text: "const int W_ = len(\"abc\");\n"},
	{name: "constants by each other", code: diag.ConstCycle, site: topLevel, text: "const int W_ = X_;\nconst int X_ = W_;\n"},
	{name: "value of an enum without case", code: diag.MissingCases, site: topLevel, text: "enum W_ { W_A, W_B }\n\nvoid w_(W_ v) {\n\t§match (v) {\n\tcase W_A:\n\t\tprint(v);\n\t}\n}\n"},
	{name: "pending values compared", code: diag.NotComparable, site: inMain, text: "pending<string> w_ = event root0.audit();\n§require(w_ == w_, \"x\");"},
	// Names.
	{name: "undefined name", code: diag.UndefinedName, site: anywhere, text: `require(noSuchName_, "x");`},
	{name: "undefined type", code: diag.UndefinedType, site: anywhere, text: "NoSuchType_ w_;"},
	{name: "unknown method", code: diag.UnknownMember, site: anywhere, text: `require("a".noSuchMethod(), "x");`},
	{name: "declared twice", code: diag.Redeclared, site: anywhere, text: "int w_ = 1;\n§int w_ = 2;\nrequire(w_ == w_, \"x\");"},
	{name: "field and method of one name", code: diag.Redeclared, site: actorMember, text: "int w_ = 1;\n§void w_() {\n}"},
	{name: "unused local", code: diag.UnusedLocal, site: anywhere, text: "int w_ = 1;"},
	{name: "class as value", code: diag.WrongKind, site: anywhere, text: `require($A == 1, "x");`},
	{name: "value of two enums", code: diag.AmbiguousName, site: topLevel, text: "enum W_ { WRONG }\n\nenum X_ { WRONG }\n\nvoid w_() {\n\t§print(WRONG);\n}\n"},
	{name: "this in main", code: diag.ThisOutside, site: inMain, text: `print(this);`},
	{name: "generic class", code: diag.LaterVersion, site: topLevel, text: "class W_<T> {\n\tT value;\n}\n"},
	{name: "unknown package", code: diag.UndefinedName, site: anywhere, text: `shapes_.open();`},
	// Null.
	{name: "may be null", code: diag.MaybeNull, site: anywhere, text: "int? w_ = \"1\".parseInt();\n§require(w_ + 1 == 2, \"x\");"},
	{name: "is never null", code: diag.NeverNull, site: anywhere, text: "int w_ = 1;\n§require((w_ ?? 2) == 1, \"x\");"},
	{name: "null for a number", code: diag.NullNotHere, site: anywhere, text: "int w_ = null;\nrequire(w_ == w_, \"x\");"},
	// Writing.
	{name: "assignment to a constant", code: diag.CannotAssign, site: inMain, text: "string w_ = \"abc\";\n§w_[0] = 'x';\nprint(w_);"},
	{name: "write to a temporary value", code: diag.TemporaryWritten, site: anywhere, text: `[1].push(2);`},
	// Flow.
	{name: "field without a value", code: diag.FieldNotSet, site: builtMember, text: "int w_;", line: atConstructor},
	{name: "this before all fields", code: diag.ThisTooEarly, site: topLevel, text: "actorclass W_ {\n\tint w;\n\tW_() {\n\t\t§reset();\n\t\tw = 1;\n\t}\n\tvoid reset() {\n\t\tw = 0;\n\t}\n}\n"},
	{name: "this of a client's constructor", code: diag.ThisToCallbacks, site: topLevel, text: "client class W_ {\n\tint w = 0;\n\tW_(X_ x) {\n\t\tw = 1;\n\t\tevent x.v_(§this);\n\t\tw = 2;\n\t}\n\tvoid hear() {\n\t\tw++;\n\t}\n}\n\nactorclass X_ {\n\tvoid v_(W_ w) {\n\t\tevent w.hear();\n\t}\n}\n"},
	{name: "field before its value", code: diag.FieldTooEarly, site: topLevel, text: "class W_ {\n\tint w;\n\tint v;\n\tW_() {\n\t\t§v = w;\n\t\tw = 1;\n\t}\n}\n"},
	{name: "initialiser uses a field", code: diag.InitialiserUse, site: actorMember, text: "int w_ = $n;"},
	{name: "local without a value", code: diag.UnsetLocal, site: anywhere, text: "int w_;\n§require(w_ == 1, \"x\");"},
	{name: "break without loop", code: diag.BadJump, site: outside, text: "break;"},
	{name: "result of a void function", code: diag.BadReturn, site: inVoid, text: "return 1;"},
	{name: "return without result", code: diag.BadReturn, site: inValued, text: "return;"},
	{name: "end without result", code: diag.MissingReturn, site: actorMember, text: "int w_(int v) {\n\tif (v > 0) {\n\t\treturn 1;\n\t}\n§}"},
	{name: "second constructor", code: diag.TwoConstructors, site: topLevel, text: "class W_ {\n\tint w = 1;\n\tW_() {\n\t}\n\t§W_(int v) {\n\t\tprint(v);\n\t}\n}\n"},
	// Calls.
	{name: "client calls an actor", code: diag.ClientCallsPlain, site: inMain, text: `root0.audit();`},
	{name: "sync through yield", code: diag.YieldCalled, site: actorMember, text: "void w_(yield $A v) {\n\t§v.$bump(1);\n}"},
	{name: "async through yield", code: diag.YieldCalled, site: actorMember, text: "yield $A? w_;\nvoid v_() {\n\t§async w_?.$bump(1);\n}"},
	{name: "ro calls what writes", code: diag.ReadOnlyCalls, site: actorMember, text: "ro int w_() {\n\t§return $bump(1);\n}"},
	{name: "ro issues what writes", code: diag.ReadOnlyCalls, site: actorMember, text: "ro void w_() {\n\t§event this.$bump(1);\n}"},
	{name: "ro calls what writes by way of functions", code: diag.ReadOnlyCalls, site: topLevel, text: "void w_($A v) {\n\tv.$bump(1);\n}\n\nvoid x_($A v) {\n\tw_(v);\n}\n\nactorclass W_ {\n\tvector<$A> list;\n\tro void u() {\n\t\tfor ($A a : list) {\n\t\t\t§x_(a);\n\t\t}\n\t}\n}\n"},
	{name: "ro writes a field by way of a method", code: diag.ReadOnlyCalls, site: actorMember, text: "void w_() {\n\t$n = 1;\n}\nvoid v_() {\n\tw_();\n}\nro void u_() {\n\t§v_();\n}"},
	{name: "ro writes a field", code: diag.ReadOnlyWrites, site: actorMember, text: "ro void w_() {\n\t§$n = 1;\n}"},
	{name: "ro creates an actor", code: diag.ReadOnlyWrites, site: actorMember, text: "ro void w_() {\n\t§$A v = new $A();\n\trequire(v == v, \"x\");\n}"},
	{name: "result of async", code: diag.AsyncResult, site: actorMember, text: "int w_() {\n\t§return async this.$bump(1);\n}"},
	{name: "result of a sub-event", code: diag.EventResult, site: actorMember, text: "int w_() {\n\t§return event this.$bump(1);\n}"},
	{name: "settle in an event", code: diag.ClientOnly, site: inActor, text: "settle();"},
	{name: "await in an event", code: diag.ClientOnly, site: actorMember, text: "int w_() {\n\t§return await event this.$bump(1);\n}"},
	{name: "client calls a function for actors", code: diag.ActorOnly, site: topLevel, text: "void w_($A v) {\n\tasync v.$bump(1);\n}\n\nvoid v_() {\n\tw_(new $A());\n}\n\ntest \"w_\" {\n\t§v_();\n}\n"},
	{name: "yield in a plain field", code: diag.YieldStored, site: actorMember, text: "$A? w_;\nvoid v_(yield $A u) {\n\t§w_ = u;\n}"},
	{name: "yield in a plain container", code: diag.YieldStored, site: actorMember, text: "vector<$A> w_;\nvoid v_(yield $A u) {\n\t§w_.push(u);\n}"},
	{name: "yield by way of a local", code: diag.YieldStored, site: actorMember, text: "vector<$A> w_;\nvoid v_(yield $A u) {\n\tvector<$A> t = [u];\n\t§w_ = t;\n}"},
	{name: "yield as plain argument", code: diag.YieldPassed, site: actorMember, text: "void w_(yield $A v) {\n\t§v_(v);\n}\nvoid v_($A u) {\n\tu.$bump(1);\n}"},
	{name: "yield as plain result", code: diag.YieldReturned, site: actorMember, text: "$A w_(yield $A v) {\n\t§return v;\n}"},
	{name: "event on a function", code: diag.BadDecoration, site: topLevel, text: "void w_() {\n\tprint(1);\n}\n\ntest \"w_\" {\n\t§event w_();\n}\n"},
	{name: "delay is a number", code: diag.BadTimer, site: actorMember, text: "void w_() {\n\t§event this.$bump(1) after 50;\n}"},
	{name: "named actor needs arguments", code: diag.NamedConstructor, site: topLevel, text: "actorclass W_ {\n\tint w;\n\tW_(int v) {\n\t\tw = v;\n\t}\n}\n\ntest \"w_\" {\n\t§print(actor<W_>(\"w\"));\n}\n"},
	{name: "field of another actor", code: diag.ForeignField, site: actorMember, text: "int w_($A v) {\n\t§return v.$n;\n}"},
	{name: "await of a number", code: diag.NotAwaitable, site: inMain, text: "int w_ = 1;\n§print(await w_);"},
	{name: "yield without references", code: diag.UselessYield, site: actorMember, text: "yield vector<int> w_;"},
	{name: "timer of a client", code: diag.TimerOutside, site: inMain, text: `event root0.audit() after 1s;`},
	{name: "actor without new", code: diag.ConstructorCalled, site: inMain, text: `print($A());`},
	{name: "delete of a number", code: diag.BadDelete, site: anywhere, text: "int w_ = 1;\n§delete w_;"},
	{name: "name of a value", code: diag.BadNamedActor, site: inMain, text: `print(actor<int>("x"));`},
	// Ownership.
	{name: "ro on a value method", code: diag.BadReadOnly, site: valueMember, text: "ro int w_() {\n\treturn 1;\n}"},
	{name: "ownership circle by a field", code: diag.OwnershipCycle, site: ownedMember, text: "$first? w_;", line: atFirstClass},
	{name: "ownership circle by a call", code: diag.OwnershipCycle, site: ownedMember, text: "void w_($first v) {\n\tv.audit();\n}", line: atFirstClass},
	{name: "ownership circle by a creation", code: diag.OwnershipCycle, site: ownedMember, text: "void w_() {\n\t$first v = new $first();\n\trequire(v == v, \"x\");\n}", line: atFirstClass},
}

func atConstructor(p place, inserted int) int {
	if p.atCtor >= inserted {
		return p.atCtor + 1 // the text is one line
	}
	return p.atCtor
}

func atFirstClass(p place, _ int) int { return p.atClass }
