package grammar

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// foreignOperator is the error that what stands at span is no operator of aeon.
func foreignOperator(span ast.Span, message, help string) diag.Diagnostic {
	return diag.New(diag.ForeignOperator, span, "%s", message).WithHelp("%s", help)
}

const (
	noLambda   = "functions are no values: write a loop, or a function with a name"
	noPointer  = "there are no pointers: variables of actor classes are references, everything else is a value"
	pathHelp   = "what belongs to a package, an enum or an object is reached with `.`"
	localHelp  = "a local is declared with its type, or with var: var x = 1;"
	namesHelp  = "arguments stand in the order of the parameters, without names"
	vectorHelp = "a vector or set is written `[1, 2]`, a map `[\"a\": 1, \"b\": 2]`"
)

// instead adds to the error that a statement does not end at token i what the
// author may have meant.
func (p *parser) instead(i int, d diag.Diagnostic) diag.Diagnostic {
	switch k := p.kind(i); {
	case i > p.base && p.kind(i-1) == Tail && startsExpr(k):
		return p.tailWithin(i - 1)
	case p.isLambda(i):
		return foreignOperator(p.at(i), "there are no lambdas", noLambda)
	case k == Comma && d.Help == "":
		return d.WithHelp("declare each variable in a statement of its own")
	case k == Colon && p.touches(i, Colon):
		two := p.span(i, i+2)
		return foreignOperator(two, "there is no `::` operator", pathHelp).WithFix("write .", diag.Replace(two, "."))
	case k == Quest && p.kind(i+1) == Semi:
		return foreignOperator(p.at(i), "there is no `?` behind a call", "a failure undoes the event, and its await fails; `x!` takes a value that may be null")
	case k == Quest, k == Colon && p.kindBefore(i, Quest):
		return foreignOperator(p.at(i), "there is no `?:` operator", "use if and else; `x ?? y` is y when x is null")
	case k == Colon && p.touches(i, Assign):
		d = foreignOperator(p.span(i, i+2), "there is no `:=` operator", localHelp)
		if i == p.stmtStart+1 {
			return d.WithFix("declare it with var", diag.InsertBefore(p.at(i-1), "var "), diag.Replace(p.at(i), ""))
		}
		return d
	case k == Colon && i == p.stmtStart+1:
		return d.WithHelp("the type stands before the name: `int %s = 1;`", p.text(i-1))
	case k == Minus && p.touches(i, Greater), k == Greater && p.touches(i-1, Greater) && p.kind(i-1) == Minus:
		start := i
		if k == Greater {
			start--
		}
		arrow := p.span(start, start+2)
		if p.endOf(start) < arrow.Start {
			return foreignOperator(arrow, "there is no `->` operator", "behind a `case` stands `:`; "+noLambda)
		}
		return foreignOperator(arrow, "there is no `->` operator", "fields and methods are reached with `.`").
			WithFix("write .", diag.Replace(arrow, "."))
	case k == PlusPlus || k == MinusMinus:
		return foreignOperator(p.at(i), "`"+k.String()+"` is no operator in an expression", "make it a statement of its own: x"+k.String()+";")
	case k == Assign && p.touches(i, Greater):
		return foreignOperator(p.span(i, i+2), "there is no `=>` operator", "an alternative is written `case x: …`; "+noLambda)
	case k == Assign:
		return foreignOperator(p.at(i), "an assignment is no expression", "make it a statement of its own")
	case k == Colon && p.kind(i-2) == LParen && p.kind(i-3) == For:
		return d.WithHelp("a loop declares its variable: `for (T %s : …) { … }`", p.text(i-1)).WithFix("declare it", diag.InsertBefore(p.at(i-1), "var "))
	case k == LBrack && i == p.stmtStart+2:
		return d.WithHelp("a vector is declared `vector<%s> %s = [];`, and grows with push", p.text(i-2), p.text(i-1))
	case k.IsName() || k == String || k == StrHead:
		return p.insteadOfWord(i, d)
	case k == LBrace && p.className != "" && p.stmtStart <= p.base && i > 1:
		return d.WithHelp("a method has parentheses: `%s %s() { … }`", p.text(i-2), p.text(i-1))
	case k == LBrace:
		return p.misspelt(d)
	case k == Catch:
		return d.WithHelp("a failure is caught with `%s`", forms[Try])
	}
	return p.suggest(d, p.stmtStart)
}

