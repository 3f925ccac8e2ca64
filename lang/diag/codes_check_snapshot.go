package diag

// session is an actor class with this snapshot block.
func session(block string) string {
	return program("actorclass Log {\n\tint lines = 0;\n\tvoid add() {\n\t\tlines++;\n\t}\n}\n\nactorclass Session {\n\tLog? log;\n\tstring token = \"\";\n\tmap<string, int> cache;\n\ttime left;\n\n\tSession(time t) {\n\t\tleft = t;\n\t}\n\n\t" + block + "\n}")
}

// snapshotCodes documents the codes on snapshot blocks.
var snapshotCodes = []Info{
	{
		Code: SnapshotPlace, Title: "snapshot block outside of an actorclass",
		Explanation: `A snapshot is made of actors, and each class of actors may say what is in it of them.
Values have no say: the actor that holds them changes them in its own block.`,
		Bad:  program("class Entry {\n\tstring text;\n\tsnapshot {\n\t\ttext = \"\";\n\t}\n}\n\nactorclass Book {\n\tEntry? last;\n}"),
		Good: program("class Entry {\n\tstring text;\n}\n\nactorclass Book {\n\tEntry? last;\n\tsnapshot {\n\t\tlast = null;\n\t}\n}"),
	},
	{
		Code: SnapshotTwice, Title: "second snapshot block",
		Explanation: `A class has at most one block that says what snapshots contain of its actors.`,
		Bad:         session("snapshot {\n\t\ttoken = \"\";\n\t}\n\tsnapshot {\n\t\tcache.clear();\n\t}"),
		Good:        session("snapshot {\n\t\ttoken = \"\";\n\t\tcache.clear();\n\t}"),
	},
	{
		Code: SnapshotReaches, Title: "snapshot block reaches beyond its actor",
		Explanation: `A snapshot block runs on a copy of the fields of one actor, without a lock and outside of
all events. It calls no method of an actor, this one included, issues no event, and creates, names and deletes no
actor. Functions and methods of values may be called, if they do none of that either.`,
		Bad:  session("void forget() {\n\t\tcache.clear();\n\t}\n\tsnapshot {\n\t\tforget();\n\t}"),
		Good: session("void forget() {\n\t\tcache.clear();\n\t}\n\tsnapshot {\n\t\tcache.clear();\n\t}"),
	},
	{
		Code: SnapshotActs, Title: "snapshot block does more than compute",
		Explanation: `A snapshot block runs whenever a snapshot is taken, and no event shows when that was. What it leaves follows from the
fields alone: it does not print or log, sets no timers, and has no time, no random numbers and
no event whose id it could ask for. So the same state gives the same snapshot, of which nothing has to be stored again.`,
		Bad:  session("snapshot {\n\t\tleft = now();\n\t}"),
		Good: session("snapshot {\n\t\ttoken = \"\";\n\t}"),
	},
	{
		Code: SnapshotOwns, Title: "snapshot block changes what the actor owns",
		Explanation: `Fields that hold actors and are not yield make this actor their owner. A snapshot contains what an actor owns, and who
owns whom, so these fields stay as they are. Each class decides about its own actors.`,
		Bad:  session("snapshot {\n\t\tlog = null;\n\t}"),
		Good: session("snapshot {\n\t\tcache.clear();\n\t}"),
	},
}
