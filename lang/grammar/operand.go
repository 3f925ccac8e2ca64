package grammar

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// postfix reads an operand and what is hung on it: fields, calls, indices, `!`.
func (p *parser) postfix() (ast.Expr, error) {
	start := p.cur
	p.height = 0
	x, err := p.operand()
	for err == nil {
		at, height := p.cur, p.height
		var next ast.Expr
		switch p.kind(at) {
		case Dot, QuestDot:
			next, err = p.selector(start, x)
		case LParen:
			next, err = p.call(start, x, nil)
		case LBrack:
			next, err = p.index(start, x)
		case Not:
			p.cur++
			next = &ast.NonNull{Loc: p.loc(start), X: x}
		case Less:
			if !mayHaveTypeArgs(x) || p.skipTypeArgs(at) < 0 {
				return x, nil
			}
			var args []ast.Type
			if args, err = p.typeArgs(); err == nil {
				next, err = p.call(start, x, args)
			}
		default:
			return x, nil
		}
		if err == nil {
			x, err = next, p.grow(height, at)
		}
	}
	return nil, err
}

func mayHaveTypeArgs(x ast.Expr) bool {
	switch x.(type) {
	case *ast.Ident, *ast.Field, *ast.OptionalField:
		return true
	}
	return false
}

func (p *parser) selector(start int, x ast.Expr) (ast.Expr, error) {
	optional := p.kind(p.cur) == QuestDot
	p.cur++
	if !p.kind(p.cur).IsName() {
		d := p.expected(p.cur, "a name behind `.`")
		if p.kind(p.cur) == New {
			d = d.WithHelp("an object is made with `new %s(…)`", p.text(p.cur-2))
		} else if p.kind(p.cur).IsKeyword() {
			d = p.reserved(p.cur)
		}
		return nil, p.fail(p.cur, d)
	}
	name := p.name(p.cur)
	p.cur++
	if optional {
		return &ast.OptionalField{Loc: p.loc(start), X: x, Name: name}, nil
	}
	return &ast.Field{Loc: p.loc(start), X: x, Name: name}, nil
}

// name returns token i as a declared or selected name.
func (p *parser) name(i int) ast.Name { return ast.Name{Loc: ast.At(p.at(i)), Text: p.text(i)} }

func (p *parser) call(start int, fun ast.Expr, typeArgs []ast.Type) (ast.Expr, error) {
	args, err := p.exprList(LParen, RParen)
	return &ast.Call{Loc: p.loc(start), Fun: fun, TypeArgs: typeArgs, Args: args}, err
}

// exprList reads `(a, b)` or `[a, b]`; a comma may stand before the end.
// It leaves the height of the highest expression.
func (p *parser) exprList(open, closing Kind) ([]ast.Expr, error) {
	var list []ast.Expr
	height, at := 0, p.cur
	if p.kind(at) != open {
		return nil, p.fail(at, p.expected(at, "`"+open.String()+"`"))
	}
	p.cur++
	for p.kind(p.cur) != closing {
		x, err := p.element(at, closing)
		if err != nil {
			return nil, err
		}
		list, height = append(list, x), max(height, p.height)
		if p.kind(p.cur) != Comma {
			break
		}
		p.cur++
	}
	p.height = height
	return list, p.expectClosing(at, closing)
}

func (p *parser) element(open int, closing Kind) (ast.Expr, error) {
	if !startsExpr(p.kind(p.cur)) {
		return nil, p.unclosedOr(open, p.noOperand(p.cur, p.expected(p.cur, "an expression or `"+closing.String()+"`")))
	}
	return p.expr()
}

// expectClosing consumes the bracket that belongs to the one at token open.
func (p *parser) expectClosing(open int, closing Kind) error {
	if p.kind(p.cur) == closing {
		p.cur++
		return nil
	}
	d := p.expected(p.cur, "`"+closing.String()+"`")
	if startsExpr(p.kind(p.cur)) {
		d = p.expected(p.cur, "`,` or `"+closing.String()+"`")
	}
	if p.kind(p.cur) == Colon && p.kind(open) == LParen {
		d = d.WithHelp("%s", namesHelp)
	}
	return p.unclosedOr(open, d)
}