// insteadOfWord is instead for a name or string that follows an operand.
func (p *parser) insteadOfWord(i int, d diag.Diagnostic) diag.Diagnostic {
	word, before := p.text(i), ""
	if i > p.base {
		before = p.text(i - 1)
	}
	switch {
	case i == p.base:
	case word == "after" || word == "every" || word == "as":
		return diag.New(diag.TimerClause, p.at(i), "only an event can be timed").WithHelp("issue it: `event actor.method(…) %s …;`", word)
	case word == "and" || word == "or":
		op := map[string]string{"and": "&&", "or": "||"}[word]
		return foreignOperator(p.at(i), "there is no operator `"+word+"`", "write "+op).WithFix("write "+op, diag.Replace(p.at(i), op))
	case word == "instanceof" || word == "is":
		return foreignOperator(p.at(i), "there is no operator `"+word+"`", "there is no inheritance, so the type of a value is always known; alternatives are an enum, and `match`")
	case word == "in":
		return foreignOperator(p.at(i), "there is no operator `in`", "ask a vector with contains(x), a map or set with has(k)")
	case before == "not" && p.kind(i).IsName():
		return foreignOperator(p.at(i-1), "there is no operator `not`", "write !").
			WithFix("write !", diag.Replace(p.at(i-1).To(p.at(i).AtStart()), "!"))
	case !p.kind(i).IsName() && p.kind(i-1) == String && before == `""` && p.endOf(i) == p.tok(i).Start:
		return d.WithHelp("text of several lines stands between backquotes")
	case !p.kind(i).IsName() && (p.kind(i-1) == String || p.kind(i-1) == StrTail):
		return d.WithHelp("strings are joined with `+`")
	case before == "lambda":
		return foreignOperator(p.at(i-1), "there is no `lambda`", noLambda)
	case !p.kind(i).IsName() && len(before) == 1 && !p.startsLine(i) && p.endOf(i) == p.tok(i).Start:
		return d.WithHelp("every string is interpolated: write it without `%s`", before)
	case before == ")" && p.kind(i-2).IsName() && p.text(i-3) == "(":
		return d.WithHelp("a conversion is written `%s(%s)`", p.text(i-2), word)
	}
	return p.suggest(d, p.stmtStart)
}

// noOperand is the error that no expression starts at token i.
func (p *parser) noOperand(i int, d diag.Diagnostic) diag.Diagnostic {
	doubled := func(k Kind) bool { return i > p.base && p.kind(i-1) == k && p.endOf(i) == p.tok(i).Start }
	switch k := p.kind(i); {
	case k == Greater && doubled(Less) && i-2 == p.stmtStart && p.kind(i+1).IsName() && p.declaresNothing(i+2):
		return p.noTypeArgs(i)
	case k == Greater && doubled(Less):
		return foreignOperator(p.span(i-1, i+1), "there is no `<>` operator", "`==` and `!=` compare values of one type").
			WithFix("write !=", diag.Replace(p.span(i-1, i+1), "!="))
	case k == Greater:
		return p.instead(i, d) // the second half of ->
	case k == Assign && (doubled(EqEq) || doubled(NotEq)):
		whole := p.span(i-1, i+1)
		return foreignOperator(whole, "there is no `"+whole.Text()+"` operator", "`==` and `!=` compare values of one type").
			WithFix("write "+p.text(i-1), diag.Replace(whole, p.text(i-1)))
	case k == Star && doubled(Star):
		return foreignOperator(p.span(i-1, i+1), "there is no `**` operator", "write a loop that multiplies")
	case k == Star || k == Amp:
		return foreignOperator(p.at(i), "`"+k.String()+"` stands before no operand", noPointer)
	case k == Pipe || k == OrOr:
		return foreignOperator(p.at(i), "there are no closures", noLambda)
	case k == RParen && p.isLambda(i):
		return foreignOperator(p.span(i-1, i+1), "there are no lambdas", noLambda)
	case k == LBrace:
		return d.WithHelp("%s", vectorHelp)
	case k == If || k == Switch || k == Match:
		return d.WithHelp("`%s` is a statement and has no value: declare the variable first, and assign it in the branches", p.text(i))
	}
	return d
}

// isLambda reports whether the parameters of a lambda, as `(a, int b) =>`, are in parentheses around token i, or end there.
// It looks at 32 tokens on either side, so that a file full of such errors takes linear time.
func (p *parser) isLambda(i int) bool {
	parameter := func(j int) bool { return p.kind(j).IsName() || p.kind(j) == Comma || startsType(p.kind(j)) }
	open, end := i-1, i
	for open > max(p.base, i-32) && parameter(open) {
		open--
	}
	for end < i+32 && parameter(end) {
		end++
	}
	return p.kind(open) == LParen && p.kind(end) == RParen &&
		(p.kind(end+1) == Assign || p.kind(end+1) == Minus) && p.touches(end+1, Greater)
}

// kindBefore reports whether a token of kind k stands a little before i on its line.
func (p *parser) kindBefore(i int, k Kind) bool {
	for j := i - 1; j >= max(p.base, i-32) && !p.startsLine(j+1); j-- {
		if p.kind(j) == k {
			return true
		}
	}
	return false
}
