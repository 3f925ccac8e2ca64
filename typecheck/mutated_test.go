package typecheck

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

var tokens = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*|[0-9]+|"[^"\n]*"|\s+|[-+*/%&|^<>=!?]+|.`)

// Random changes of tokens in the goldens give programs that mostly parse and
// are wrong in ways nobody thought of. The checker takes them without a panic,
// agrees with itself, and what it accepts has effects.
func TestMutatedPrograms(t *testing.T) {
	var texts [][]string
	for _, area := range areas {
		for _, file := range goldenFiles(t, area) {
			for _, src := range goldenSources(t, file) {
				texts = append(texts, tokens.FindAllString(src.Src.Text, -1))
			}
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	parsed, accepted := 0, 0
	for i := range mutations {
		list := append([]string(nil), texts[rng.IntN(len(texts))]...)
		for range 1 + rng.IntN(3) {
			mutate(rng, list)
		}
		text := strings.Join(list, "")
		f, syntax := lang.Parse("mutated.aeon", []byte(text))
		func() {
			defer func() {
				if r := recover(); r != nil {
					t.Fatalf("mutation %d: %v\n%s\n%s", i, r, debug.Stack(), text)
				}
			}()
			info, diags := Check([]*ast.File{f}, Options{})
			if len(syntax) > 0 {
				return
			}
			parsed++
			if diag.HasErrors(diags) {
				return
			}
			accepted++
			var b strings.Builder
			if err := PrintEffects(&b, info); err != nil {
				t.Fatal(err)
			}
			if err := complete(info, f); err != nil {
				t.Fatalf("mutation %d: %v\n%s", i, err, text)
			}
		}()
	}
	t.Logf("%d parsed, %d accepted", parsed, accepted)
	if parsed < mutations/4 || accepted < mutations/80 {
		t.Errorf("only %d parsed and %d accepted of %d", parsed, accepted, mutations)
	}
}

const mutations = 4_000

// mutate replaces a token by another of the same text, swaps two, or drops one.
func mutate(rng *rand.Rand, list []string) {
	at, other := rng.IntN(len(list)), rng.IntN(len(list))
	switch rng.IntN(6) {
	case 0:
		list[at] = ""
	case 1:
		list[at], list[other] = list[other], list[at]
	default:
		kind := func(s string) int {
			switch {
			case s == "":
				return 0
			case s[0] >= '0' && s[0] <= '9', s[0] == '"':
				return 1
			case s[0] >= 'a' && s[0] <= 'z', s[0] >= 'A' && s[0] <= 'Z':
				return 2
			}
			return 3
		}
		for try := 0; try < 20 && (kind(list[at]) != kind(list[other]) || kind(list[at]) == 3); try++ {
			at, other = rng.IntN(len(list)), rng.IntN(len(list))
		}
		list[at] = list[other]
	}
}

// complete reports what an accepted program lacks in its Info: code generation
// relies on these entries.
func complete(info *Info, f *ast.File) error {
	var missing error
	note := func(n ast.Node, what string) {
		if missing == nil {
			missing = fmt.Errorf("%s: `%s` has no %s", n.Span(), n.Span().Text(), what)
		}
	}
	callee := make(map[ast.Expr]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Call:
			callee[n.Fun] = true
			if info.Calls[n] == nil {
				note(n, "entry in Calls")
			}
		case *ast.New:
			if info.News[n] == nil {
				note(n, "entry in News")
			}
		case *ast.Await:
			if info.Awaits[n] == nil {
				note(n, "entry in Awaits")
			}
		case *ast.Assign, *ast.IncDec:
			if info.Stores[n] == nil {
				note(n, "entry in Stores")
			}
		case *ast.VarDecl, *ast.Param, *ast.FieldDecl, *ast.ForEach, *ast.ForUpto:
			if info.Defs[n] == nil {
				note(n, "entry in Defs")
			}
		}
		x, ok := n.(ast.Expr)
		if !ok || callee[x] {
			return true
		}
		switch x := x.(type) {
		case *ast.Ident:
			if _, value := info.Uses[x].(*Var); !value {
				return true // a constant, enum value, type or package
			}
		case *ast.StringLit, *ast.BadExpr:
			return true // also names of tests and paths of imports
		}
		if t := info.TypeOf(x); t == Invalid || IsUntyped(t) && info.ConstOf(x) == nil {
			note(n, "type, but "+t.String())
		}
		return true
	})
	return missing
}
