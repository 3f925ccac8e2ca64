package diag

// machine is an actor class whose method go is a step that may be followed by end.
func machine(body string) string {
	return program("actorclass Machine {\n\tint steps = 0;\n\tint end(int n) {\n\t\tsteps = n;\n\t\treturn n;\n\t}\n" + body + "}")
}

// tailCodes documents the codes on tail calls.
var tailCodes = []Info{
	{
		Code: TailPlace, Title: "tail call outside of a method of an actor",
		Explanation: `A tail call ends an event and begins the next one in its place. Only a method of an
actor, not ro, can do so: functions, constructors and methods of values run as part of
their caller's event, an ro method answers itself, and clients are outside of all events.`,
		Bad:  machine("\tro int go() {\n\t\ttail end(1);\n\t}\n"),
		Good: machine("\tint go() {\n\t\ttail end(1);\n\t}\n"),
	},
	{
		Code: TailInside, Title: "method with a tail call is called within an event",
		Explanation: `What a method has done when it makes a tail call commits by itself. So the method is
always an event of its own, started by ` + "`event`" + ` or ` + "`tail`" + `, and never part of another one.`,
		Bad:  machine("\tint go() {\n\t\ttail end(1);\n\t}\n\tint twice() {\n\t\treturn go() + 1;\n\t}\n"),
		Good: machine("\tint go() {\n\t\ttail end(1);\n\t}\n\tint twice() {\n\t\ttail go();\n\t}\n"),
	},
	{
		Code: TailResult, Title: "tail call with another result",
		Explanation: "The await of a chain of tail calls gives the result of its last step, so all its methods have the same type of result.",
		Bad:         machine("\tvoid go() {\n\t\ttail end(1);\n\t}\n"),
		Good:        machine("\tint go() {\n\t\ttail end(1);\n\t}\n"),
	},
	{
		Code: TailKept, Title: "chains of one class could wait for each other",
		Explanation: `A tail call to this keeps the actor: no other event touches it until the next step has
run. If that step wants another actor of the same class, a chain there may keep that one and
want this one, and both would wait for ever. Classes that own each other have no cycles, so this
can happen within one class alone.`,
		Bad:  program("actorclass Node {\n\tvector<Node> nodes;\n\tint n = 0;\n\tvoid grow() {\n\t\tn++;\n\t\ttail spread();\n\t}\n\tvoid spread() {\n\t\tfor (Node c : nodes) {\n\t\t\tc.count();\n\t\t}\n\t}\n\tvoid count() {\n\t\tn++;\n\t}\n}"),
		Good: program("actorclass Node {\n\tvector<Node> nodes;\n\tint n = 0;\n\tvoid grow() {\n\t\tn++;\n\t\ttail spread();\n\t}\n\tvoid spread() {\n\t\tfor (Node c : nodes) {\n\t\t\tevent c.count();\n\t\t}\n\t}\n\tvoid count() {\n\t\tn++;\n\t}\n}"),
	},
}
