package grammar

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// parseMembers reads the members of a class; see parseStmts.
func (p *parser) parseMembers(lex *lexer.PeekingLexer) (membersNode, error) {
	p.enter(lex)
	n := &members{Loc: ast.At(p.at(p.cur).AtStart())}
	for {
		m, err := p.parseMember(lex)
		if err == participle.NextMatch {
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, m)
	}
}

// parseMember reads one member of a class. What is wrong with it is reported
// here and leaves a BadMember; only a fatal error is returned.
func (p *parser) parseMember(lex *lexer.PeekingLexer) (ast.Member, error) {
	p.enter(lex)
	start, open := p.cur, len(p.open)
	if k := p.kind(start); k == RBrace || k == EOF {
		return nil, participle.NextMatch
	}
	known := len(p.diags)
	m, err := p.member(lex)
	if err == nil {
		return m, nil
	}
	err = p.blame(start, known, foreignMembers, err)
	if err := p.recover(lex, start, open, err); err != nil {
		return nil, err
	}
	return &ast.BadMember{Loc: p.loc(start)}, nil
}

func (p *parser) member(lex *lexer.PeekingLexer) (ast.Member, error) {
	start := p.cur
	m := &ast.MethodDecl{Doc: p.doc(start)}
	p.skipModifiers()
	if p.before(p.cur) == '~' { // a destructor, whose first character has been reported
		p.reported = p.cur
		return nil, p.fail(p.cur, p.expected(p.cur, "a member"))
	}
	if err := p.modifiers(lex, &m.Signature); err != nil {
		return nil, err
	}
	if p.kind(p.cur).IsName() && p.kind(p.cur+1) == LParen {
		return p.ctor(lex, start, &m.Signature)
	}
	if p.kind(p.cur) == Ident && p.text(p.cur) == "snapshot" && p.kind(p.cur+1) == LBrace {
		return p.snapshot(lex, start, &m.Signature)
	}
	name, ok := p.declaresVar(p.cur)
	switch {
	case p.kind(p.cur) == Var:
		return nil, p.fail(p.cur, diag.New(diag.UnexpectedToken, p.at(p.cur), "a field is declared with its type, not with `var`"))
	case !ok && !(name > 0 && p.kind(name).IsKeyword() && p.endsName(name+1)): // parseName reports a keyword
		return nil, p.fail(max(name, p.cur), p.noMember(name))
	}
	if k := p.kind(name + 1); k != LParen && k != Less {
		return p.field(lex, start, &m.Signature)
	}
	foreign, at := p.functionWord(), p.cur
	body, err := p.signature(lex, &m.Signature)
	if err != nil {
		return nil, err
	}
	if foreign {
		p.noteFunctionWord(at, methodHelp, &m.Signature)
	}
	m.Loc, m.Body, m.GoBody = p.loc(start), body.block, body.goBody
	return m, nil
}

// noMember is the error that no member starts at the current token; name is
// the index behind the type, or -1.
func (p *parser) noMember(name int) diag.Diagnostic {
	switch k := p.kind(p.cur); k {
	case Const:
		return diag.New(diag.NestedDeclaration, p.at(p.cur), "`const` cannot be declared within a class").
			WithHelp("a constant stands at the top level; a method that writes nothing is `ro` in an actor, and needs no word in a class")
	case Class, Actorclass, Enum, Extern:
		return diag.New(diag.NestedDeclaration, p.at(p.cur), "`%s` cannot be declared within a class", k).
			WithHelp("move it out of the class; is a `}` missing above?")
	case Async, Event:
		return diag.New(diag.MisplacedModifier, p.at(p.cur), "`%s` decorates calls, not methods", k).
			WithHelp("the call says how: `async a.m();` or `event a.m();`").
			WithFix("remove it", diag.Replace(p.at(p.cur).To(p.at(p.cur+1).AtStart()), ""))
	}
	if name > 0 {
		return p.expected(name, "the name of a field or method")
	}
	return p.expected(p.cur, "a field, a constructor, a method or `}`")
}

