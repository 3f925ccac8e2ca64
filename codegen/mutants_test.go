package codegen_test

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/typecheck"
)

var (
	mutants     = flag.Uint64("mutants", 2_000, "how many programs are changed and compiled")
	mutantFirst = flag.Uint64("mutants.first", 0, "the number of the first one, which says how it is made")
	mutantsGo   = flag.Uint64("mutants.go", 20, "of the accepted ones, let Go check the code of one in so many")
)

// mutantTime bounds the work on one mutant: beyond it a user would think that the compiler hangs.
const mutantTime = 2 * time.Minute

// TestMutants changes tokens and trees of programs: exchanges them within one program or with another. Each
// result is checked without a panic, twice with the same diagnostics, all of them in the source. A program that
// is accepted has all that code generation reads, and effects, and becomes Go.
func TestMutants(t *testing.T) {
	c := newCorpus(t)
	var next, parsed, accepted, compiled atomic.Uint64
	next.Store(*mutantFirst)
	end := *mutantFirst + *mutants
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for n := next.Add(1) - 1; n < end && !t.Failed(); n = next.Add(1) - 1 {
				text := c.mutant(n)
				watch := time.AfterFunc(mutantTime, func() { panic(fmt.Sprintf("mutant %d takes over %v:\n%s", n, mutantTime, text)) })
				m := mutant{n: n, text: text}
				if err := m.compile(); err != nil {
					t.Errorf("mutant %d: %v\n\n%s\n\nagain: go test ./codegen -run TestMutants -mutants 1 -mutants.first %d", n, err, text, n)
				}
				watch.Stop()
				count(&parsed, m.parsed)
				count(&accepted, m.accepted)
				count(&compiled, m.compiled)
			}
		})
	}
	wg.Wait()
	t.Logf("%d mutants of %d programs: %d are parsed, %d accepted, the Go of %d checked", *mutants, len(c.texts), parsed.Load(), accepted.Load(), compiled.Load())
	if !t.Failed() && *mutants >= 1000 && (parsed.Load() < *mutants/3 || accepted.Load() < *mutants/20) {
		t.Error("too few of them come that far")
	}
}

func count(n *atomic.Uint64, yes bool) {
	if yes {
		n.Add(1)
	}
}

// mutant is one program, and how far it comes.
type mutant struct {
	n                          uint64
	text                       string
	parsed, accepted, compiled bool
}

func (m *mutant) compile() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	file, syntax := lang.Parse("mutant.aeon", []byte(m.text))
	info, diags := typecheck.Check([]*ast.File{file}, typecheck.Options{})
	for _, d := range append(diags, syntax...) {
		if d.Span.Src == nil || d.Span.Start < 0 || d.Span.End < d.Span.Start || int(d.Span.End) > len(d.Span.Src.Text) {
			return fmt.Errorf("%v: span %d-%d lies outside of the source", d, d.Span.Start, d.Span.End)
		}
		if _, known := diag.Lookup(d.Code); !known {
			return fmt.Errorf("%v is not documented", d)
		}
	}
	if m.n%8 == 0 {
		_, again := typecheck.Check([]*ast.File{file}, typecheck.Options{})
		if a, b := fmt.Sprint(diags), fmt.Sprint(again); a != b {
			return fmt.Errorf("two runs gave\n%s\nand\n%s", a, b)
		}
	}
	if m.parsed = len(syntax) == 0; !m.parsed || failed(diags) {
		return nil
	}
	m.accepted = true
	if err := typecheck.PrintEffects(io.Discard, info); err != nil {
		return err
	}
	if err := complete(info, file); err != nil {
		return err
	}
	files, err := codegen.Generate(info, codegen.Options{}) // which parses what it has made
	if err != nil {
		return err
	}
	if m.compiled = m.n%*mutantsGo == 0; m.compiled {
		if bad := sharedChecker().check(files, false); bad != "" {
			return fmt.Errorf("the checker accepts it, and Go says: %s", bad)
		}
	}
	return nil
}

// complete reports what an accepted program lacks in its Info: code generation
// relies on these entries.
func complete(info *typecheck.Info, f *ast.File) error {
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
		case *ast.VarDecl, *ast.Param, *ast.FieldDecl, *ast.ForEach, *ast.LoopValue, *ast.ForUpto:
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
			if _, value := info.Uses[x].(*typecheck.Var); !value {
				return true // a constant, enum value, type or package
			}
		case *ast.StringLit, *ast.BadExpr:
			return true // also names of tests and paths of imports
		}
		if t := info.TypeOf(x); t == typecheck.Invalid || typecheck.IsUntyped(t) && info.ConstOf(x) == nil {
			note(n, "type, but "+t.String())
		}
		return true
	})
	return missing
}
