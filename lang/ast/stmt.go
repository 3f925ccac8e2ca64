package ast

// Block is `{ statements }`.
type Block struct {
	Loc
	Stmts []Stmt
}

// VarDecl is `T name = init;`, `T name;` or `var name = init;`. It is also the
// declaration in the heads of `if` and `for`.
type VarDecl struct {
	Loc
	Type Type // nil for var
	Name Name
	Init Expr // nil for `T name;`
}

// Assign is `lhs op rhs;` with op one of = += -= *= /= %= &= |= ^= <<= >>= &^=.
type Assign struct {
	Loc
	LHS   Expr
	Op    Op // OpNone for plain `=`, else the binary operator
	OpPos Span
	RHS   Expr
}

// IncDec is `x++;` or `x--;`.
type IncDec struct {
	Loc
	X     Expr
	Dec   bool
	OpPos Span
}

// If is `if (cond) { … } else …`. With Decl set it is `if (V v = e) { … }`:
// the branch is taken when e is not null, and v has the non-null type there.
type If struct {
	Loc
	Decl *VarDecl // nil for a plain condition
	Cond Expr     // nil if Decl is set
	Then *Block
	Else Stmt // nil, *If or *Block
}

// While is `while (cond) { … }`.
type While struct {
	Loc
	Cond Expr
	Body *Block
}

// For is `for (init; cond; post) { … }`; each part may be missing.
type For struct {
	Loc
	Init Stmt // nil, *VarDecl, *Assign, *IncDec or *ExprStmt
	Cond Expr
	Post Stmt // nil, *Assign, *IncDec or *ExprStmt
	Body *Block
}

// ForUpto is `for (int i = from upto to) { … }`; to is not reached.
type ForUpto struct {
	Loc
	Type Type // nil for var
	Name Name
	From Expr
	To   Expr
	Body *Block
}

// ForEach is `for (T x : xs) { … }`, or over the entries of a map, `for (K k, V v : m) { … }`.
type ForEach struct {
	Loc
	Type  Type // nil for var
	Name  Name
	Value *LoopValue // nil if there is one variable
	X     Expr
	Body  *Block
}

// LoopValue is the variable of a loop over entries that has the value.
type LoopValue struct {
	Loc
	Type Type // nil for var
	Name Name
}

// Switch is `switch (x) { case a, b: … default: … }`. A case never falls
// through to the next, as in Go.
type Switch struct {
	Loc
	X     Expr
	Cases []*SwitchCase
}

// SwitchCase is one `case` of a switch, or its `default`.
type SwitchCase struct {
	Loc
	Default bool
	Values  []Expr // empty for default
	Body    []Stmt
}

// Match is `match (x) { case A(v): … case B: … default: … }` on an enum.
type Match struct {
	Loc
	X     Expr
	Cases []*MatchCase
}

// MatchCase is one `case` of a match, or its `default`.
type MatchCase struct {
	Loc
	Default  bool
	Patterns []*Pattern // empty for default; several only if none binds a name
	Body     []Stmt
}

// Pattern is `Value`, `Enum.Value`, or either with `(names)` for the payload.
// The name `_` binds nothing.
type Pattern struct {
	Loc
	Enum  *Name // nil unless qualified
	Value Name
	Binds []Name
	// HasBinds tells `A()` from `A`: the first must match an empty payload.
	HasBinds bool
}

// Return is `return;` or `return e;`.
type Return struct {
	Loc
	X Expr // nil without a value
}

// TailCall is `tail c.m(x);`: it ends the method, and the call goes on with its chain. The
// parser makes sure that X is a call, whose Mode is Tail.
type TailCall struct {
	Loc
	X *Call
}

// GoCall is `event go f(x) retry n then m(y);`: a Go function is called after the commit, and
// then a method of the actor. The parser makes sure that X calls an Ident or a Field of one, and Then an Ident; the Mode of both is Event.
type GoCall struct {
	Loc
	X     *Call
	Retry Expr
	Then  *Call // nil without `then`
}

// Break is `break;`: it leaves the innermost loop or switch.
type Break struct{ Loc }

// Continue is `continue;`.
type Continue struct{ Loc }

// Require is `require(cond, "message");`.
type Require struct {
	Loc
	Cond Expr
	Msg  Expr
}

// Abort is `abort "message";`.
type Abort struct {
	Loc
	Msg Expr
}

// Assert is `assert(cond);` or `assert(cond, "message");`.
type Assert struct {
	Loc
	Cond Expr
	Msg  Expr // nil if there is none: the message is then the text of the condition
}

// Delete is `delete actor;`.
type Delete struct {
	Loc
	X Expr
}

// Cancel is `cancel "name";`: it stops the issuer's timer of that name.
type Cancel struct {
	Loc
	Name Expr
}

// TryCatch is `try { … } catch (string why) { … }`.
type TryCatch struct {
	Loc
	Body  *Block
	Catch *CatchClause
}

// CatchClause is `catch (string why) { … }`.
type CatchClause struct {
	Loc
	Type Type
	Name Name
	Body *Block
}

// Settle is `settle();`.
type Settle struct{ Loc }

// Sleep is `sleep(d);`.
type Sleep struct {
	Loc
	D Expr
}

// Advance is `advance(d);`.
type Advance struct {
	Loc
	D Expr
}

// ExprStmt is an expression as a statement. The parser admits only calls,
// `new` and `await`; anything else is a BadStmt with an error.
type ExprStmt struct {
	Loc
	X Expr
}

// BadStmt stands for source that is not a statement. X holds the expression
// if one was read that may not stand as a statement, else nil.
type BadStmt struct {
	Loc
	X Expr
}

func (*Block) stmt()    {}
func (*VarDecl) stmt()  {}
func (*Assign) stmt()   {}
func (*IncDec) stmt()   {}
func (*If) stmt()       {}
func (*While) stmt()    {}
func (*For) stmt()      {}
func (*ForUpto) stmt()  {}
func (*ForEach) stmt()  {}
func (*Switch) stmt()   {}
func (*Match) stmt()    {}
func (*Return) stmt()   {}
func (*TailCall) stmt() {}
func (*GoCall) stmt()   {}
func (*Break) stmt()    {}
func (*Continue) stmt() {}
func (*Require) stmt()  {}
func (*Abort) stmt()    {}
func (*Assert) stmt()   {}
func (*Delete) stmt()   {}
func (*Cancel) stmt()   {}
func (*TryCatch) stmt() {}
func (*Settle) stmt()   {}
func (*Sleep) stmt()    {}
func (*Advance) stmt()  {}
func (*ExprStmt) stmt() {}
func (*BadStmt) stmt()  {}
