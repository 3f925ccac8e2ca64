package typetext

import "math"

// Kind says how values of a type are encoded: in JSON and in protobuf.
type Kind uint8

// The kinds.
const (
	Signed Kind = iota
	Unsigned
	Float
	Bool
	String
	Bytes
	Time
	Duration
	Enum
	Class
	Vector
	Set
	Map
	Optional
	Actor
	Client
)

// Encoding is the kind of a type, with the bounds of integers.
type Encoding struct {
	Kind Kind
	Min  int64  // of Signed
	Max  uint64 // of Signed and Unsigned
}

var encodings = map[string]Encoding{
	"int": {Min: math.MinInt64, Max: math.MaxInt64}, "int8": {Min: math.MinInt8, Max: math.MaxInt8},
	"int16": {Min: math.MinInt16, Max: math.MaxInt16}, "int32": {Min: math.MinInt32, Max: math.MaxInt32},
	"uint8": {Kind: Unsigned, Max: math.MaxUint8}, "uint16": {Kind: Unsigned, Max: math.MaxUint16},
	"uint32": {Kind: Unsigned, Max: math.MaxUint32}, "uint64": {Kind: Unsigned, Max: math.MaxUint64},
	"float": {Kind: Float}, "bool": {Kind: Bool}, "string": {Kind: String}, "bytes": {Kind: Bytes}, "time": {Kind: Time}, "duration": {Kind: Duration},
	"enum": {Kind: Enum}, "class": {Kind: Class}, "vector": {Kind: Vector}, "set": {Kind: Set}, "map": {Kind: Map}, "?": {Kind: Optional},
	"actor": {Kind: Actor}, "client": {Kind: Client},
}

// Encoding returns how values of the type are encoded; ok is false for a table, whose rows leave no actor.
func (t *Type) Encoding() (e Encoding, ok bool) {
	e, ok = encodings[t.Form]
	return e, ok
}
