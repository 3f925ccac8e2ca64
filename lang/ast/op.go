package ast

// Op is an operator of Unary, Binary and Assign nodes.
type Op uint8

// The operators, by Go's precedence from loose to tight.
const (
	OpNone   Op = iota // plain assignment
	OpOr               // ||
	OpAnd              // &&
	OpEq               // ==
	OpNe               // !=
	OpLt               // <
	OpLe               // <=
	OpGt               // >
	OpGe               // >=
	OpAdd              // +
	OpSub              // -
	OpBitOr            // |
	OpBitXor           // ^, also the unary complement
	OpMul              // *
	OpDiv              // /
	OpRem              // %
	OpShl              // <<
	OpShr              // >>
	OpBitAnd           // &
	OpAndNot           // &^
	OpNot              // !, unary only
)

var opText = [...]string{
	OpNone: "", OpOr: "||", OpAnd: "&&", OpEq: "==", OpNe: "!=", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpAdd: "+", OpSub: "-", OpBitOr: "|", OpBitXor: "^", OpMul: "*", OpDiv: "/", OpRem: "%", OpShl: "<<",
	OpShr: ">>", OpBitAnd: "&", OpAndNot: "&^", OpNot: "!",
}

// String returns the operator as written.
func (o Op) String() string { return opText[o] }

// Precedence returns 1 (||) to 5 (*), as in Go, and 0 for what is not binary.
// `??` is looser than all of them.
func (o Op) Precedence() int {
	switch {
	case o == OpOr:
		return 1
	case o == OpAnd:
		return 2
	case o >= OpEq && o <= OpGe:
		return 3
	case o >= OpAdd && o <= OpBitXor:
		return 4
	case o >= OpMul && o <= OpAndNot:
		return 5
	}
	return 0
}

// IsComparison reports whether o is one of == != < <= > >=.
func (o Op) IsComparison() bool { return o >= OpEq && o <= OpGe }