func (p *parser) field(lex *lexer.PeekingLexer, start int, s *ast.Signature) (ast.Member, error) {
	for _, m := range []ast.Span{s.Internal, s.RO, s.Pure} {
		if m.IsValid() {
			p.note(start, diag.New(diag.MisplacedModifier, m, "`%s` is for methods, not for fields", m.Text()).
				WithFix("remove it", diag.Replace(m, "")))
		}
	}
	g, err := run(p, p.prods.field, lex)
	if err != nil {
		return nil, err
	}
	d := &ast.FieldDecl{Loc: p.loc(start), Doc: p.doc(start), Yield: s.Yield, Type: g.Type, Name: *g.Name.(*ast.Name), Init: g.Init}
	for _, c := range g.Clauses {
		d.Clauses = append(d.Clauses, c.(*ast.TableClause))
	}
	return d, nil
}

// parseTableClause reads `key(a)` or `index(a, b)` behind the name of a field.
func (p *parser) parseTableClause(lex *lexer.PeekingLexer) (clauseNode, error) {
	p.enter(lex)
	start := p.cur
	if p.kind(start) != Ident || p.kind(start+1) != LParen {
		return nil, participle.NextMatch
	}
	word := p.text(start)
	if word != "key" && word != "index" {
		return nil, participle.NextMatch
	}
	g, err := run(p, p.prods.clause, lex)
	if err != nil {
		return nil, err
	}
	c := &ast.TableClause{Loc: p.loc(start), Index: word == "index"}
	for _, n := range append([]nameNode{g.First}, g.Rest...) {
		c.Columns = append(c.Columns, *n.(*ast.Name))
	}
	return c, nil
}

// unmodified reports the modifiers of a member that takes none.
func (p *parser) unmodified(start int, what string, s *ast.Signature) {
	for _, m := range []ast.Span{s.Internal, s.RO, s.Pure, s.Yield} {
		if m.IsValid() {
			p.note(start, diag.New(diag.MisplacedModifier, m, "%s takes no `%s`", what, m.Text()).
				WithFix("remove it", diag.Replace(m, "")))
		}
	}
}

// snapshot reads `snapshot { … }`. The word is a name everywhere else: no other member has a
// brace behind its first word.
func (p *parser) snapshot(lex *lexer.PeekingLexer, start int, s *ast.Signature) (ast.Member, error) {
	at := p.at(p.cur)
	p.unmodified(start, "a snapshot block", s)
	g, err := run(p, p.prods.snapshot, lex)
	if err != nil {
		return nil, err
	}
	return &ast.SnapshotDecl{Loc: p.loc(start), Doc: p.doc(start), WordPos: at, Body: g.Body.(*ast.Block)}, nil
}

func (p *parser) ctor(lex *lexer.PeekingLexer, start int, s *ast.Signature) (ast.Member, error) {
	at := p.cur
	p.unmodified(start, "a constructor", s)
	if word := p.text(at); word != p.className && foreignMembers[word] == constructor {
		p.note(at, foreignWord(p.at(at), constructor).WithFix("name it "+p.className, diag.Replace(p.at(at), p.className)))
	} else if word == "snapshot" && word != p.className {
		p.note(at, diag.New(diag.ConstructorName, p.at(at), "a method needs a result type, and a snapshot block has no parameters").
			WithHelp("write `snapshot { … }` for what snapshots contain of an actor, or `void snapshot(…)` if this is a method"))
	} else if word != p.className {
		p.note(at, diag.New(diag.ConstructorName, p.at(at), "a method needs a result type, and the constructor is called `%s`", p.className).
			WithHelp("write `void %s(…)` if this is a method", word).
			WithFix("make it a method without result", diag.InsertBefore(p.at(at), "void ")))
	}
	g, err := run(p, p.prods.ctor, lex)
	if err != nil {
		return nil, err
	}
	return &ast.CtorDecl{Loc: p.loc(start), Doc: p.doc(start), Name: *g.Name.(*ast.Name), Params: g.Params.(*params).list, Body: g.Body.(*ast.Block)}, nil
}

