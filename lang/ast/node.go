// Package ast declares the syntax tree of .aeon files.
//
// Nodes are plain structs that the parser fills; nothing else can add a kind
// of node, because the marker methods of Decl, Member, Stmt, Expr and Type are
// unexported. Passes that come later keep what they find out in side tables
// and never write into the tree.
package ast

// Node is anything with a place in the source.
type Node interface {
	// Span covers the node from its first to behind its last token.
	Span() Span
	node()
}

// Decl is a declaration at the top level of a file.
type Decl interface {
	Node
	decl()
}

// Member is a declaration in the body of a class.
type Member interface {
	Node
	member()
}

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// Type is a type as written; what it denotes is the checker's business.
type Type interface {
	Node
	typ()
}

// ExternItem is what an `extern go` block binds.
type ExternItem interface {
	Node
	externItem()
}

// Loc is embedded in every node and holds its place.
type Loc struct{ Range Span }

// Span implements Node.
func (l Loc) Span() Span { return l.Range }

func (l Loc) node() {}

// At returns the Loc for a span.
func At(s Span) Loc { return Loc{s} }

// Name is an identifier in a declaring position: not an expression.
type Name struct {
	Loc
	Text string
}

// Exported reports whether the name starts with a capital letter A-Z.
func (n Name) Exported() bool { return n.Text != "" && n.Text[0] >= 'A' && n.Text[0] <= 'Z' }

// Comment is one // or /* */ comment, with its markers.
type Comment struct {
	Loc
	Text string
}

// File is one .aeon file.
type File struct {
	Loc
	Src      *Source
	Package  *PackageClause // nil if it is missing, which is an error
	Imports  []*ImportDecl
	Decls    []Decl
	Comments []*Comment // all comments, in source order
}

// PackageClause is `package name`.
type PackageClause struct {
	Loc
	Name Name
	Doc  *CommentGroup
}

// ImportDecl is `import "path";` or `import alias "path";`.
type ImportDecl struct {
	Loc
	Alias *Name // nil if there is none
	Path  *StringLit
}

// CommentGroup is the comments that stand directly above a declaration.
type CommentGroup struct {
	Loc
	List []*Comment
}

// Text returns the comment without its markers, one line per line.
func (g *CommentGroup) Text() string {
	if g == nil {
		return ""
	}
	return commentText(g.List)
}
