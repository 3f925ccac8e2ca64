package grammar

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func (p *parser) class(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	d := &ast.ClassDecl{Doc: p.doc(start)}
	name := start + 1
	switch p.kind(start) {
	case Actorclass:
		d.Kind = ast.ActorClass
	case Client:
		d.Kind = ast.ClientClass
		name++
	}
	p.className = p.text(name)
	g, err := run(p, p.prods.class, lex)
	if err != nil {
		return nil, p.classHead(name, err)
	}
	d.Loc, d.Name, d.Members = p.loc(start), *g.Name.(*ast.Name), g.Members.(*members).list
	d.TypeParams = typeParamList(g.Params)
	return d, nil
}

// classHead improves the error that is met before the `{` of a class.
func (p *parser) classHead(name int, err error) error {
	var e *syntaxError
	if i := name + 1; errors.As(err, &e) && e.index == i && p.kind(name).IsName() && p.kind(i) != LBrace {
		p.cur = i
		e.diag = p.inheritance(e.diag)
	}
	return err
}

func typeParamList(n typeParamsNode) []*ast.TypeParam {
	if n == nil {
		return nil
	}
	return n.(*typeParams).list
}

// parseTypeParams reads `<T, U>` behind a declared name.
func (p *parser) parseTypeParams(lex *lexer.PeekingLexer) (typeParamsNode, error) {
	p.enter(lex)
	start := p.cur
	if p.kind(start) != Less {
		return nil, participle.NextMatch
	}
	g, err := run(p, p.prods.typeParams, lex)
	if err != nil {
		return nil, err
	}
	t := &typeParams{Loc: p.loc(start)}
	for _, n := range append([]nameNode{g.First}, g.Rest...) {
		name := n.(*ast.Name)
		t.list = append(t.list, &ast.TypeParam{Loc: name.Loc, Name: *name})
	}
	return t, nil
}

func (p *parser) enum(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	g, err := run(p, p.prods.enum, lex)
	if err != nil {
		return nil, err
	}
	d := &ast.EnumDecl{Loc: p.loc(start), Doc: p.doc(start), Name: *g.Name.(*ast.Name)}
	for _, v := range g.Values {
		if v, ok := v.(*ast.EnumValue); ok { // else it was wrong and has been reported
			d.Values = append(d.Values, v)
		}
	}
	return d, nil
}

// parseEnumValue reads one value of an enum with the comma behind it.
func (p *parser) parseEnumValue(lex *lexer.PeekingLexer) (enumValueNode, error) {
	p.enter(lex)
	start, open := p.cur, len(p.open)
	if k := p.kind(start); k == RBrace || k == EOF {
		return nil, participle.NextMatch
	}
	g, err := run(p, p.prods.enumValue, lex)
	if err == nil {
		v := &ast.EnumValue{Loc: p.loc(start), Doc: p.doc(start), Name: *g.Name.(*ast.Name)}
		if g.Payload != nil {
			v.Payload = g.Payload.(*params).list
			if v.Payload == nil {
				v.Payload = []*ast.Param{}
			}
		}
		switch k := p.kind(p.cur); {
		case k == Comma:
			p.cur++
			p.leave(lex)
			return v, nil
		case k == RBrace, k == EOF:
			return v, nil
		case k.IsName():
			before := p.at(p.cur - 1)
			p.note(p.cur, p.expected(p.cur, "`,` or `}`").WithFix("insert ,", diag.InsertAfter(before, ",")))
			return v, nil
		}
		what := p.expected(p.cur, "`,` or `}`")
		if k := p.kind(p.cur); k == Assign {
			p.note(p.cur, what.WithHelp("the values of an enum have no numbers"))
			for k = p.kind(p.cur); k != Comma && k != RBrace && k != Semi && k != EOF; k = p.kind(p.cur) {
				p.cur++
			}
			if k == Comma {
				p.cur++
			}
			p.leave(lex)
			return v, nil
		}
		err = p.fail(p.cur, what)
	}
	if err := p.recover(lex, start, open, err); err != nil {
		return nil, err
	}
	return &marker{p.loc(start)}, nil
}