// unclosedOr is the error d at the current token, or, where the statement ends
// there, that the bracket at token open is not closed.
func (p *parser) unclosedOr(open int, d diag.Diagnostic) error {
	k := p.kind(p.cur)
	if k == LBrace && p.kind(p.cur-1).IsName() && p.kind(p.cur+1).IsName() && p.kind(p.cur+2) == Colon {
		return p.fail(p.cur, d.WithHelp("an object is made with `new %s(…)`: the arguments of the constructor, or the fields in order", p.text(p.cur-1)))
	}
	ends := k == Semi || k == EOF || k == RBrace || k == LBrace
	if ends || p.startsLine(p.cur) && (k.IsName() || startsStmt[k]) && !p.closesLater(p.cur) {
		opening := p.kind(open)
		before := p.span(open, p.cur)
		d = diag.New(diag.UnclosedBracket, p.at(open), "`%s` is not closed", opening).
			With(p.at(p.cur), "found %s instead of `%s`", p.describe(p.cur), closingOf[opening]).
			WithFix("close it", diag.InsertAfter(before, closingOf[opening].String()))
	}
	return p.fail(p.cur, p.instead(p.cur, d))
}

// closesLater reports whether a bracket that is open before token i is closed
// before the statement ends, looking a little ahead.
func (p *parser) closesLater(i int) bool {
	level := 0
	for end := i + 100; i < end; i++ {
		switch p.kind(i) {
		case LParen, LBrack, StrHead:
			level++
		case RParen, RBrack, StrTail:
			if level--; level < 0 {
				return true
			}
		case Semi, LBrace, RBrace, EOF:
			return false
		}
	}
	return false
}

var closingOf = map[Kind]Kind{LParen: RParen, LBrack: RBrack, LBrace: RBrace, Less: Greater}

func (p *parser) index(start int, x ast.Expr) (ast.Expr, error) {
	open := p.cur
	p.cur++
	height := 0
	part := func(end Kind) (ast.Expr, error) {
		if k := p.kind(p.cur); k == end || k == RBrack {
			return nil, nil
		}
		y, err := p.element(open, RBrack)
		height = max(height, p.height)
		return y, err
	}
	lo, err := part(Colon)
	if err != nil {
		return nil, err
	}
	if p.kind(p.cur) == Colon {
		p.cur++
		hi, err := part(RBrack)
		if err != nil {
			return nil, err
		}
		p.height = height
		err = p.expectClosing(open, RBrack)
		return &ast.Slice{Loc: p.loc(start), X: x, Lo: lo, Hi: hi}, err
	}
	if lo == nil {
		return nil, p.fail(p.cur, p.expected(p.cur, "an index"))
	}
	p.height = height
	err = p.expectClosing(open, RBrack)
	return &ast.Index{Loc: p.loc(start), X: x, I: lo}, err
}

// nullWords are how other languages write null.
var nullWords = map[string]bool{"NULL": true, "nil": true, "nullptr": true, "None": true, "undefined": true}

// operand reads what an expression is made of.
func (p *parser) operand() (ast.Expr, error) {
	start := p.cur
	k := p.kind(start)
	switch k {
	case Int, Char, Float, Duration, RawString, String, StrHead:
		return p.literal()
	case LParen:
		return p.paren()
	case LBrack:
		return p.container()
	case New:
		return p.newExpr()
	case Actor:
		return p.actorRef()
	case Vector, Map, Set:
		if p.kind(start+1) == Less && p.skipTypeArgs(start+1) >= 0 {
			return nil, p.fail(start, diag.New(diag.UnexpectedToken, p.at(start), "expected `new` before the container type").
				WithFix("insert new", diag.InsertBefore(p.at(start), "new ")))
		}
	}
	if k.IsName() {
		if text := p.text(start); nullWords[text] && p.kind(start+1) != LParen && !p.nullNames[text] {
			p.note(start, diag.New(diag.NullSpelling, p.at(start), "`%s` is written `null`", text).
				WithFix("write null", diag.Replace(p.at(start), "null")))
			p.cur++
			return &ast.NullLit{Loc: p.loc(start)}, nil
		}
		p.cur++
		return &ast.Ident{Loc: p.loc(start), Name: p.text(start)}, nil
	}
	p.cur++
	switch k {
	case This:
		return &ast.This{Loc: p.loc(start)}, nil
	case True, False:
		return &ast.BoolLit{Loc: p.loc(start), Value: k == True}, nil
	case Null:
		return &ast.NullLit{Loc: p.loc(start)}, nil
	}
	p.cur--
	return nil, p.fail(start, p.noOperand(start, p.expected(start, "an expression")))
}

