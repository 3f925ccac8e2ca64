package diag

// The actor classes that the examples on calls share.
const (
	lamp = "actorclass Lamp {\n\tbool lit = false;\n\tvoid put(bool on) {\n\t\tlit = on;\n\t}\n\tro bool isOn() {\n\t\treturn lit;\n\t}\n}\n"
	// watcher is a client class.
	watcher = "client class Watcher {\n\tvoid changed(int n) {\n\t\tprint(n);\n\t}\n}\n"
)

// callCodes documents the codes on calls, plain and yield.
var callCodes = []Info{
	{
		Code: ClientCallsPlain, Title: "client calls an actor without event",
		Explanation: "Clients are outside of every event: they issue events, with `event`, and may await the result.",
		Bad:         program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tl.put(true);\n}"),
		Good:        program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tawait event l.put(true);\n}"),
	},
	{
		Code: YieldCalled, Title: "sync or async call through a yield reference",
		Explanation: "A yield reference is not owned: what it leads to may be locked by others, above or beside this actor. Only `event` calls go through it; they run as events of their own when this one has committed.",
		Bad:         program(lamp + "\nactorclass Room {\n\tyield Lamp? lamp;\n\tvoid leave() {\n\t\tif (Lamp l = lamp) {\n\t\t\tl.put(false);\n\t\t}\n\t}\n}"),
		Good:        program(lamp + "\nactorclass Room {\n\tyield Lamp? lamp;\n\tvoid leave() {\n\t\tif (Lamp l = lamp) {\n\t\t\tevent l.put(false);\n\t\t}\n\t}\n}"),
	},
	{
		Code: ClientRefCalled, Title: "sync or async call of a client",
		Explanation: `Objects of client classes live in the client. They are called back with
` + "`event`" + `, after the event has committed. A client calls other client objects in the same
way: their callbacks run one at a time, in order. Only its own methods does it call directly.`,
		Bad:  program(watcher + "\nactorclass Counter {\n\tWatcher? w;\n\tint n = 0;\n\tvoid add() {\n\t\tn++;\n\t\tw?.changed(n);\n\t}\n}"),
		Good: program(watcher + "\nactorclass Counter {\n\tWatcher? w;\n\tint n = 0;\n\tvoid add() {\n\t\tn++;\n\t\tevent w?.changed(n);\n\t}\n}"),
	},
	{
		Code: ReadOnlyCalls, Title: "ro method calls something that is not ro",
		Explanation: `An ro method writes nothing, and neither does what it calls; sub-events that it
issues call ro methods as well. Callbacks to clients are free.`,
		Bad:  program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tro void dark() {\n\t\tlamp.put(false);\n\t}\n}"),
		Good: program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tro bool dark() {\n\t\treturn !lamp.isOn();\n\t}\n}"),
	},
	{
		Code: AsyncResult, Title: "result of an async call is used",
		Explanation: `An async call runs in parallel with what follows, so there is no result to use
yet. A call without ` + "`async`" + ` waits and returns it.`,
		Bad:  program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tbool dark() {\n\t\treturn !async lamp.isOn();\n\t}\n}"),
		Good: program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tbool dark() {\n\t\treturn !lamp.isOn();\n\t}\n}"),
	},
	{
		Code: EventResult, Title: "result of a sub-event or callback is used",
		Explanation: `An event that an actor issues runs after the current event has committed. Its
result cannot be known here; let the callee issue an event back. A callback to a
client object has no result either, nor can it be awaited: callbacks of a client
run one at a time, so a callback that waits for another could keep it from running. ` + "`settle();`" + `
waits until all of them have run.`,
		Bad:  program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tvoid show() {\n\t\tprint(event lamp.isOn());\n\t}\n}"),
		Good: program(lamp + "\nactorclass Room {\n\tLamp lamp = new Lamp();\n\tvoid show() {\n\t\tprint(lamp.isOn());\n\t}\n}"),
	},
	{
		Code: ClientOnly, Title: "only clients can do this",
		Explanation: "await, try, pending results, settle, sleep, advance and the making of client objects belong to clients: main, tests, client classes, and the functions that they call. Within an event there is nothing to wait for.",
		Bad:         program("actorclass Room {\n\tvoid nap() {\n\t\tsleep(1s);\n\t}\n}"),
		Good:        program("actorclass Room {\n\tvoid nap() {\n\t\tevent this.wake() after 1s;\n\t}\n\tvoid wake() {\n\t\tprint(\"awake\");\n\t}\n}"),
	},
	{
		Code: ActorOnly, Title: "client calls a function for actors",
		Explanation: `The function makes sync or async calls, sets timers or asks for eventid(): that is part of an event.
Clients issue events.`,
		Bad:  program(lamp + "\nvoid off(Lamp l) {\n\tl.put(false);\n}\n\nvoid main() {\n\toff(new Lamp());\n}"),
		Good: program(lamp + "\nvoid off(Lamp l) {\n\tawait event l.put(false);\n}\n\nvoid main() {\n\toff(new Lamp());\n}"),
	},
	{
		Code: YieldStored, Title: "yield reference in a plain field",
		Explanation: `A plain field owns what it holds. A yield reference may lead anywhere, so it is
kept in a field that is declared yield.`,
		Bad:  program(lamp + "\nactorclass Room {\n\tLamp? lamp;\n\tvoid meet(yield Lamp l) {\n\t\tlamp = l;\n\t}\n}"),
		Good: program(lamp + "\nactorclass Room {\n\tyield Lamp? lamp;\n\tvoid meet(yield Lamp l) {\n\t\tlamp = l;\n\t}\n}"),
	},
	{
		Code: YieldPassed, Title: "yield reference as a plain argument",
		Explanation: `A plain parameter may be called within the event. A yield argument fits it only in
an event call, whose footprint takes it in.`,
		Bad:  program(lamp + "\nactorclass Room {\n\tvoid enter(yield Lamp l) {\n\t\tuse(l);\n\t}\n\tvoid use(Lamp l) {\n\t\tevent l.put(true);\n\t}\n}"),
		Good: program(lamp + "\nactorclass Room {\n\tvoid enter(yield Lamp l) {\n\t\tuse(l);\n\t}\n\tvoid use(yield Lamp l) {\n\t\tevent l.put(true);\n\t}\n}"),
	},
	{
		Code: YieldReturned, Title: "yield reference as a plain result",
		Explanation: "The result of a method says whether it is a yield reference: `yield T m()`.",
		Bad:         program(lamp + "\nactorclass Room {\n\tyield vector<Lamp> lamps;\n\tro Lamp first() {\n\t\treturn lamps[0];\n\t}\n}"),
		Good:        program(lamp + "\nactorclass Room {\n\tyield vector<Lamp> lamps;\n\tro yield Lamp first() {\n\t\treturn lamps[0];\n\t}\n}"),
	},
	{
		Code: BadDecoration, Title: "async or event on something that is no actor",
		Explanation: "`async` and `event` call methods of actors. Functions and methods of values run where they are called.",
		Bad:         program("void f() {\n}\n\nvoid main() {\n\tevent f();\n}"), Good: program("void f() {\n}\n\nvoid main() {\n\tf();\n}"),
	},
	{
		Code: BadTimer, Title: "timer clause has the wrong type",
		Explanation: "`after` and `every` take a duration, such as 50ms or n * 1s; the name of a timer is a string, which is not empty.",
		Bad:         program("actorclass Clock {\n\tvoid tick() {\n\t\tevent this.tick() after 50;\n\t}\n}"),
		Good:        program("actorclass Clock {\n\tvoid tick() {\n\t\tevent this.tick() after 50ms;\n\t}\n}"),
	},
	{
		Code: NamedConstructor, Title: "named actor needs arguments",
		Explanation: `A named actor is created at its first use, by the first event that calls it. So its
constructor takes no parameters; a method can set it up.`,
		Bad:  program("actorclass Room {\n\tint size;\n\tRoom(int n) {\n\t\tsize = n;\n\t}\n}\n\nvoid main() {\n\tprint(actor<Room>(\"hall\"));\n}"),
		Good: program("actorclass Room {\n\tint size = 0;\n\tvoid build(int n) {\n\t\tsize = n;\n\t}\n}\n\nvoid main() {\n\tprint(actor<Room>(\"hall\"));\n}"),
	},
	{
		Code: ForeignField, Title: "field of another actor",
		Explanation: "The state of an actor is reached through its methods; only `this.f` names a field, also within one class.",
		Bad:         program("actorclass Account {\n\tint balance = 0;\n\tro int difference(Account other) {\n\t\treturn balance - other.balance;\n\t}\n}"),
		Good:        program("actorclass Account {\n\tint balance = 0;\n\tro int get() {\n\t\treturn balance;\n\t}\n\tro int difference(Account other) {\n\t\treturn balance - other.get();\n\t}\n}"),
	},
	{
		Code: NotAwaitable, Title: "nothing to await",
		Explanation: "`await` takes a pending result, or an event call.",
		Bad:         inMain("int n = 1;\n\tprint(await n);"), Good: program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tprint(await event l.isOn());\n}"),
	},
	{
		Code: UselessYield, Title: "yield without references",
		Explanation: "`yield` is about references to actors, and the type holds none.",
		Bad:         program("actorclass Room {\n\tyield int size = 0;\n}"), Good: program("actorclass Room {\n\tint size = 0;\n}"),
	},
	{
		Code: TimerOutside, Title: "timer in a client",
		Explanation: "Timers are durable and belong to the actor that issues them. A client sleeps, or has an actor set the timer.",
		Bad:         program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tevent l.put(true) after 1s;\n}"),
		Good:        program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tsleep(1s);\n\tevent l.put(true);\n}"),
	},
	{
		Code: ConstructorCalled, Title: "object is made without new",
		Explanation: "`new T(…)` makes an object of class T.",
		Bad:         program("class Point {\n\tint x;\n}\n\nvoid main() {\n\tprint(Point(1));\n}"), Good: program("class Point {\n\tint x;\n}\n\nvoid main() {\n\tprint(new Point(1));\n}"),
	},
	{
		Code: BadDelete, Title: "this cannot be deleted",
		Explanation: "`delete` ends an actor that is reached through a plain reference. Values go away by themselves.",
		Bad:         inMain("int n = 1;\n\tdelete n;"), Good: program(lamp + "\nvoid main() {\n\tLamp l = new Lamp();\n\tdelete l;\n}"),
	},
	{
		Code: BadNamedActor, Title: "only actors have names",
		Explanation: "`actor<T>(\"name\")` is the actor of class T with that name; T is an actorclass.",
		Bad:         program("class Point {\n\tint x;\n}\n\nvoid main() {\n\tprint(actor<Point>(\"origin\"));\n}"),
		Good:        program(lamp + "\nvoid main() {\n\tprint(actor<Lamp>(\"hall\"));\n}"),
	},
}
