package diag

// ownerCodes documents the codes on read-only methods and ownership.
var ownerCodes = []Info{
	{
		Code: ReadOnlyWrites, Title: "ro method writes",
		Explanation: `An ro method assigns no field, creates and deletes no actor, and sets and cancels
no named timer. So any number of ro events can share an actor.`,
		Bad:  program("actorclass Counter {\n\tint n = 0;\n\tro int next() {\n\t\tn++;\n\t\treturn n;\n\t}\n}"),
		Good: program("actorclass Counter {\n\tint n = 0;\n\tint next() {\n\t\tn++;\n\t\treturn n;\n\t}\n}"),
	},
	{
		Code: BadReadOnly, Title: "ro does not belong here",
		Explanation: `Only methods of an actorclass are declared ro. Of functions and of methods of
classes the compiler finds out by itself what they change.`,
		Bad:  program("class Point {\n\tint x;\n\tro int get() {\n\t\treturn x;\n\t}\n}"),
		Good: program("class Point {\n\tint x;\n\tint get() {\n\t\treturn x;\n\t}\n}"),
	},
	{
		Code: BadPure, Title: "pure does not belong here",
		Explanation: `A Go function that is declared pure promises to compute its result from its
arguments and to do nothing else; the compiler cannot see into it. What aeon code
does, it finds out from the body, so there is nothing to promise.`,
		Bad:  program("pure int twice(int n) {\n\treturn 2 * n;\n}"),
		Good: program("int twice(int n) {\n\treturn 2 * n;\n}"),
	},
	{
		Code: OwnershipCycle, Title: "ownership goes in a circle",
		Explanation: `An actor class owns another if it holds it in a plain field, calls it sync or
async, creates or deletes it. Events lock from owners to what they own; a circle
would let two events wait for each other, so there must be none between different
classes. Break it where the reference is only used to issue events: declare that
field ` + "`yield`" + `. (A class may own itself, as trees and lists do; that is checked when
the program runs.)`,
		Bad:  program("actorclass Grill {\n\tCook? cook;\n}\n\nactorclass Cook {\n\tvector<Grill> grills;\n\tvoid meet(Grill g) {\n\t\tgrills.push(g);\n\t\tgrills[0] = new Grill();\n\t}\n}"),
		Good: program("actorclass Grill {\n\tyield Cook? cook;\n}\n\nactorclass Cook {\n\tvector<Grill> grills;\n\tvoid meet(Grill g) {\n\t\tgrills.push(g);\n\t\tgrills[0] = new Grill();\n\t}\n}"),
	},
}