// container reads `[a, b]`, or `[k: v, l: w]`; a comma may stand before the end.
func (p *parser) container() (ast.Expr, error) {
	start, height := p.cur, 0
	var keys, values []ast.Expr
	p.cur++
	for p.kind(p.cur) != RBrack {
		x, err := p.element(start, RBrack)
		if err != nil {
			return nil, err
		}
		keys, height = append(keys, x), max(height, p.height)
		if p.kind(p.cur) == Colon && len(values) == len(keys)-1 {
			p.cur++
			if x, err = p.element(start, RBrack); err != nil {
				return nil, err
			}
			values, height = append(values, x), max(height, p.height)
		} else if len(values) > 0 {
			return nil, p.unclosedOr(start, p.expected(p.cur, "`:` and the value of this key"))
		}
		if p.kind(p.cur) != Comma {
			break
		}
		p.cur++
	}
	p.height = height
	if err := p.expectClosing(start, RBrack); err != nil {
		return nil, err
	}
	if len(values) > 0 {
		return &ast.MapLit{Loc: p.loc(start), Keys: keys, Values: values}, nil
	}
	return &ast.VectorLit{Loc: p.loc(start), Elems: keys}, nil
}

func (p *parser) paren() (ast.Expr, error) {
	start := p.cur
	p.cur++
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if err := p.grow(0, start); err != nil {
		return nil, err
	}
	if err := p.expectClosing(start, RParen); err != nil {
		return nil, err
	}
	return &ast.Paren{Loc: p.loc(start), X: x}, nil
}

func (p *parser) newExpr() (ast.Expr, error) {
	start := p.cur
	p.cur++
	t, err := p.typ()
	if err != nil {
		return nil, err
	}
	if p.kind(p.cur) != LParen {
		return nil, p.fail(p.cur, p.newWithoutParens(start))
	}
	args, err := p.exprList(LParen, RParen)
	return &ast.New{Loc: p.loc(start), Type: t, Args: args}, err
}

// newWithoutParens is the error that no `(` stands behind the type that `new` at token
// start makes an object of.
func (p *parser) newWithoutParens(start int) diag.Diagnostic {
	d := p.expected(p.cur, "`(`")
	t := p.span(start+1, p.cur).Text()
	switch p.kind(p.cur) {
	case LBrack:
		return d.WithHelp("a vector starts empty and grows: `vector<%s> v = [];` and `v.push(…);`", t)
	case LBrace:
		return d.WithHelp("an object is made with `new %s(…)`: the arguments of the constructor, or the fields in order; a vector is written `[1, 2]`", t)
	}
	return d.WithFix("insert ()", diag.InsertAfter(p.at(p.cur-1), "()"))
}

func (p *parser) actorRef() (ast.Expr, error) {
	start := p.cur
	p.cur++
	if p.kind(p.cur) != Less {
		return nil, p.fail(p.cur, p.expected(p.cur, "`<` and an actor class").WithHelp(`write actor<Bank>("main")`))
	}
	types, err := p.typeArgs()
	if err != nil {
		return nil, err
	}
	args, err := p.exprList(LParen, RParen)
	if err != nil {
		return nil, err
	}
	if len(types) != 1 || len(args) != 1 {
		return nil, p.fail(start, diag.New(diag.UnexpectedToken, p.span(start, p.cur), "expected one class and one key: actor<Class>(key)").
			WithHelp(`write actor<Bank>("main"); an actor without a name is made with new`))
	}
	return &ast.ActorRef{Loc: p.loc(start), Type: types[0], Key: args[0]}, nil
}