func (p *parser) constant(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	if p.kind(start+1).IsName() && p.kind(start+2) == Assign {
		g, err := run(p, p.prods.untypedConst, lex)
		if err != nil {
			return nil, err
		}
		return &ast.ConstDecl{Loc: p.loc(start), Doc: p.doc(start), Name: *g.Name.(*ast.Name), Value: g.Value}, nil
	}
	g, err := run(p, p.prods.constant, lex)
	if err != nil {
		return nil, err
	}
	return &ast.ConstDecl{Loc: p.loc(start), Doc: p.doc(start), Type: g.Type, Name: *g.Name.(*ast.Name), Value: g.Value}, nil
}

func (p *parser) test(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	g, err := run(p, p.prods.test, lex)
	if err != nil {
		return nil, err
	}
	return &ast.TestDecl{Loc: p.loc(start), Doc: p.doc(start), Name: g.Name.(*ast.StringLit), Body: g.Body.(*ast.Block)}, nil
}

func (p *parser) extern(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	g, err := run(p, p.prods.extern, lex)
	if err != nil {
		return nil, err
	}
	d := &ast.ExternGoDecl{Loc: p.loc(start), Doc: p.doc(start), Path: g.Path.(*ast.StringLit)}
	for _, item := range g.Items {
		if item, ok := item.(ast.ExternItem); ok { // else it was wrong and has been reported
			d.Items = append(d.Items, item)
		}
	}
	return d, nil
}

// parseExternItem reads one bound Go type, function or method.
func (p *parser) parseExternItem(lex *lexer.PeekingLexer) (externNode, error) {
	p.enter(lex)
	start, open := p.cur, len(p.open)
	if k := p.kind(start); k == RBrace || k == EOF {
		return nil, participle.NextMatch
	}
	read := p.externFunc
	if p.text(start) == "type" && (p.kind(start+1).IsName() && p.kind(start+2) != LParen && p.kind(start+2) != Dot || p.misnamed(start+1)) {
		read = p.externType
	}
	item, err := read(lex)
	if err == nil {
		return item, nil
	}
	if err := p.recover(lex, start, open, err); err != nil {
		return nil, err
	}
	return &marker{p.loc(start)}, nil
}

func (p *parser) externType(lex *lexer.PeekingLexer) (externNode, error) {
	start := p.cur
	g, err := run(p, p.prods.externType, lex)
	if err != nil {
		return nil, err
	}
	return &ast.ExternType{Loc: p.loc(start), Doc: p.doc(start), Name: *g.Name.(*ast.Name)}, nil
}

func (p *parser) externFunc(lex *lexer.PeekingLexer) (externNode, error) {
	start := p.cur
	f := &ast.ExternFunc{Doc: p.doc(start)}
	if err := p.modifiers(lex, &f.Signature); err != nil {
		return nil, err
	}
	g, err := run(p, p.prods.externFunc, lex)
	if err != nil {
		return nil, err
	}
	f.Result, f.Name, f.Params = g.Result, *g.Name.(*ast.Name), g.Params.(*params).list
	if g.Sub != nil {
		f.Recv, f.Name = g.Name.(*ast.Name), *g.Sub.(*ast.Name)
	}
	if g.Error != nil {
		name := p.name(g.Error.Pos.Offset)
		f.Error = &name
	}
	f.Loc = p.loc(start)
	return f, nil
}

// modifiers reads `internal`, `ro`, `pure` and `yield` in any order, each once.
func (p *parser) modifiers(lex *lexer.PeekingLexer, s *ast.Signature) error {
	for {
		i := p.cur
		var to *ast.Span
		switch p.kind(i) {
		case Ro:
			to = &s.RO
		case Yield:
			to = &s.Yield
		case Pure:
			if p.isModifier(i, 4) {
				to = &s.Pure
			}
		case Internal:
			if p.isModifier(i, 4) {
				to = &s.Internal
			}
		}
		if to == nil {
			p.leave(lex)
			return nil
		}
		if to.IsValid() {
			p.note(i, diag.New(diag.MisplacedModifier, p.at(i), "a second `%s`", p.kind(i)).
				With(*to, "the first one").
				WithFix("remove it", diag.Replace(p.at(i).To(p.at(i+1).AtStart()), "")))
		}
		*to = p.at(i)
		p.cur++
	}
}

// isModifier reports whether token i is a modifier; of more than most in a row the contextual ones are names. A reserved word may stand
// where the name must have been meant: parseName reports it.
func (p *parser) isModifier(i, most int) bool {
	switch p.kind(i) {
	case Ro, Yield:
		return true
	case Pure, Internal:
		name, ok := p.declaresVar(i + 1)
		return name > i+1 && (ok || p.kind(name).IsKeyword() && p.endsName(name+1)) || most > 1 && p.isModifier(i+1, most-1)
	}
	return false
}

