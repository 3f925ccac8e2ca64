package typecheck

// universe is the outermost scope. Everything in it may be shadowed.
var universe = func() map[string]Object {
	u := make(map[string]Object)
	for _, t := range []*Basic{Void, Bool, Int, Int8, Int16, Int32, Uint8, Uint16, Uint32, Uint64, Float, String, Bytes, Time, Duration} {
		u[t.name] = &basicName{t.name, t}
	}
	u["int64"] = &basicName{"int64", Int}
	for id, name := range builtinNames {
		if name != "" {
			u[name] = &Builtin{ID: BuiltinID(id), name: name}
		}
	}
	return u
}()

var builtinNames = [...]string{
	MinFunc: "min", MaxFunc: "max", AbsFunc: "abs", NowFunc: "now", RandomFunc: "random", EventIDFunc: "eventid", KeyFunc: "key",
	LogFunc: "log", PrintFunc: "print", LenFunc: "len", StrFunc: "str", ParseIntFunc: "parseInt", SplitFunc: "split",
	JoinFunc: "join", ContainsFunc: "contains", ReplaceFunc: "replace", ParseFloatFunc: "parseFloat",
	ParseTimeFunc: "parseTime", TimeOfFunc: "timeOf", JSONFunc: "json", ParseJSONFunc: "parseJson",
}

// String returns the function's name.
func (id BuiltinID) String() string { return builtinNames[id] }

var libraryNames = [...]string{
	PushMethod: "push", PopMethod: "pop", InsertMethod: "insert", RemoveMethod: "remove", SizeMethod: "size",
	ClearMethod: "clear", SortMethod: "sort", ContainsMethod: "contains", SliceMethod: "slice", HasMethod: "has",
	GetMethod: "get", KeysMethod: "keys", ValuesMethod: "values", SplitMethod: "split", JoinMethod: "join",
	ReplaceMethod: "replace", ParseIntMethod: "parseInt", PutMethod: "put", FindMethod: "find", RangeMethod: "range",
	SortedMethod: "sorted", ReversedMethod: "reversed", LimitMethod: "limit",
	TrimMethod: "trim", LowerMethod: "lower", UpperMethod: "upper", StartsWithMethod: "startsWith", EndsWithMethod: "endsWith", RepeatMethod: "repeat",
	ParseFloatMethod: "parseFloat", FormatMethod: "format", ParseTimeMethod: "parseTime",
	YearMethod: "year", MonthMethod: "month", DayMethod: "day", HourMethod: "hour", MinuteMethod: "minute", SecondMethod: "second", WeekdayMethod: "weekday",
}

// String returns the method's name.
func (id LibraryID) String() string { return libraryNames[id] }
