package diag

// The codes of the lexer and the parser. Append only.
const (
	UnexpectedToken       Code = "AE0001"
	MissingSemicolon      Code = "AE0002"
	UnclosedBracket       Code = "AE0003"
	StrayCharacter        Code = "AE0004"
	UnterminatedString    Code = "AE0005"
	UnterminatedComment   Code = "AE0006"
	InvalidEscape         Code = "AE0007"
	InvalidNumber         Code = "AE0008"
	NumberTooLarge        Code = "AE0009"
	NestingTooDeep        Code = "AE0010"
	FileTooLarge          Code = "AE0011"
	MissingPackage        Code = "AE0012"
	MisplacedClause       Code = "AE0013"
	NullSpelling          Code = "AE0014"
	AssignInCondition     Code = "AE0015"
	ElseIfSpelling        Code = "AE0016"
	MissingBraces         Code = "AE0017"
	NotAStatement         Code = "AE0018"
	DecorationWithoutCall Code = "AE0019"
	MisplacedModifier     Code = "AE0020"
	ConstructorName       Code = "AE0021"
	TimerClause           Code = "AE0022"
	StrayClosing          Code = "AE0023"
	EmptyInterpolation    Code = "AE0024"
	ReservedWord          Code = "AE0025"
	NestedDeclaration     Code = "AE0026"
	NotAssignable         Code = "AE0027"
	DuplicateDefault      Code = "AE0028"
	ForeignOperator       Code = "AE0029"
)

// syntaxCodes documents them.
var syntaxCodes = []Info{}
