package diag

// flowCodes documents the codes on initialisation and control flow.
var flowCodes = []Info{
	{
		Code: FieldNotSet, Title: "field is not set",
		Explanation: `A field has an initial value, or every path through the constructor sets it.
Optional fields start as null and containers empty; nothing else has a value by
itself.`,
		Bad: program("actorclass Account {\n\tint balance;\n}"), Good: program("actorclass Account {\n\tint balance = 0;\n}"),
	},
	{
		Code: ThisTooEarly, Title: "`this` leaves the constructor too early",
		Explanation: "Until all fields are set, the constructor neither calls methods of `this` nor passes it on: they would see fields without a value.",
		Bad:         program("actorclass Account {\n\tint balance;\n\tAccount() {\n\t\treset();\n\t\tbalance = 1;\n\t}\n\tvoid reset() {\n\t\tbalance = 0;\n\t}\n}"),
		Good:        program("actorclass Account {\n\tint balance;\n\tAccount() {\n\t\tbalance = 1;\n\t\treset();\n\t}\n\tvoid reset() {\n\t\tbalance = 0;\n\t}\n}"),
	},
	{
		Code: UnsetLocal, Title: "local may not have a value",
		Explanation: "`T x;` declares a local without a value. Every path to a use of it has to assign it first.",
		Bad:         program("int f(bool b) {\n\tint n;\n\tif (b) {\n\t\tn = 1;\n\t}\n\treturn n;\n}"),
		Good:        program("int f(bool b) {\n\tint n;\n\tif (b) {\n\t\tn = 1;\n\t} else {\n\t\tn = 2;\n\t}\n\treturn n;\n}"),
	},
	{
		Code: MissingReturn, Title: "function can end without a result",
		Explanation: `Every path through a function with a result returns a value, aborts, or never ends.`,
		Bad:         program("int f(bool b) {\n\tif (b) {\n\t\treturn 1;\n\t}\n}"), Good: program("int f(bool b) {\n\tif (b) {\n\t\treturn 1;\n\t}\n\treturn 2;\n}"),
	},
	{
		Code: Unreachable, Title: "control never gets here",
		Explanation: `The statement stands behind a return, tail call, break, continue, abort or endless
loop. It is a warning: the statement is checked, but never runs.`,
		Bad: program("int f() {\n\treturn 1;\n\tprint(\"done\");\n}"), Good: program("int f() {\n\tprint(\"done\");\n\treturn 1;\n}"),
	},
	{
		Code: TwoConstructors, Title: "second constructor",
		Explanation: `A class has one constructor: there is no overloading.`,
		Bad:         program("class Point {\n\tint x = 0;\n\tPoint() {\n\t}\n\tPoint(int a) {\n\t\tx = a;\n\t}\n}"),
		Good:        program("class Point {\n\tint x = 0;\n\tPoint(int a) {\n\t\tx = a;\n\t}\n}"),
	},
	{
		Code: FieldTooEarly, Title: "field is used before it is set",
		Explanation: `The constructor reads a field that has no value yet.`,
		Bad:         program("class Point {\n\tint x;\n\tint y;\n\tPoint() {\n\t\ty = x;\n\t\tx = 1;\n\t}\n}"),
		Good:        program("class Point {\n\tint x;\n\tint y;\n\tPoint() {\n\t\tx = 1;\n\t\ty = x;\n\t}\n}"),
	},
	{
		Code: BadJump, Title: "break or continue outside of a loop",
		Explanation: "`break` leaves the innermost loop or switch, `continue` goes on with the next round of the innermost loop.",
		Bad:         inMain("break;"), Good: inMain("while (true) {\n\t\tbreak;\n\t}"),
	},
	{
		Code: BadReturn, Title: "return does not fit the result",
		Explanation: `A function with a result returns values, one without returns nothing.`,
		Bad:         program("void f() {\n\treturn 1;\n}"), Good: program("int f() {\n\treturn 1;\n}"),
	},
	{
		Code: InitialiserUse, Title: "initialiser uses the object",
		Explanation: "The initial value of a field is computed before the constructor runs, when no field is sure to have a value. It uses no fields, methods or `this`.",
		Bad:         program("class Point {\n\tint x = 1;\n\tint y = x;\n}"), Good: program("class Point {\n\tint x = 1;\n\tint y;\n\tPoint() {\n\t\ty = x;\n\t}\n}"),
	},
	{
		Code: ThisToCallbacks, Title: "`this` leaves the constructor of a client class",
		Explanation: `The constructor of a client class neither calls methods of ` + "`this`" + ` nor passes it on,
also when all fields are set. What has the object can call it back, and the callback
would run beside the constructor, on the same fields. Pass the object on when it is
made.`,
		Bad:  program("client class Guest {\n\tint heard = 0;\n\tGuest(Hall h) {\n\t\tevent h.wait(this);\n\t\theard = 1;\n\t}\n\tvoid hear() {\n\t\theard++;\n\t}\n}\n\nactorclass Hall {\n\tvoid wait(Guest g) {\n\t\tevent g.hear();\n\t}\n}\n\nvoid main() {\n\tprint(new Guest(actor<Hall>(\"main\")));\n}"),
		Good: program("client class Guest {\n\tint heard = 1;\n\tvoid hear() {\n\t\theard++;\n\t}\n}\n\nactorclass Hall {\n\tvoid wait(Guest g) {\n\t\tevent g.hear();\n\t}\n}\n\nvoid main() {\n\tGuest g = new Guest();\n\tevent actor<Hall>(\"main\").wait(g);\n}"),
	},
}
