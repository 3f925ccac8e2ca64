package codegen_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

// corpus holds the programs that mutants are made of, each one file.
type corpus struct {
	texts []string
	whole []int // those that are accepted as they are
	parts []parts
}

// parts are the pieces of a program that another one can have in the place of its own.
type parts struct {
	tokens []span
	trees  [treeKinds][]piece
}

// span is a part of a text.
type span struct{ start, end int }

// piece is the text of a tree. An expression has a type, unless its program is wrong.
type piece struct {
	span
	typ      string
	compound bool // has to be written in parentheses
}

// The kinds of trees; one takes the place of another of its kind.
const (
	exprTree = iota
	typeTree
	stmtTree
	memberTree
	declTree
	treeKinds
)

// newCorpus reads the sources of all test data and examples, and of the examples of diagnostics.
func newCorpus(t testing.TB) *corpus {
	c := &corpus{}
	for _, root := range []string{filepath.Join("..", "testdata"), filepath.Join("..", "examples")} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			switch filepath.Ext(path) {
			case ".aeon":
				c.add(string(data))
			case ".txtar":
				for _, f := range txtar.Parse(data).Files {
					if strings.HasSuffix(f.Name, ".aeon") {
						c.add(withPackage(string(f.Data)))
					}
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, phase := range []string{"syntax", "check"} {
		for _, info := range diag.Phase(phase) {
			c.add(info.Bad)
			c.add(info.Good)
		}
	}
	if len(c.texts) < 500 || len(c.whole) < 300 {
		t.Fatalf("only %d programs, of which %d are accepted", len(c.texts), len(c.whole))
	}
	return c
}

// mutantMax is the length of the programs that are changed; those of users are shorter.
const mutantMax = 20_000

func (c *corpus) add(text string) {
	if text == "" || len(text) > mutantMax {
		return
	}
	p := parts{}
	for _, at := range tokenText.FindAllStringIndex(text, -1) {
		p.tokens = append(p.tokens, span{at[0], at[1]})
	}
	file, syntax := lang.Parse("corpus.aeon", []byte(text))
	info, diags := typecheck.Check([]*ast.File{file}, typecheck.Options{})
	callee := make(map[ast.Node]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		x := piece{span: span{int(n.Span().Start), int(n.Span().End)}}
		if x.start >= x.end {
			return true
		}
		switch n := n.(type) {
		case ast.Expr:
			if call, ok := n.(*ast.Call); ok {
				callee[call.Fun] = true
			}
			if t := info.TypeOf(n); t != typecheck.Invalid && !callee[n] {
				x.typ = t.String()
			}
			switch n.(type) {
			case *ast.Binary, *ast.Coalesce, *ast.Unary, *ast.Await:
				x.compound = true
			}
			p.trees[exprTree] = append(p.trees[exprTree], x)
		case ast.Type:
			p.trees[typeTree] = append(p.trees[typeTree], x)
		case ast.Stmt:
			p.trees[stmtTree] = append(p.trees[stmtTree], x)
		case ast.Member:
			p.trees[memberTree] = append(p.trees[memberTree], x)
		case ast.Decl:
			p.trees[declTree] = append(p.trees[declTree], x)
		}
		return true
	})
	if len(syntax) == 0 && !failed(diags) {
		c.whole = append(c.whole, len(c.texts))
	}
	c.texts, c.parts = append(c.texts, text), append(c.parts, p)
}

var tokenText = regexp.MustCompile(`//[^\n]*|[A-Za-z_][A-Za-z_0-9]*|[0-9]+(?:ms|s|m|h)?|"[^"\n]*"|[-+*/%&|^<>=!?]+|\S`)

// mutant returns the n-th mutant of the programs.
func (c *corpus) mutant(n uint64) string {
	rng := rand.New(rand.NewPCG(n, 9))
	i := c.whole[rng.IntN(len(c.whole))]
	if rng.IntN(8) == 0 {
		i = rng.IntN(len(c.texts))
	}
	m := &mutation{corpus: c, rng: rng, text: c.texts[i], parts: c.parts[i], moved: make([]int, len(c.texts[i])+1)}
	for range 1 + rng.IntN(3) {
		m.change()
	}
	return m.text
}

// mutation is a program that is being changed. Its parts keep their places in the original; moved tells how far
// each place has moved since, and is -1 where the text was replaced.
type mutation struct {
	*corpus
	rng   *rand.Rand
	text  string
	parts parts
	moved []int
}

// replace writes text in the place of a part, and reports whether that is still there.
func (m *mutation) replace(at span, text string) bool {
	for i := at.start; i <= at.end; i++ {
		if m.moved[i] == gone {
			return false
		}
	}
	from, to := at.start+m.moved[at.start], at.end+m.moved[at.end]
	m.text = m.text[:from] + text + m.text[to:]
	for i := at.start + 1; i < at.end; i++ {
		m.moved[i] = gone
	}
	for i := at.end; i < len(m.moved); i++ {
		if m.moved[i] != gone {
			m.moved[i] += len(text) - (to - from)
		}
	}
	return true
}

const gone = -1 << 30

// change changes one token or one tree.
func (m *mutation) change() {
	other := m.rng.IntN(len(m.texts))
	if m.rng.IntN(3) == 0 && len(m.parts.tokens) > 0 {
		m.changeToken(m.texts[other], m.corpus.parts[other].tokens)
		return
	}
	kind := m.rng.IntN(treeKinds)
	if m.rng.IntN(2) == 0 {
		kind = exprTree
	}
	m.changeTree(kind, other)
}

func (m *mutation) pick(list []span) span { return list[m.rng.IntN(len(list))] }

func (m *mutation) changeToken(text string, others []span) {
	at := m.pick(m.parts.tokens)
	switch m.rng.IntN(5) {
	case 0:
		m.replace(at, "")
	case 1:
		m.replace(at, m.now(at)+" "+m.now(at))
	case 2:
		with := m.pick(m.parts.tokens)
		a, b := m.now(at), m.now(with)
		if at != with && m.replace(at, b) {
			m.replace(with, a)
		}
	case 3:
		m.replace(at, m.now(m.pick(m.parts.tokens)))
	default:
		if len(others) > 0 {
			from := m.pick(others)
			m.replace(at, text[from.start:from.end])
		}
	}
}

// now returns the present text of a part, "" if it is gone.
func (m *mutation) now(at span) string {
	if m.moved[at.start] == gone || m.moved[at.end] == gone {
		return ""
	}
	return m.text[at.start+m.moved[at.start] : at.end+m.moved[at.end]]
}

// changeTree swaps two trees of the program, replaces one by one of another program or of this one, or removes or doubles one
// where there are lists of them.
func (m *mutation) changeTree(kind, other int) {
	own, others := m.parts.trees[kind], m.corpus.parts[other].trees[kind]
	if len(own) == 0 {
		return
	}
	at := own[m.rng.IntN(len(own))]
	with := own[m.rng.IntN(len(own))]
	if at.typ != "" && m.rng.IntN(4) > 0 { // of the same type
		for try := 0; try < 30 && (with.typ != at.typ || with.span == at.span); try++ {
			with = own[m.rng.IntN(len(own))]
		}
	}
	switch choice := m.rng.IntN(6); {
	case choice == 0 && kind != exprTree && kind != typeTree:
		m.replace(at.span, "")
	case choice == 1 && kind != exprTree && kind != typeTree:
		m.replace(at.span, m.now(at.span)+"\n"+m.now(at.span))
	case choice == 2 && (at.end <= with.start || with.end <= at.start):
		a, b := m.now(at.span), m.now(with.span)
		if m.replace(at.span, with.wrapped(b)) {
			m.replace(with.span, at.wrapped(a))
		}
	case choice == 3 && len(others) > 0:
		from := others[m.rng.IntN(len(others))]
		for try := 0; try < 30 && at.typ != "" && from.typ != at.typ; try++ {
			from = others[m.rng.IntN(len(others))]
		}
		m.replace(at.span, from.wrapped(m.texts[other][from.start:from.end]))
	default:
		m.replace(at.span, with.wrapped(m.now(with.span)))
	}
}

func (p piece) wrapped(text string) string {
	if p.compound {
		return "(" + text + ")"
	}
	return text
}
