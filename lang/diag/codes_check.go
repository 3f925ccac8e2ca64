package diag

import "slices"

// The codes of the checker are append-only.
const (
	// Names and declarations: codes_check_names.go.
	UndefinedName   Code = "AE0101"
	UndefinedType   Code = "AE0102"
	UnknownMember   Code = "AE0103"
	Redeclared      Code = "AE0104"
	UnusedLocal     Code = "AE0105"
	NotExported     Code = "AE0106"
	BadImport       Code = "AE0107"
	UnusedImport    Code = "AE0108"
	AmbiguousName   Code = "AE0109"
	WrongKind       Code = "AE0110"
	PackageMismatch Code = "AE0111"
	BadMain         Code = "AE0112"
	ThisOutside     Code = "AE0113"
	LaterVersion    Code = "AE0114"
	GoPackage       Code = "AE0115"
	GoFunction      Code = "AE0116"
	GoEffect        Code = "AE0117"
	GoOpaque        Code = "AE0118"
	GoBody          Code = "AE0119"

	// Types and constants: codes_check_types.go.
	TypeMismatch     Code = "AE0120"
	BadOperand       Code = "AE0121"
	BadArgCount      Code = "AE0122"
	BadConversion    Code = "AE0123"
	NotCallable      Code = "AE0124"
	BadKey           Code = "AE0125"
	NotIndexable     Code = "AE0126"
	ConstOverflow    Code = "AE0127"
	ConstDivision    Code = "AE0128"
	NotConstant      Code = "AE0129"
	CannotInfer      Code = "AE0130"
	VoidValue        Code = "AE0131"
	NotComparable    Code = "AE0132"
	BadIteration     Code = "AE0133"
	RecursiveValue   Code = "AE0134"
	DuplicateCase    Code = "AE0135"
	MissingCases     Code = "AE0136"
	TooDeep          Code = "AE0137"
	BadTypeUse       Code = "AE0138"
	ConstCycle       Code = "AE0139"
	ConstIndex       Code = "AE0140"
	UnusedExpression Code = "AE0141"
	TooLarge         Code = "AE0142"
	DuplicateKey     Code = "AE0143"

	// Null: codes_check_types.go.
	MaybeNull   Code = "AE0150"
	NeverNull   Code = "AE0151"
	NullNotHere Code = "AE0152"

	// Values and paths: codes_check_values.go.
	CannotAssign     Code = "AE0160"
	TemporaryWritten Code = "AE0161"
	SelfAssigned     Code = "AE0162"
	LostWrite        Code = "AE0163"

	// Initialisation and flow: codes_check_flow.go.
	FieldNotSet     Code = "AE0170"
	ThisTooEarly    Code = "AE0171"
	UnsetLocal      Code = "AE0172"
	MissingReturn   Code = "AE0173"
	Unreachable     Code = "AE0174"
	TwoConstructors Code = "AE0175"
	FieldTooEarly   Code = "AE0176"
	BadJump         Code = "AE0177"
	BadReturn       Code = "AE0178"
	InitialiserUse  Code = "AE0179"
	ThisToCallbacks Code = "AE0180"

	// Calls, plain and yield: codes_check_calls.go.
	ClientCallsPlain  Code = "AE0200"
	YieldCalled       Code = "AE0201"
	ClientRefCalled   Code = "AE0202"
	ReadOnlyCalls     Code = "AE0203"
	AsyncResult       Code = "AE0204"
	EventResult       Code = "AE0205"
	ClientOnly        Code = "AE0206"
	ActorOnly         Code = "AE0207"
	YieldStored       Code = "AE0208"
	YieldPassed       Code = "AE0209"
	YieldReturned     Code = "AE0210"
	BadDecoration     Code = "AE0211"
	BadTimer          Code = "AE0212"
	NamedConstructor  Code = "AE0213"
	ForeignField      Code = "AE0214"
	NotAwaitable      Code = "AE0215"
	UselessYield      Code = "AE0216"
	TimerOutside      Code = "AE0217"
	ConstructorCalled Code = "AE0218"
	BadDelete         Code = "AE0219"
	BadNamedActor     Code = "AE0220"

	// Tail calls: codes_check_tail.go.
	TailPlace  Code = "AE0221"
	TailInside Code = "AE0222"
	TailResult Code = "AE0223"
	TailKept   Code = "AE0224"

	// Read-only methods and ownership: codes_check_owner.go.
	ReadOnlyWrites Code = "AE0230"
	BadReadOnly    Code = "AE0231"
	BadPure        Code = "AE0232"
	OwnershipCycle Code = "AE0240"

	// Tables: codes_check_tables.go.
	TableField      Code = "AE0250"
	TableRow        Code = "AE0251"
	TableKey        Code = "AE0252"
	TableColumn     Code = "AE0253"
	TableValue      Code = "AE0254"
	TableQuery      Code = "AE0255"
	TableKeyWritten Code = "AE0256"

	// Snapshot blocks: codes_check_snapshot.go.
	SnapshotPlace   Code = "AE0260"
	SnapshotTwice   Code = "AE0261"
	SnapshotReaches Code = "AE0262"
	SnapshotActs    Code = "AE0263"
	SnapshotOwns    Code = "AE0264"
)

// checkCodes documents the codes of the checker, AE0101 to AE0999. It is append-only.
var checkCodes = slices.Concat(nameCodes, typeCodes, valueCodes, flowCodes, callCodes, tailCodes, ownerCodes, tableCodes, snapshotCodes)
