package grammar

import (
	"errors"
	"fmt"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// parseFile reads the package clause, the imports and the declarations.
func (p *parser) parseFile() {
	i := 0
	p.end = len(p.sig)
	hasPackage := false
	for _, t := range p.toks {
		hasPackage = hasPackage || t.Kind == Package
	}
	if !hasPackage {
		p.note(0, p.missingPackage())
	}
	for i < len(p.sig) && len(p.diags) <= errorsMax {
		p.end = len(p.sig)
		if k := p.kind(i); k == RBrace || k == Semi || k == RParen || k == RBrack {
			i = p.strayClosing(i)
			continue
		}
		end := p.declEnd(i)
		p.declaration(i, end)
		i = max(i+1, p.cur)
	}
}

func (p *parser) missingPackage() diag.Diagnostic {
	d := diag.New(diag.MissingPackage, p.at(0).AtStart(), "expected a package clause, found %s", p.describe(0)).
		WithHelp("a file starts with the name of its package, as in Go: package steakhouse").
		WithFix("insert a package clause", diag.InsertBefore(p.at(0), "package main\n\n"))
	return p.suggest(d, 0, "package")
}

// strayClosing reports brackets or semicolons that stand between declarations,
// and skips the run of them.
func (p *parser) strayClosing(start int) int {
	i := start + 1
	for p.kind(i) == p.kind(start) {
		i++
	}
	what := "`" + p.kind(start).String() + "`"
	d := diag.New(diag.StrayClosing, p.at(start), "%s without what it closes", what)
	if p.kind(start) == Semi {
		d = diag.New(diag.StrayClosing, p.at(start), "no `;` stands behind a declaration that ends in `}`, a package clause or an import")
	}
	p.base = start
	p.note(start, d.WithFix("remove it", diag.Replace(p.span(start, i), "")))
	return i
}

// declEnd returns the index behind the declaration that starts at token i.
// Only its brackets are looked at, so that an error in one declaration cannot
// reach into the next.
func (p *parser) declEnd(i int) int {
	p.bare = nil
	switch p.kind(i) {
	case Package:
		return min(i+2, len(p.sig))
	case Import:
		if p.kind(i+1).IsName() && p.isString(i+2) {
			return min(i+3, len(p.sig))
		}
		if p.isString(i + 1) {
			return min(i+2, len(p.sig))
		}
		j := i + 1
		for j < len(p.sig) && !p.startsLine(j) {
			j++
		}
		return j
	}
	if importWords[p.text(i)] && p.kind(i) == Ident && p.kind(i+1) != LParen && p.kind(i+2) != LParen {
		for j := i + 1; j <= len(p.sig); j++ { // it has no brace that would end it
			if j == len(p.sig) || p.startsLine(j) || p.kind(j-1) == Semi {
				return j
			}
		}
	}
	for j := i; j < len(p.sig); j++ {
		switch k := p.kind(j); {
		case k == LBrace && p.match[j] > 0:
			return int(p.match[j]) + 1
		case k == LBrace:
			var end int
			p.bare, end = p.missingBraces(i)
			return max(end, j+1)
		case k == Semi:
			return j + 1
		case k == RBrace:
			return max(j, i+1)
		case j > i && p.startsDecl(j) && p.startsLine(j):
			return j
		}
	}
	return len(p.sig)
}

// declaration reads the declaration in the tokens [from, to) and adds it to
// the file. If it cannot be read the error is reported and a BadDecl added.
func (p *parser) declaration(from, to int) {
	p.base, p.cur, p.end = from, from, to
	p.depth, p.height, p.open, p.inCases, p.className, p.gaveUp = 0, 0, p.open[:0], false, "", nil
	p.nullNames = nil
	defer func() {
		if r := recover(); r != nil {
			// Participle panics on a production that consumes nothing, which the
			// fuzz targets look for; a user still gets a place and no crash.
			p.end, p.cur, p.gaveUp = to, to, nil
			p.fatal(from, to, p.fail(from, diag.New(diag.Internal, p.at(from), "the compiler failed on this declaration: %v", r)))
		}
	}()
	if err := p.tooLarge(from, to); err != nil {
		p.fatal(from, to, err)
		return
	}
	lex := p.upgrade(from, to)
	p.enter(lex)
	decl, err := p.decl(lex)
	if err == nil && p.cur < to && p.gaveUp == nil {
		err = p.fail(p.cur, p.expected(p.cur, "the end of the declaration"))
	}
	if err != nil || p.gaveUp != nil {
		p.fatal(from, to, err)
		return
	}
	if decl != nil {
		p.file.Decls = append(p.file.Decls, decl)
	}
	p.cur = to
}

// fatal reports an error that the whole declaration is lost to.
func (p *parser) fatal(from, to int, err error) {
	var e *syntaxError
	if !errors.As(err, &e) {
		e = &syntaxError{diag: p.expected(p.cur, "something else"), index: p.cur}
	}
	if p.gaveUp != nil {
		e, p.gaveUp = p.gaveUp, nil
	}
	if from > 0 || p.reported != 0 { // else the file has no package clause, and that is the error
		p.report(e)
	}
	p.cur = to
	p.file.Decls = append(p.file.Decls, &ast.BadDecl{Loc: p.loc(from)})
}

// tooLarge refuses a declaration that would cost too much before any of it is
// read: brackets nested too deep, or too many tokens.
func (p *parser) tooLarge(from, to int) error {
	if to-from > declTokensMax {
		return p.fail(from, diag.New(diag.FileTooLarge, p.at(from), "the declaration has %d tokens; at most %d are compiled", to-from, declTokensMax).
			WithHelp("split the declaration"))
	}
	level := 0
	for i := from; i < to; i++ {
		switch p.kind(i) {
		case LParen, LBrack, LBrace, StrHead:
			if level++; level > NestingMax {
				return p.tooDeep(i)
			}
		case RParen, RBrack, RBrace, StrTail:
			level--
		}
	}
	return nil
}

// decl reads the declaration at p.cur.
func (p *parser) decl(lex *lexer.PeekingLexer) (ast.Decl, error) {
	p.skipModifiers()
	start, known := p.cur, len(p.diags)
	d, err := p.declAt(lex)
	if err != nil {
		return nil, p.blame(start, known, foreignDecls, err)
	}
	return d, nil
}

func (p *parser) declAt(lex *lexer.PeekingLexer) (ast.Decl, error) {
	start := p.cur
	switch k := p.kind(start); {
	case k == Package:
		return nil, p.packageClause(lex)
	case k == Import:
		return nil, p.importDecl(lex)
	case k == Actorclass, k == Class, k == Client && p.kind(start+1) == Class:
		return p.class(lex)
	case k == Enum:
		return p.enum(lex)
	case k == Const:
		return p.constant(lex)
	case k == Extern:
		return p.extern(lex)
	case k == Test && p.kind(start+1).IsLiteral():
		return p.test(lex)
	}
	return p.function(lex)
}

func (p *parser) packageClause(lex *lexer.PeekingLexer) error {
	start := p.cur
	g, err := run(p, p.prods.packageDecl, lex)
	if err != nil {
		return err
	}
	first := p.file.Package == nil
	if first {
		p.file.Package = &ast.PackageClause{Loc: p.loc(start), Name: *g.Name.(*ast.Name), Doc: p.doc(start)}
	}
	if start > 0 {
		d := diag.New(diag.MisplacedClause, p.span(start, p.cur), "the package clause must come first, and only once")
		if first {
			d = d.WithHelp("move it to the top")
		} else {
			d = d.With(p.file.Package.Range, "the first one").WithFix("remove it", diag.Replace(p.span(start, p.cur), ""))
		}
		p.note(start, d)
	}
	return nil
}

// isString reports whether token i is a string.
func (p *parser) isString(i int) bool {
	k := p.kind(i)
	return k == String || k == RawString || k == StrHead
}

func (p *parser) importDecl(lex *lexer.PeekingLexer) error {
	start := p.cur
	g, err := run(p, p.prods.importDecl, lex)
	if err != nil {
		var e *syntaxError
		if errors.As(err, &e) && e.diag.Help == "" {
			e.diag = e.diag.WithHelp("%s", importHelp)
		}
		return err
	}
	if len(p.file.Decls) > 0 {
		return p.fail(start, diag.New(diag.MisplacedClause, p.span(start, p.cur), "imports must stand before the declarations").
			With(p.file.Decls[0].Span(), "the first declaration").
			WithHelp("move it below the package clause"))
	}
	d := &ast.ImportDecl{Loc: p.loc(start)}
	if g.Alias != nil {
		d.Alias = g.Alias.(*ast.Name)
	}
	path, ok := g.Path.(*ast.StringLit)
	if !ok {
		panic(fmt.Sprintf("grammar: import path is a %T", g.Path))
	}
	d.Path = path
	p.file.Imports = append(p.file.Imports, d)
	return nil
}
