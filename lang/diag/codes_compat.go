package diag

import "strings"

// Codes of aeonc compat, which compares two versions of a program.
const (
	CompatType    Code = "AE1001" // the new type of a field cannot read its stored values
	CompatZero    Code = "AE1002" // a new field has no value in stored actors
	CompatClass   Code = "AE1003" // an actor class is gone
	CompatField   Code = "AE1004" // a field is gone, or back; a warning, unless values that are stored would lose it
	CompatCall    Code = "AE1005" // calls that wait cannot be read; a warning if it is not known whether some wait
	CompatInitial Code = "AE1006" // warning: a new field is zero in stored actors, whatever its initialiser says
	CompatOther   Code = "AE1007" // warning: a field has another initial value, also in stored actors that are older than the field
)

// CompatBefore is the older version of the programs in the examples of these codes.
const CompatBefore = `package shop

actorclass Ware {
	int price;
	string name;

	Ware(string n) { name = n; price = 0; }
}

actorclass Shelf {
	set<string> labels;

	void label(string text) { labels.insert(text); }
}
`

const shelf = `
actorclass Shelf {
	set<string> labels;

	void label(string text) { labels.insert(text); }
}
`

func ware(field, init string) string {
	return "package shop\n\nactorclass Ware {\n\tint price;\n\tstring name;\n" + field + "\n\tWare(string n) { name = n; price = 0;" + init + " }\n}\n" + shelf
}

// compatCodes documents the codes of aeonc compat. Bad and Good are newer versions of CompatBefore.
var compatCodes = []Info{
	{
		Code: CompatType, Title: "type of a stored field has changed",
		Explanation: `Actors that are stored have values of the old type in the field, which cannot be read as
values of the new one. What can be read: an integer that has become wider, an enum with
more values at its end, a class with other fields, and a T that has become T? if it is the type
of a reference, or of an actor's field and no container. For everything else give the new field
another name, and let events bring the values over. In a value class keep the old field beside
the new one: without it stored values would lose what it has (AE1004).

In the examples the field was ` + "`int price`" + `.`,
		Bad:  "package shop\n\nactorclass Ware {\n\tstring price;\n\tstring name;\n\n\tWare(string n) { name = n; price = \"\"; }\n}\n" + shelf,
		Good: ware("\tstring label;\n", " label = \"\";"),
	},
	{
		Code: CompatZero, Title: "new field has no value in stored actors",
		Explanation: `A field that is new has its zero value in actors that are stored. A reference to an
actor that cannot be null has none: make it one that can.`,
		Bad:  ware("\tShelf shelf;\n", " shelf = new Shelf();"),
		Good: ware("\tShelf? shelf;\n", ""),
	},
	{
		Code: CompatClass, Title: "actor class is gone",
		Explanation: `A store may have actors of the class, and references to them. A program that does not
know the class is refused there. Keep the class, without methods if you like, or use a
new store.

In the examples there was an actor class Shelf.`,
		Bad:  "package shop\n\nactorclass Ware {\n\tint price;\n\tstring name;\n\n\tWare(string n) { name = n; price = 0; }\n}\n",
		Good: ware("", ""),
	},
	{
		Code: CompatField, Title: "field is gone",
		Explanation: `What is stored in a field of an actor class stays in the store while a version runs that does
not have the field, and a version that has it finds it again: this is a warning. It is one, too, that
a field is back, as actors then have the values that were kept. What is stored in a field of a value class
goes when a version without the field writes the value. A program refuses a store with such values:
with a data directory this is an error, and with sources a warning.

Keep the field if its values matter. If they do not, start the program once with
` + "`--drop-fields shop.Shelf.labels`" + `; several fields have commas between them.

In the examples there was a field labels in class Shelf.`,
		Bad:  "package shop\n\nactorclass Ware {\n\tint price;\n\tstring name;\n\n\tWare(string n) { name = n; price = 0; }\n}\n\nactorclass Shelf {\n\tvoid label(string text) { }\n}\n",
		Good: ware("", ""),
	},
	{
		Code: CompatCall, Title: "calls that wait cannot be read",
		Explanation: `Sub-events, timers and tail calls wait in the store of a program with their arguments, also
while the program does not run. A method whose parameters get other types, or that is gone, cannot
read them, and a program refuses to open a store in which calls of it wait. With a data directory
this is an error, and tells how many wait; with sources it is a warning, as some may.

Run the version before until nothing waits any more (what comes ` + "`every`" + ` so often waits
until it is cancelled), or keep the method under its old name and with its old parameters, and add
the new one beside it. Names of parameters may change, and their types as those of fields may, but a
T that is no reference may not become T?.

In the examples the method was ` + "`void label(string text)`" + `.`,
		Bad:  strings.Replace(ware("", ""), "label(string text)", "label(string text, int shelf)", 1),
		Good: strings.Replace(ware("", ""), "\tvoid label(", "\tvoid labelAt(string text, int shelf) { labels.insert(\"{shelf}: {text}\"); }\n\tvoid label(", 1),
	},
	{
		Code: CompatInitial, Title: "new field is zero in stored actors, whatever its initialiser says",
		Explanation: `This is a warning: in actors that are stored, and in values of classes in them, a field that is new has the value of its
initialiser only where no event is needed to compute that. Where one is (random(), now(), new, a
call), it has its zero value there, and only actors and values that are made from now on get the other one. Let the
field be null until an event sets it, if the two must be told apart.`,
		Bad:  ware("\tfloat lot = random();\n", ""),
		Good: ware("\tfloat? lot;\n", ""),
	},
	{
		Code: CompatOther, Title: "field has another initial value, also in what is older than the field",
		Explanation: `This is a warning, if the older version is given as sources. Actors that were stored before a class had the field, and values of
classes in them, have no value of it: they get its initialiser each time they are read, until an event sets the field, or writes the
value. So a version with another initialiser, or without one, changes the field in all of them. If every stored actor is
younger than the field nothing changes.

Keep the initialiser, and set the value of new actors in the constructor.`,
		Bad:  strings.Replace(ware("", ""), "int price;", "int price = 5;", 1),
		Good: strings.Replace(ware("", ""), "price = 0;", "price = 5;", 1),
	},
}
