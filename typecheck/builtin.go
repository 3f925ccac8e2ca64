package typecheck

// BuiltinID names a predeclared function.
type BuiltinID uint8

// The predeclared functions.
const (
	NoBuiltin      BuiltinID = iota
	MinFunc                  // T min(T, T…)
	MaxFunc                  // T max(T, T…)
	AbsFunc                  // T abs(T)
	NowFunc                  // time now()
	RandomFunc               // float random(), in [0, 1)
	EventIDFunc              // string eventid()
	KeyFunc                  // string? key(), the name of this actor
	LogFunc                  // void log(any…)
	PrintFunc                // void print(any…)
	LenFunc                  // int len(string, bytes, vector, map or set)
	StrFunc                  // string str(any)
	ParseIntFunc             // int? parseInt(string)
	SplitFunc                // vector<string> split(string, string)
	JoinFunc                 // string join(vector<string>, string)
	ContainsFunc             // bool contains(string, string)
	ReplaceFunc              // string replace(string, string, string)
	ParseFloatFunc           // float? parseFloat(string)
	ParseTimeFunc            // time? parseTime(string)
	TimeOfFunc               // time? timeOf(int year, int month, int day, int hour, int minute, int second)
	JSONFunc                 // string json(any)
	ParseJSONFunc            // T? parseJson<T>(string)
)

// LibraryID names a method of a library type.
type LibraryID uint8

// The methods of the library types. The receiver's type tells which they are
// of: HasMethod of a map takes a key, that of a set an element.
const (
	NoLibrary        LibraryID = iota
	PushMethod                 // vector: push(T)
	PopMethod                  // vector: T pop(), aborts if empty
	InsertMethod               // vector: insert(int, T); set: insert(T); table: insert(T), aborts if the key is there
	RemoveMethod               // vector: T remove(int); map, table: bool remove(K); set: bool remove(T)
	SizeMethod                 // all containers, string and bytes: int size()
	ClearMethod                // all containers
	SortMethod                 // vector of an ordered type: sort(); of objects: sort(field, …): Call.Fields
	ContainsMethod             // vector: bool contains(T); string: bool contains(string)
	SliceMethod                // vector: vector<T> slice(int, int); string, bytes
	HasMethod                  // map, table: bool has(K); set: bool has(T)
	GetMethod                  // map: V? get(K); table: T? get(K)
	KeysMethod                 // map, table: vector<K> keys(); set: vector<T> keys()
	ValuesMethod               // map, table: vector<V> values(); set: vector<T> values()
	SplitMethod                // string: vector<string> split(string)
	JoinMethod                 // vector<string>: string join(string)
	ReplaceMethod              // string: string replace(string, string)
	ParseIntMethod             // string: int? parseInt()
	PutMethod                  // table: put(T)
	FindMethod                 // table: vector<T> find(column, value, …): Call.Query; string: int? find(string)
	RangeMethod                // table: vector<T> range(…, column, from, to): Call.Query
	TrimMethod                 // string: string trim()
	LowerMethod                // string: string lower()
	UpperMethod                // string: string upper()
	StartsWithMethod           // string: bool startsWith(string)
	EndsWithMethod             // string: bool endsWith(string)
	RepeatMethod               // string: string repeat(int)
	ParseFloatMethod           // string: float? parseFloat()
	ParseTimeMethod            // string: time? parseTime()
	YearMethod                 // time: int year()
	MonthMethod                // time: int month()
	DayMethod                  // time: int day()
	HourMethod                 // time: int hour()
	MinuteMethod               // time: int minute()
	SecondMethod               // time: int second()
	WeekdayMethod              // time: int weekday()
	SortedMethod               // table: vector<T> sorted(column, value, …, column): Call.Query
	ReversedMethod             // vector: vector<T> reversed()
	LimitMethod                // vector: vector<T> limit(int)
	FormatMethod               // float: string format(int digits); integers: string format(int base, int digits)
)