// declWords start a declaration.
var declWords = []string{"actorclass", "class", "enum", "const", "extern", "test", "client", "import"}

func (p *parser) function(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	d := &ast.FuncDecl{Doc: p.doc(start)}
	if err := p.modifiers(lex, &d.Signature); err != nil {
		return nil, err
	}
	if name, ok := p.declaresVar(p.cur); !ok && !(name > 0 && p.kind(name).IsKeyword() && p.kind(name+1) == LParen) || p.kind(p.cur) == Var {
		what := p.expected(start, "a declaration")
		if p.cur > start || name > p.cur && p.kind(name).IsKeyword() {
			what = p.expected(max(name, p.cur), "the result type and name of a function")
		}
		if p.kind(p.cur) == LParen || p.kind(p.cur+1) == Comma {
			return nil, p.fail(p.cur, what.WithHelp("a function has one result; several are the fields of a class"))
		}
		if p.kind(p.cur) == Test && p.kind(p.cur+1) == LParen {
			return nil, p.fail(p.cur, what.WithHelp("write `test \"name\" { … }`"))
		}
		if p.kind(p.cur).IsName() && p.kind(p.cur+1) == LParen && !p.bodyFollows(p.cur+1) {
			return nil, p.fail(p.cur, what.WithHelp("statements stand in functions: void main() { … }"))
		}
		if p.kind(p.cur).IsName() && p.kind(p.cur+1) == LParen {
			return nil, p.fail(p.cur, diag.New(diag.UnexpectedToken, p.at(p.cur), "expected the result type of the function before its name").
				WithHelp("a function that returns nothing is declared `void`").
				WithFix("declare it void", diag.InsertBefore(p.at(p.cur), "void ")))
		}
		if p.kind(start) == Var || p.kind(start) == If || p.kind(start) == For || p.kind(start) == Return {
			what = what.WithHelp("statements stand in functions: void main() { … }")
		}
		return nil, p.fail(start, p.suggest(what, start, declWords...))
	} else if k := p.kind(name + 1); k != LParen && k != Less {
		d := p.expected(name+1, "`(` and parameters")
		if k == Semi || k == Assign {
			d = diag.New(diag.UnexpectedToken, p.at(name), "a variable cannot stand outside of a class or function").
				WithHelp("state lives in actors; what never changes is declared with const")
		}
		if k == LBrace && p.kind(p.cur) == Test {
			d = d.WithHelp("write `test \"%s\" { … }`", p.text(name))
		}
		return nil, p.fail(name+1, p.suggest(d, start, declWords...))
	}
	foreign, at := p.functionWord(), p.cur
	body, err := p.signature(lex, &d.Signature)
	if err != nil {
		return nil, err
	}
	if foreign {
		p.noteFunctionWord(at, functionHelp, &d.Signature)
	}
	d.Loc, d.Body, d.GoBody = p.loc(start), body.block, body.goBody
	return d, nil
}

// signature reads a function or method from its result type on.
func (p *parser) signature(lex *lexer.PeekingLexer, s *ast.Signature) (*body, error) {
	g, err := run(p, p.prods.function, lex)
	if err != nil {
		return nil, err
	}
	s.Result, s.Name, s.TypeParams, s.Params = g.Result, *g.Name.(*ast.Name), typeParamList(g.TypeParams), g.Params.(*params).list
	return g.Body.(*body), nil
}

// parseBody reads `{ … }` or `= go;`.
func (p *parser) parseBody(lex *lexer.PeekingLexer) (bodyNode, error) {
	p.enter(lex)
	start := p.cur
	switch p.kind(start) {
	case LBrace:
		block, err := p.block(lex)
		if err != nil {
			return nil, err
		}
		return &body{Loc: p.loc(start), block: block}, nil
	case Assign:
		p.cur++
		if p.kind(p.cur) != Go {
			return nil, p.fail(p.cur, p.expected(p.cur, "`go`").WithHelp("a body is `{ … }`, or `= go;` if it is written in Go"))
		}
		p.cur++
		if _, err := p.semi(); err != nil {
			return nil, err
		}
		p.leave(lex)
		return &body{Loc: p.loc(start), goBody: true}, nil
	}
	return nil, participle.NextMatch
}
