package format

import (
	"sort"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// role says what a token is where its kind alone does not.
type role uint8

const (
	plain       role = iota
	typeAngle        // < or > around type arguments and parameters
	prefix           // an operator before its operand
	literalTop       // [ that starts a vector, set or map
	caseBrace        // { of a switch or match
	bodyBrace        // { that may stay on one line with its }
	listBrace        // { of an enum
	clause           // after, every and as behind an event, retry and then behind a call of a Go function
	tableClause      // key and index behind the name of a table
)

// roles gives every token its role, from the tree.
func roles(file *ast.File, toks []grammar.Token) []role {
	m := marker{toks: toks, roles: make([]role, len(toks))}
	ast.Inspect(file, func(n ast.Node) bool {
		m.node(n)
		return true
	})
	return m.roles
}

type marker struct {
	toks  []grammar.Token
	roles []role
}

// at returns the index of the first token at or behind an offset.
func (m *marker) at(off int32) int {
	return sort.Search(len(m.toks), func(i int) bool { return m.toks[i].Start >= off })
}

// next marks the first token of kind k at or behind an offset.
func (m *marker) next(off int32, k grammar.Kind, r role) {
	for i := m.at(off); i < len(m.toks); i++ {
		if m.toks[i].Kind == k {
			m.roles[i] = r
			return
		}
	}
}

// before marks the last token that is no comment before an offset.
func (m *marker) before(off int32, r role) {
	for i := m.at(off) - 1; i >= 0; i-- {
		if m.toks[i].Kind != grammar.Comment {
			m.roles[i] = r
			return
		}
	}
}

// angles marks the brackets around a list that starts and ends at the spans.
func (m *marker) angles(first, last ast.Span) {
	m.before(first.Start, typeAngle)
	m.next(last.End, grammar.Greater, typeAngle)
}

func (m *marker) typeParams(list []*ast.TypeParam) {
	if len(list) > 0 {
		m.angles(list[0].Span(), list[len(list)-1].Span())
	}
}

func (m *marker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.ClassDecl:
		m.typeParams(n.TypeParams)
		m.next(n.Name.Range.End, grammar.LBrace, bodyBrace)
	case *ast.ExternGoDecl:
		m.next(n.Path.Range.End, grammar.LBrace, bodyBrace)
	case *ast.EnumDecl:
		m.next(n.Name.Range.End, grammar.LBrace, listBrace)
	case *ast.FuncDecl:
		m.typeParams(n.TypeParams)
		m.body(n.Body)
	case *ast.MethodDecl:
		m.typeParams(n.TypeParams)
		m.body(n.Body)
	case *ast.CtorDecl:
		m.body(n.Body)
	case *ast.SnapshotDecl:
		m.body(n.Body)
	case *ast.TestDecl:
		m.body(n.Body)
	case *ast.TableClause:
		m.roles[m.at(n.Range.Start)] = tableClause
	case *ast.GoCall:
		m.before(n.Retry.Span().Start, clause)
		if n.Then != nil {
			m.before(n.Then.Span().Start, clause)
		}
	case *ast.Switch:
		m.next(n.X.Span().End, grammar.LBrace, caseBrace)
	case *ast.Match:
		m.next(n.X.Span().End, grammar.LBrace, caseBrace)
	case ast.Type:
		m.typ(n)
	case ast.Expr:
		m.expr(n)
	}
}

func (m *marker) body(b *ast.Block) {
	if b != nil {
		m.roles[m.at(b.Range.Start)] = bodyBrace
	}
}

// typ marks all angle brackets of a type: it contains no expression.
func (m *marker) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.NamedType:
		if len(t.Args) == 0 {
			return
		}
	case *ast.OptionalType:
		return
	case *ast.VectorType:
		if t.Suffix {
			return
		}
	}
	for i := m.at(t.Span().Start); i < len(m.toks) && m.toks[i].End <= t.Span().End; i++ {
		switch m.toks[i].Kind {
		case grammar.Less:
			if m.roles[i] == typeAngle {
				return // a type around this one has marked it
			}
			m.roles[i] = typeAngle
		case grammar.Greater:
			m.roles[i] = typeAngle
		}
	}
}

func (m *marker) expr(n ast.Expr) {
	switch n := n.(type) {
	case *ast.Unary:
		m.roles[m.at(n.Range.Start)] = prefix
	case *ast.VectorLit, *ast.MapLit:
		m.roles[m.at(n.Span().Start)] = literalTop
	case *ast.ActorRef:
		m.angles(n.Type.Span(), n.Type.Span())
	case *ast.Call:
		if len(n.TypeArgs) > 0 {
			m.angles(n.TypeArgs[0].Span(), n.TypeArgs[len(n.TypeArgs)-1].Span())
		}
		for _, x := range []ast.Expr{n.After, n.Every, n.Name} {
			if x != nil {
				m.before(x.Span().Start, clause)
			}
		}
	}
}
