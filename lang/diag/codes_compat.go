package diag

// Codes of aeonc compat, which compares two versions of a program.
const (
	CompatType  Code = "AE1001" // a field has a type that its stored values do not have
	CompatZero  Code = "AE1002" // a new field has no value in stored actors
	CompatClass Code = "AE1003" // an actor class is gone
	CompatField Code = "AE1004" // warning: a field is gone
)

// CompatBefore is the program that the examples of these codes come after.
const CompatBefore = `package shop

actorclass Ware {
	int price;
	string name;

	Ware(string n) { name = n; price = 0; }
}

actorclass Shelf {
	set<string> labels;
}
`

const shelf = `
actorclass Shelf {
	set<string> labels;
}
`

func ware(field, init string) string {
	return "package shop\n\nactorclass Ware {\n\tint price;\n\tstring name;\n" + field + "\n\tWare(string n) { name = n; price = 0;" + init + " }\n}\n" + shelf
}

// compatCodes documents them. Bad and Good are newer versions of CompatBefore.
var compatCodes = []Info{
	{
		Code: CompatType, Title: "type of a stored field has changed",
		Explanation: `Actors that are stored have values of the old type in the field, which cannot be read as
values of the new one. What can be read: an integer that has become wider, a T that has
become T?, an enum with more values at its end, a class with other fields. For
everything else give the new field another name, and let events bring the values over.

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
		Explanation: `This is a warning: what is stored in the field is not read any more. If a later version
has a field of that name again, it begins with its zero value.

In the examples there was a field labels in class Shelf.`,
		Bad:  "package shop\n\nactorclass Ware {\n\tint price;\n\tstring name;\n\n\tWare(string n) { name = n; price = 0; }\n}\n\nactorclass Shelf {\n}\n",
		Good: ware("", ""),
	},
}