// parseParams reads `(T a, yield U b)`. An error in it is reported and
// skipped up to the `)`, so that the body is read all the same.
func (p *parser) parseParams(lex *lexer.PeekingLexer) (paramsNode, error) {
	p.enter(lex)
	start := p.cur
	if p.kind(start) != LParen {
		return nil, participle.NextMatch
	}
	list := &params{}
	if err := p.paramList(lex, list); err != nil {
		var e *syntaxError
		end := p.headEnd(start)
		if end == 0 || !errors.As(err, &e) || p.gaveUp != nil || e.index > end {
			return nil, err
		}
		p.report(e)
		p.cur = max(p.cur, end)
		list.list = nil
	}
	p.leave(lex)
	list.Loc = p.loc(start)
	return list, nil
}

// paramList reads the parameters and the `)` behind the current token.
func (p *parser) paramList(lex *lexer.PeekingLexer, to *params) error {
	p.cur++
	p.leave(lex)
	for first := true; first || p.kind(p.cur) == Comma; first = false {
		if first && p.kind(p.cur) == RParen {
			break
		}
		if !first {
			p.cur++
			p.leave(lex)
		}
		param, err := p.param(lex)
		if err != nil {
			return err
		}
		to.list = append(to.list, param)
	}
	if p.kind(p.cur) != RParen {
		d := p.expected(p.cur, "`,` or `)`")
		switch {
		case p.kind(p.cur) == Assign:
			d = d.WithHelp("a parameter has no default: every call gives every argument")
		case p.isEllipsis(p.cur): // T xs...
			d = d.WithHelp(fixedParameters, p.text(p.cur-2))
		}
		return p.fail(p.cur, d)
	}
	p.cur++
	return nil
}

// fixedParameters has the type of an element.
const fixedParameters = "the number of parameters is fixed; take a vector: `vector<%s> xs`"

// isEllipsis reports whether `...` stands at token i.
func (p *parser) isEllipsis(i int) bool {
	return p.kind(i) == Dot && p.touches(i, Dot) && p.touches(i+1, Dot)
}

// param reads `[yield] T name`.
func (p *parser) param(lex *lexer.PeekingLexer) (*ast.Param, error) {
	start := p.cur
	param := &ast.Param{}
	if p.kind(start) == Yield {
		param.Yield = p.at(start)
		p.cur++
		p.leave(lex)
	}
	if i := p.cur; p.kind(i).IsName() && (p.kind(i+1) == Comma || p.kind(i+1) == RParen) {
		p.note(i, p.expected(i+1, "a parameter with type and name").WithHelp("write `int %s`, or whatever its type is", p.text(i)))
		param.Type, param.Name = &ast.BadType{Loc: ast.At(p.at(i).AtStart())}, p.name(i)
		p.cur++
		param.Loc = p.loc(start)
		return param, nil
	}
	if i := p.cur; p.isEllipsis(i) { // ...T xs
		return nil, p.fail(i, p.expected(i, "a parameter such as `int n`").WithHelp(fixedParameters, p.text(i+3)))
	}
	if i := p.cur; p.kind(i).IsName() && p.isEllipsis(i+1) { // T... xs
		return nil, p.fail(i+1, p.expected(i+1, "a name").WithHelp(fixedParameters, p.text(i)))
	}
	if !startsType(p.kind(p.cur)) {
		return nil, p.fail(p.cur, p.expected(p.cur, "a parameter such as `int n`"))
	}
	t, err := p.typ()
	if err != nil {
		return nil, err
	}
	name, err := p.parseName(lex)
	if err == participle.NextMatch {
		d := p.expected(p.cur, "a name")
		switch p.kind(p.cur) {
		case Star, Amp:
			d = d.WithHelp("%s", noPointer)
		case Dot:
			d = d.WithHelp(fixedParameters, p.text(p.cur-1))
		case Colon:
			d = d.WithHelp("the type stands before the name: `int %s`", p.text(p.cur-1))
		}
		return nil, p.fail(p.cur, d)
	}
	if err != nil {
		return nil, err
	}
	param.Loc, param.Type, param.Name = p.loc(start), t, *name.(*ast.Name)
	p.nameLocal(param.Name)
	return param, nil
}
