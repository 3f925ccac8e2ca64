package ast

// ClassKind tells the three kinds of class apart.
type ClassKind uint8

// The kinds of class.
const (
	ValueClass  ClassKind = iota // class: a value, copied
	ActorClass                   // actorclass: a reference
	ClientClass                  // client class: lives in the client, receives callbacks
)

// String returns the keywords that introduce the kind.
func (k ClassKind) String() string {
	switch k {
	case ActorClass:
		return "actorclass"
	case ClientClass:
		return "client class"
	default:
		return "class"
	}
}

// ClassDecl is `actorclass Name<T> { members }`, `class …` or `client class …`.
type ClassDecl struct {
	Loc
	Doc        *CommentGroup
	Kind       ClassKind
	Name       Name
	TypeParams []*TypeParam
	Members    []Member // in source order: *FieldDecl, *CtorDecl, *MethodDecl, *SnapshotDecl, *BadMember
}

// Fields returns the fields in source order.
func (d *ClassDecl) Fields() []*FieldDecl { return membersOf[*FieldDecl](d) }

// Methods returns the methods in source order.
func (d *ClassDecl) Methods() []*MethodDecl { return membersOf[*MethodDecl](d) }

// Ctors returns the constructors in source order; a correct class has at most one.
func (d *ClassDecl) Ctors() []*CtorDecl { return membersOf[*CtorDecl](d) }

func membersOf[M Member](d *ClassDecl) []M {
	var out []M
	for _, m := range d.Members {
		if x, ok := m.(M); ok {
			out = append(out, x)
		}
	}
	return out
}

// TypeParam is one name in `<T, U>` behind the name of a class or function.
type TypeParam struct {
	Loc
	Name Name
}

// EnumDecl is `enum Name { A, B(int x) }`.
type EnumDecl struct {
	Loc
	Doc    *CommentGroup
	Name   Name
	Values []*EnumValue
}

// EnumValue is one alternative of an enum, with its payload if it has one.
type EnumValue struct {
	Loc
	Doc     *CommentGroup
	Name    Name
	Payload []*Param // nil without parentheses
}

// ConstDecl is `const T name = value;` or `const name = value;`.
type ConstDecl struct {
	Loc
	Doc   *CommentGroup
	Type  Type // nil if it is inferred
	Name  Name
	Value Expr
}

// FuncDecl is a free function. The function `main` is an ordinary FuncDecl.
type FuncDecl struct {
	Loc
	Doc *CommentGroup
	Signature
	Body   *Block // nil if GoBody
	GoBody bool   // `= go;`
}

// IsMain reports whether this is the program's entry.
func (d *FuncDecl) IsMain() bool { return d.Name.Text == "main" }

// TestDecl is `test "name" { … }`.
type TestDecl struct {
	Loc
	Doc  *CommentGroup
	Name *StringLit // never interpolated
	Body *Block
}

// ExternGoDecl is `extern go "path" { types and functions }`.
type ExternGoDecl struct {
	Loc
	Doc   *CommentGroup
	Path  *StringLit   // never interpolated
	Items []ExternItem // in source order: *ExternType, *ExternFunc
}

// Types returns the types in source order.
func (d *ExternGoDecl) Types() []*ExternType { return itemsOf[*ExternType](d) }

// Funcs returns the functions and methods in source order.
func (d *ExternGoDecl) Funcs() []*ExternFunc { return itemsOf[*ExternFunc](d) }

func itemsOf[I ExternItem](d *ExternGoDecl) []I {
	var out []I
	for _, item := range d.Items {
		if x, ok := item.(I); ok {
			out = append(out, x)
		}
	}
	return out
}

// ExternType is one bound Go type: `type T;`.
type ExternType struct {
	Loc
	Doc  *CommentGroup
	Name Name
}

// ExternFunc is one bound Go function, `[pure] [ro] R f(…) [error];`, or a method of a bound type: `… R T.f(…) [error];`.
type ExternFunc struct {
	Loc
	Doc *CommentGroup
	Signature
	Recv  *Name // the type that it is a method of; nil for a function
	Error *Name // the word `error`, if the Go function returns one; else nil
}

// BadDecl stands for source at the top level that is not a declaration. The
// error has been reported; later passes skip it silently.
type BadDecl struct{ Loc }

// Signature is what functions, methods and bound Go functions share.
type Signature struct {
	Internal, RO, Pure, Yield Span // of the modifier; not valid if it is absent. Yield: the result is a yield reference
	Result                    Type // NamedType "void" if there is none
	Name                      Name
	TypeParams                []*TypeParam
	Params                    []*Param
}

// IsInternal reports whether `internal` is written.
func (s *Signature) IsInternal() bool { return s.Internal.IsValid() }

// IsRO reports whether `ro` is written.
func (s *Signature) IsRO() bool { return s.RO.IsValid() }

// IsPure reports whether `pure` is written.
func (s *Signature) IsPure() bool { return s.Pure.IsValid() }

// IsYield reports whether the result is declared `yield`.
func (s *Signature) IsYield() bool { return s.Yield.IsValid() }

// Param is `[yield] T name`.
type Param struct {
	Loc
	Yield Span // of the modifier; not valid if it is absent
	Type  Type
	Name  Name
}

// IsYield reports whether the parameter is declared `yield`.
func (p *Param) IsYield() bool { return p.Yield.IsValid() }

// FieldDecl is `[yield] T name [= init];`, with `key(…)` and `index(…)` behind the
// name of a table.
type FieldDecl struct {
	Loc
	Doc     *CommentGroup
	Yield   Span // of the modifier; not valid if it is absent
	Type    Type
	Name    Name
	Clauses []*TableClause
	Init    Expr // nil if there is none
}

// TableClause is `key(column)` or `index(column, …)`.
type TableClause struct {
	Loc
	Index   bool // else it is the key
	Columns []Name
}

// IsYield reports whether the field is declared `yield`.
func (d *FieldDecl) IsYield() bool { return d.Yield.IsValid() }

// CtorDecl is `Name(params) { … }` in a class.
type CtorDecl struct {
	Loc
	Doc    *CommentGroup
	Name   Name // as written; the parser has checked that it is the class's
	Params []*Param
	Body   *Block
}

// MethodDecl is a method with its body, or `= go;`.
type MethodDecl struct {
	Loc
	Doc *CommentGroup
	Signature
	Body   *Block // nil if GoBody
	GoBody bool   // `= go;`
}

// SnapshotDecl is `snapshot { … }` in an actor class: it runs on a copy of an actor's state,
// and what it leaves is what snapshots contain of the actor.
type SnapshotDecl struct {
	Loc
	Doc     *CommentGroup
	WordPos Span // of the word `snapshot`
	Body    *Block
}

// BadMember stands for source in a class that is not a member.
type BadMember struct{ Loc }

func (*ClassDecl) decl()    {}
func (*EnumDecl) decl()     {}
func (*ConstDecl) decl()    {}
func (*FuncDecl) decl()     {}
func (*TestDecl) decl()     {}
func (*ExternGoDecl) decl() {}
func (*BadDecl) decl()      {}

func (*ExternType) externItem() {}
func (*ExternFunc) externItem() {}

func (*FieldDecl) member()    {}
func (*CtorDecl) member()     {}
func (*MethodDecl) member()   {}
func (*SnapshotDecl) member() {}
func (*BadMember) member()    {}
