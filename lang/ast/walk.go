package ast

import "fmt"

// Inspect visits n and all nodes below it, parents before children, in source
// order. If f returns false the children of that node are left out. A nil n
// is ignored.
func Inspect(n Node, f func(Node) bool) { Walk(n, f, nil) }

// Walk is Inspect with a second function that is called for a node after its
// children, also when pre returned false. Either function may be nil.
func Walk(n Node, pre func(Node) bool, post func(Node)) {
	if isNil(n) {
		return
	}
	if pre == nil || pre(n) {
		Children(n, func(c Node) { Walk(c, pre, post) })
	}
	if post != nil {
		post(n)
	}
}

// Children calls f for the direct children of n in source order. Doc comments
// and names are not children; nil children are left out.
func Children(n Node, f func(Node)) {
	v := visitor{f}
	switch n := n.(type) {
	case Decl:
		v.decl(n)
	case Member:
		v.member(n)
	case Stmt:
		v.stmt(n)
	case Expr:
		v.expr(n)
	case Type:
		v.typ(n)
	default:
		v.other(n)
	}
}

type visitor struct{ f func(Node) }

func (v visitor) one(n Node) {
	if !isNil(n) {
		v.f(n)
	}
}

func each[N Node](v visitor, list []N) {
	for _, n := range list {
		v.one(n)
	}
}

func (v visitor) decl(n Decl) {
	switch n := n.(type) {
	case *ClassDecl:
		each(v, n.TypeParams)
		each(v, n.Members)
	case *EnumDecl:
		each(v, n.Values)
	case *ConstDecl:
		v.one(n.Type)
		v.one(n.Value)
	case *FuncDecl:
		v.signature(&n.Signature)
		v.one(n.Body)
	case *TestDecl:
		v.one(n.Name)
		v.one(n.Body)
	case *ExternGoDecl:
		v.one(n.Path)
		each(v, n.Items)
	case *BadDecl:
	default:
		unknown(n)
	}
}

func (v visitor) signature(s *Signature) {
	v.one(s.Result)
	each(v, s.TypeParams)
	each(v, s.Params)
}

func (v visitor) member(n Member) {
	switch n := n.(type) {
	case *FieldDecl:
		v.one(n.Type)
		each(v, n.Clauses)
		v.one(n.Init)
	case *CtorDecl:
		each(v, n.Params)
		v.one(n.Body)
	case *MethodDecl:
		v.signature(&n.Signature)
		v.one(n.Body)
	case *SnapshotDecl:
		v.one(n.Body)
	case *BadMember:
	default:
		unknown(n)
	}
}

func (v visitor) other(n Node) {
	switch n := n.(type) {
	case *File:
		v.one(n.Package)
		each(v, n.Imports)
		each(v, n.Decls)
	case *PackageClause, *TypeParam, *ExternType, *Comment, *CommentGroup, *Name, Name:
	case *ImportDecl:
		v.one(n.Path)
	case *EnumValue:
		each(v, n.Payload)
	case *ExternFunc:
		v.signature(&n.Signature)
	case *Param:
		v.one(n.Type)
	case *LoopValue:
		v.one(n.Type)
	case *SwitchCase:
		each(v, n.Values)
		each(v, n.Body)
	case *MatchCase:
		each(v, n.Patterns)
		each(v, n.Body)
	case *Pattern, *TableClause:
	case *CatchClause:
		v.one(n.Type)
		v.one(n.Body)
	default:
		unknown(n)
	}
}

func (v visitor) typ(n Type) {
	switch n := n.(type) {
	case *NamedType:
		each(v, n.Args)
	case *VectorType:
		v.one(n.Elem)
	case *MapType:
		v.one(n.Key)
		v.one(n.Value)
	case *SetType:
		v.one(n.Elem)
	case *TableType:
		v.one(n.Row)
	case *OptionalType:
		v.one(n.Elem)
	case *PendingType:
		v.one(n.Elem)
	case *BadType:
	default:
		unknown(n)
	}
}

func (v visitor) stmt(n Stmt) {
	switch n := n.(type) {
	case *Block:
		each(v, n.Stmts)
	case *VarDecl:
		v.one(n.Type)
		v.one(n.Init)
	case *Assign:
		v.one(n.LHS)
		v.one(n.RHS)
	case *IncDec:
		v.one(n.X)
	case *Return:
		v.one(n.X)
	case *TailCall:
		v.one(n.X)
	case *GoCall:
		v.one(n.X)
		v.one(n.Retry)
		v.one(n.Then)
	case *Require:
		v.one(n.Cond)
		v.one(n.Msg)
	case *Abort:
		v.one(n.Msg)
	case *Assert:
		v.one(n.Cond)
		v.one(n.Msg)
	case *Delete:
		v.one(n.X)
	case *Cancel:
		v.one(n.Name)
	case *Sleep:
		v.one(n.D)
	case *Advance:
		v.one(n.D)
	case *ExprStmt:
		v.one(n.X)
	case *BadStmt:
		v.one(n.X)
	case *Break, *Continue, *Settle:
	default:
		v.compound(n)
	}
}

func (v visitor) compound(n Stmt) {
	switch n := n.(type) {
	case *If:
		v.one(n.Decl)
		v.one(n.Cond)
		v.one(n.Then)
		v.one(n.Else)
	case *While:
		v.one(n.Cond)
		v.one(n.Body)
	case *For:
		v.one(n.Init)
		v.one(n.Cond)
		v.one(n.Post)
		v.one(n.Body)
	case *ForUpto:
		v.one(n.Type)
		v.one(n.From)
		v.one(n.To)
		v.one(n.Body)
	case *ForEach:
		v.one(n.Type)
		v.one(n.Value)
		v.one(n.X)
		v.one(n.Body)
	case *Switch:
		v.one(n.X)
		each(v, n.Cases)
	case *Match:
		v.one(n.X)
		each(v, n.Cases)
	case *TryCatch:
		v.one(n.Body)
		v.one(n.Catch)
	default:
		unknown(n)
	}
}

func (v visitor) expr(n Expr) {
	switch n := n.(type) {
	case *InterpolatedString:
		each(v, n.Parts)
	case *VectorLit:
		each(v, n.Elems)
	case *MapLit:
		each(v, n.Parts())
	case *Paren:
		v.one(n.X)
	case *Unary:
		v.one(n.X)
	case *Binary:
		v.one(n.X)
		v.one(n.Y)
	case *Coalesce:
		v.one(n.X)
		v.one(n.Y)
	case *Index:
		v.one(n.X)
		v.one(n.I)
	case *Slice:
		v.one(n.X)
		v.one(n.Lo)
		v.one(n.Hi)
	case *Field:
		v.one(n.X)
	case *OptionalField:
		v.one(n.X)
	case *NonNull:
		v.one(n.X)
	case *Call:
		v.one(n.Fun)
		each(v, n.TypeArgs)
		each(v, n.Args)
		v.one(n.After)
		v.one(n.Every)
		v.one(n.Name)
	case *New:
		v.one(n.Type)
		each(v, n.Args)
	case *ActorRef:
		v.one(n.Type)
		v.one(n.Key)
	case *Await:
		v.one(n.X)
	case *Ident, *IntLit, *FloatLit, *DurationLit, *StringLit, *BoolLit, *NullLit, *This, *BadExpr:
	default:
		unknown(n)
	}
}

// unknown makes a node kind that Walk does not know a bug at its first use.
func unknown(n Node) { panic(fmt.Sprintf("ast: Walk does not know %T", n)) }
