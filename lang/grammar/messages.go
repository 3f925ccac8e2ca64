package grammar

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"

	"github.com/aeon-lang/aeon/lang/diag"
)

// expected is the error that something else stands at token i.
func (p *parser) expected(i int, what string) diag.Diagnostic {
	return diag.New(diag.UnexpectedToken, p.at(i), "expected %s, found %s", what, p.describe(i))
}

// describe names token i for a message.
func (p *parser) describe(i int) string {
	switch k := p.kind(i); {
	case k == EOF:
		if p.end == len(p.sig) {
			return "the end of the file"
		}
		return "the end of the declaration"
	case k.IsName():
		return "the name `" + clip(p.text(i)) + "`"
	case k.IsKeyword():
		return "the keyword `" + p.text(i) + "`"
	case k == Int || k == Float:
		return "the number " + clip(p.text(i))
	case k == Duration:
		return "the duration " + clip(p.text(i))
	case k == Char:
		return "a character"
	case k == String || k == RawString || k == StrHead:
		return "a string"
	case k == StrMid || k == StrTail:
		return "the end of the interpolation"
	}
	return "`" + p.text(i) + "`"
}

// ruleNames says what a user calls the things that productions are made of.
var ruleNames = map[string]string{
	"Expr": "an expression", "CondNode": "a condition", "Type": "a type", "NameNode": "a name", "PlainString": "a string",
	"BlockNode": "`{`", "BranchNode": "`{`", "OpenNode": "`{`", "CloseNode": "`}`", "SemiNode": "`;`", "BodyNode": "a body `{ … }`",
	"ParamsNode": "`(` and parameters", "HeadNode": "`(` and a condition", "IfHeadNode": "`(` and a condition",
	"ForHeadNode": "`(`", "TypeParamsNode": "type parameters",
}

// convert turns an error of participle into one of ours.
func (p *parser) convert(err error) error {
	var mine *syntaxError
	if errors.As(err, &mine) {
		return mine
	}
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		return p.fail(p.cur, diag.New(diag.UnexpectedToken, p.at(p.cur), "this cannot be parsed: %v", err))
	}
	i := unexpected.Position().Offset
	what := "something else"
	if _, rest, ok := strings.Cut(unexpected.Message(), " (expected "); ok {
		what = expectation(strings.TrimSuffix(rest, ")"))
	}
	d := p.expected(i, what)
	if what == "an expression" {
		d = p.noOperand(i, d)
	}
	switch {
	case what == ruleNames["BodyNode"]:
		d = p.noBody(i, d)
	case what == "a type" && i > p.base && p.kind(i) == Greater && p.kind(i-1) == Less:
		d = p.noTypeArgs(i)
	case what == ruleNames["PlainString"] && p.kind(i) == Char:
		d = d.WithHelp(doubleQuotes)
	}
	if p.kind(i).IsName() && d.Help == "" {
		if word, ok := strings.CutPrefix(what, "`"); ok && len(word) > 2 { // no punctuation
			if word = strings.TrimSuffix(word, "`"); near(p.text(i), word) {
				d = d.WithHelp("did you mean `%s`?", word).WithFix("write "+word, diag.Replace(p.at(i), word))
			}
		}
	}
	if d.Help == "" {
		if form := p.form(); form != "" {
			d = d.WithHelp("write `%s`", form)
		}
	}
	return p.fail(i, d)
}

// form returns what the statement or declaration that is read looks like, if it starts
// with a keyword that says so; else "".
func (p *parser) form() string {
	if p.stmtStart <= p.base {
		if p.kind(p.base) == Test {
			return `test "name" { … }`
		}
		return ""
	}
	return forms[p.kind(p.stmtStart)]
}

// forms shows statements that begin with a keyword.
var forms = map[Kind]string{
	Require: `require(condition, "why it fails");`, Assert: `assert(condition);`, Abort: `abort "why";`, Sleep: `sleep(1s);`, Advance: `advance(1s);`,
	Var: "var x = 1;", Settle: `settle();`, Try: `try { … } catch (string why) { … }`, Cancel: `cancel "name";`, Delete: `delete actor;`,
}

// expectation says in words the first item of a production's right-hand side,
// which participle prints in its notation.
func expectation(rule string) string {
	rule = strings.TrimLeft(rule, "( ")
	if strings.HasPrefix(rule, `"`) {
		if text, _, ok := strings.Cut(rule[1:], `"`); ok {
			return "`" + text + "`"
		}
	}
	name := rule
	if i := strings.IndexAny(rule, " ?*+)"); i >= 0 {
		name = rule[:i]
	}
	if words, ok := ruleNames[name]; ok {
		return words
	}
	return name
}

// misspelt adds to d, the error that `name (…) {` or `name {` stands where a
// statement ended, the keyword that the name may have been meant for.
func (p *parser) misspelt(d diag.Diagnostic) diag.Diagnostic {
	return p.suggest(d, p.stmtStart, "if", "while", "for", "switch", "match", "try", "else", "catch")
}

// suggest adds to d that the name at token i may be a misspelt keyword.
func (p *parser) suggest(d diag.Diagnostic, i int, words ...string) diag.Diagnostic {
	if !p.kind(i).IsName() {
		return d
	}
	for _, w := range words {
		if near(p.text(i), w) {
			return d.WithHelp("did you mean `%s`?", w).WithFix("write "+w, diag.Replace(p.at(i), w))
		}
	}
	return d
}

// near reports whether a word is at most two edits away from a keyword (one,
// if the keyword is short), but is not the keyword itself.
func near(word, keyword string) bool {
	limit := 2
	if len(keyword) < 5 {
		limit = 1
	}
	if word == keyword || len(word) > len(keyword)+limit || len(word)+limit < len(keyword) {
		return false
	}
	return editDistance(strings.ToLower(word), keyword) <= limit
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours that make b of a.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
