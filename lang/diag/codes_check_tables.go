package diag

// airline is a program with a table and a method.
func airline(method string) string {
	return program("class Flight {\n\tstring id;\n\tstring destination;\n\tint price;\n\tfloat fuel;\n}\n\nactorclass Airline {\n" +
		"\ttable<Flight> flights key(id) index(destination);\n\n\t" + method + "\n}")
}

// airlineTable is a program with the declaration of a table.
func airlineTable(table string) string {
	return program("class Flight {\n\tstring id;\n\tstring destination;\n\tfloat fuel;\n}\n\nactorclass Airline {\n\t" + table + "\n}")
}

// tableCodes documents the codes on tables.
var tableCodes = []Info{
	{
		Code: TableField, Title: "a table does not belong here",
		Explanation: `A table is the type of a field of an actorclass, and of nothing else: it may be
larger than memory, so it is not copied, passed or nested. It starts empty. Only
tables have a key and indexes.`,
		Bad:  program("class Flight {\n\tstring id;\n}\n\nvoid show(table<Flight> flights) {\n}"),
		Good: program("class Flight {\n\tstring id;\n}\n\nvoid show(vector<Flight> flights) {\n}"),
	},
	{
		Code: TableRow, Title: "rows are objects of a class",
		Explanation: `The rows of a table have named fields, by which they are found: declare a class
with a field for each column.`,
		Bad:  airlineTable("table<string> flights key(id);"),
		Good: airlineTable("table<Flight> flights key(id);"),
	},
	{
		Code: TableKey, Title: "table without one key",
		Explanation: `Every table has one key: a field of its rows that tells them apart, written
behind its name as ` + "`key(id)`" + `.`,
		Bad:  airlineTable("table<Flight> flights;"),
		Good: airlineTable("table<Flight> flights key(id);"),
	},
	{
		Code: TableColumn, Title: "bad column of a key or an index",
		Explanation: `The columns of keys and indexes are fields of the rows, each once. They are
integers, bool, string, bytes, enums, time, duration or actors: those have an order,
and it is always the same. Two indexes of a table have different columns.`,
		Bad:  airlineTable("table<Flight> flights key(id) index(fuel);"),
		Good: airlineTable("table<Flight> flights key(id) index(destination);"),
	},
	{
		Code: TableValue, Title: "a table is no value",
		Explanation: `A table may be larger than memory, so it cannot be copied, compared, printed,
passed or returned. Take the rows that you need with get, find or range, or loop
over it.`,
		Bad:  airline("ro string all() {\n\t\treturn str(flights);\n\t}"),
		Good: airline("ro string all() {\n\t\treturn str(flights.values());\n\t}"),
	},
	{
		Code: TableQuery, Title: "query without an index",
		Explanation: `find and range name columns, and a value behind each; range ends with a column, its
first value and, unless it goes to the end, one beyond the last. Their columns are
the key, or the first ones of an index, in its order: so rows are found without
looking at the others.`,
		Bad:  airline("ro vector<Flight> cheap() {\n\t\treturn flights.range(price, 0, 100);\n\t}"),
		Good: airline("ro vector<Flight> to(string d) {\n\t\treturn flights.find(destination, d);\n\t}"),
	},
	{
		Code: TableKeyWritten, Title: "key of a row is written",
		Explanation: `A row is found by its key, which stays what it is. To give a row another key,
remove it and insert it anew; to replace one, put the new row.`,
		Bad:  airline("void rename(string from, string to) {\n\t\tflights[from].id = to;\n\t}"),
		Good: airline("void move(string id, string to) {\n\t\tflights[id].destination = to;\n\t}"),
	},
}
