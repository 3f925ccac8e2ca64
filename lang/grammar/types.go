package grammar

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func startsType(k Kind) bool { return k.IsName() || k == Void || k == Pending }

// parseType reads a type with its suffixes `?` and `[]`.
func (p *parser) parseType(lex *lexer.PeekingLexer) (ast.Type, error) {
	p.enter(lex)
	start := p.cur
	if !startsType(p.kind(start)) {
		return nil, participle.NextMatch
	}
	if err := p.push(); err != nil {
		return nil, err
	}
	defer p.pop()
	t, err := p.suffixes(lex, start)
	p.leave(lex)
	return t, err
}

func (p *parser) suffixes(lex *lexer.PeekingLexer, start int) (ast.Type, error) {
	t, err := p.baseType(lex)
	if err != nil {
		return nil, err
	}
	optional := false
	for height := p.depth; ; height++ {
		if height > NestingMax {
			return nil, p.tooDeep(p.cur)
		}
		switch k := p.kind(p.cur); {
		case k == Quest && !optional:
			p.cur++
			t, optional = &ast.OptionalType{Loc: p.loc(start), Elem: t}, true
		case k == Quest || k == QuestQuest:
			return nil, p.fail(p.cur, diag.New(diag.UnexpectedToken, p.at(p.cur), "a type that is optional already cannot be made so again").
				WithHelp("write a single `?`"))
		case k == LBrack && p.kind(p.cur+1) == RBrack:
			p.cur += 2
			t, optional = &ast.VectorType{Loc: p.loc(start), Elem: t, Suffix: true}, false
		default:
			return t, nil
		}
	}
}

// baseType reads a type without suffixes. The contextual words are types of
// their own only with type arguments: a class may be called `set`.
func (p *parser) baseType(lex *lexer.PeekingLexer) (ast.Type, error) {
	start, k := p.cur, p.kind(p.cur)
	if p.kind(start+1) == Less {
		switch k {
		case Vector:
			g, err := run(p, p.prods.vector, lex)
			if err != nil {
				return nil, err
			}
			return &ast.VectorType{Loc: p.loc(start), Elem: g.Elem}, nil
		case Set:
			g, err := run(p, p.prods.set, lex)
			if err != nil {
				return nil, err
			}
			return &ast.SetType{Loc: p.loc(start), Elem: g.Elem}, nil
		case Table:
			g, err := run(p, p.prods.table, lex)
			if err != nil {
				return nil, err
			}
			return &ast.TableType{Loc: p.loc(start), Row: g.Row}, nil
		case Map:
			g, err := run(p, p.prods.mapType, lex)
			if err != nil {
				return nil, err
			}
			return &ast.MapType{Loc: p.loc(start), Key: g.Key, Value: g.Value}, nil
		}
	}
	switch k {
	case Void:
		p.cur++
		return &ast.NamedType{Loc: p.loc(start), Name: p.name(start)}, nil
	case Pending:
		g, err := run(p, p.prods.pending, lex)
		if err != nil {
			return nil, err
		}
		return &ast.PendingType{Loc: p.loc(start), Elem: g.Elem}, nil
	}
	if next := p.kind(start + 1); next != Less && next != Dot {
		p.cur++ // by far the most frequent case, and no production is needed for it
		return &ast.NamedType{Loc: p.loc(start), Name: p.name(start)}, nil
	}
	g, err := run(p, p.prods.named, lex)
	if err != nil {
		return nil, err
	}
	t := &ast.NamedType{Loc: p.loc(start), Name: *g.Name.(*ast.Name), Args: g.Args}
	if g.Sub != nil {
		t.Pkg, t.Name = g.Name.(*ast.Name), *g.Sub.(*ast.Name)
	}
	return t, nil
}

// typ reads a type from within an expression.
func (p *parser) typ() (ast.Type, error) {
	lex := p.lex
	p.leave(lex)
	t, err := p.parseType(lex)
	p.enter(lex)
	if err == participle.NextMatch {
		return nil, p.fail(p.cur, p.expected(p.cur, "a type"))
	}
	return t, err
}

// typeArgs reads `<T, U>` in an expression.
func (p *parser) typeArgs() ([]ast.Type, error) {
	open := p.cur
	var list []ast.Type
	for {
		p.cur++
		t, err := p.typ()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		if p.kind(p.cur) != Comma {
			return list, p.expectClosing(open, Greater)
		}
	}
}
