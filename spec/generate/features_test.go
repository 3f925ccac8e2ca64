package generate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/spec/generate"
)

// shares says which percentage of the programs has at least what kindsOf finds in one.
var shares = map[string]float64{
	"assertion in a method":                    80,
	"assertion in a constructor":               15,
	"assertion in a helper":                    15,
	"assertion in a method of a value":         8,
	"assertion in a callback":                  8,
	"assertion in a step":                      20,
	"assertion in a client":                    10,
	"assertion in a tick":                      15,
	"constructor with an actor":                20,
	"constructor that touches its actor":       15,
	"client gives an actor to a constructor":   8,
	"actor gives an actor to a constructor":    8,
	"timer in a helper":                        15,
	"cancel in a helper":                       12,
	"timer in a method of a value":             5,
	"cancel in a method of a value":            5,
	"helper calls an actor":                    10,
	"periodic timer":                           5,
	"branches in a loop":                       5,
	"events one after the other, not awaited":  10,
	"time passes in the middle":                15,
	"string that is not UTF-8":                 20,
	"name that is not UTF-8":                   10,
	"named actor reached from an actor":        10,
	"client deletes an actor":                  6,
	"client makes a name again":                4,
	"result with parts":                        20,
	"deep type":                                5,
	"narrowed local is called":                 30,
	"several packages":                         65,
	"actor class of another package":           35,
	"helper of another package":                10,
	"value class of another package":           20,
	"enum of another package":                  5,
	"constant of another package":              4,
	"constructor of another package":           10,
	"package under another name":               20,
	"client object that is made with an actor": 10,
	"callback that waits for the system":       8,
	"callback that waits in a helper":          3,
	"callback that catches":                    8,
	"callback that awaits":                     5,
	"callback that issues an event":            8,
	"callback that issues a callback":          2,
	"callback that calls a method of its own":  5,
	"pending value in a container":             20,
	"pending value awaited twice":              15,
	"pending values awaited in another order":  1,
	"pending value by way of a function":       8,
	"pending value awaited in a function":      15,
	"pending values awaited in a loop":         .5,
	"pending value that is not awaited":        8,
	"change of what may be null has a result":  8,
	"set of actors":                            4,
	"map by actors":                            10,
	"vectors of vectors of actors":             4,
	"loop over a set or map of actors":         10,
	"value with actors":                        15,
	"values with actors in a container":        15,
	"actor of a value is called":               15,
	"value calls a method of its own":          20,
	"value hands on this":                      30,
	"operator beside a call that writes":       20,
	"text beside a call that writes":           6,
	"object or list beside a call that writes": 10,
	"conversion beside a call that writes":     5,
	"copy and original written":                40,
	"container of many elements":               20,
	"copy of many elements":                    15,
	"part of many elements":                    5,
	"many writes at once":                      10,
	"failure after writes to many elements":    10,
	"many elements filled by main":             10,
	"value written into itself":                20,
	"timer whose name is computed":             15,
	"timer cancelled by a computed name":       15,
	"loop that goes on from what it writes":    5,
	"times in a container":                     10,
	"first rows from the last to the first":    .5,
	"rows limited twice":                       .5,
	"rows reversed twice":                      1,
	"tail call in a loop over rows":            2,
	"delete in a loop over rows":               .5,
}

// TestEveryFeatureIsUsed looks for features that fewer programs have than should.
func TestEveryFeatureIsUsed(t *testing.T) {
	seen, total := map[string]int{}, 0
	for seed := range uint64(max(*programs, sharesMin)) {
		for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
			text := program(seed, profile)
			f := &features{has: map[string]bool{}}
			file, _ := lang.Parse("generated.aeon", []byte(text))
			f.file(file)
			f.packages(generate.Split(text, seed))
			for name := range f.has {
				seen[name]++
			}
			total++
		}
	}
	for name, wanted := range shares {
		share := 100 * float64(seen[name]) / float64(total)
		if share < wanted {
			t.Errorf("%s: %.1f %% of %d programs, should be %.0f %%", name, share, total, wanted)
		}
		t.Logf("%5.1f %% %s", share, name)
	}
	for name := range seen {
		if shares[name] == 0 {
			t.Errorf("%s is no feature that is asked for", name)
		}
	}
}

// sharesMin is how many programs of each profile tell a share from a smaller one.
const sharesMin = 100

// features are those of one program.
type features struct{ has map[string]bool }

func (f *features) note(ok bool, name string) {
	if ok {
		f.has[name] = true
	}
}

func (f *features) file(file *ast.File) {
	f.rows(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.IsMain() {
				f.client(d.Body)
			} else {
				f.body(d.Body, "helper", "helper")
			}
		case *ast.TestDecl:
			f.client(d.Body)
		case *ast.ClassDecl:
			f.class(d)
		}
	}
	text := file.Src.Text
	for name, is := range rare {
		f.note(is.MatchString(text), name)
	}
	f.note(strings.Contains(text, `\xff"`) || strings.Contains(text, `\xc3(`), "string that is not UTF-8")
	f.note(strings.Contains(text, `>("n\xff`), "name that is not UTF-8")
}

func (f *features) class(d *ast.ClassDecl) {
	if d.Kind == ast.ClientClass {
		f.callbacks(d)
	}
	for _, c := range d.Ctors() {
		f.body(c.Body, "constructor", "")
		f.ctor(c)
	}
	for _, m := range d.Methods() {
		where := "method"
		switch {
		case d.Kind == ast.ValueClass:
			where = "method of a value"
		case d.Kind == ast.ClientClass:
			where = "callback"
		case strings.HasPrefix(m.Name.Text, "tick"):
			where = "tick"
		case has[*ast.TailCall](m.Body):
			where = "step"
		}
		helper := ""
		if d.Kind == ast.ValueClass {
			helper = where
		}
		f.body(m.Body, where, helper)
		if d.Kind == ast.ActorClass {
			f.actor(m)
		}
	}
	for _, v := range d.Fields() {
		f.note(depth(v.Type) >= 4, "deep type")
	}
	f.extras(d)
}

// ctor looks at a constructor that is given actors.
func (f *features) ctor(c *ast.CtorDecl) {
	for _, p := range c.Params {
		if !strings.Contains(p.Type.Span().Text(), "A") {
			continue
		}
		f.has["constructor with an actor"] = true
		if p.IsYield() {
			continue
		}
		ast.Inspect(c.Body, func(n ast.Node) bool {
			call, ok := n.(*ast.Call)
			f.note(ok && call.Mode.Inside() && strings.HasPrefix(call.Fun.Span().Text(), p.Name.Text), "constructor that touches its actor")
			return true
		})
	}
}

func (f *features) actor(m *ast.MethodDecl) {
	switch m.Result.(type) {
	case *ast.VectorType, *ast.MapType, *ast.SetType, *ast.OptionalType:
		f.has["result with parts"] = true
	}
	ast.Inspect(m.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ActorRef:
			f.has["named actor reached from an actor"] = true
		case *ast.New:
			f.note(isActor(n.Type) && len(n.Args) > 0, "actor gives an actor to a constructor")
		case *ast.ForUpto:
			f.note(strings.HasPrefix(m.Name.Text, "fan"), "branches in a loop")
		case *ast.Call:
			f.note(n.Every != nil, "periodic timer")
		}
		return true
	})
}

// body looks for assertions, and for what a helper does for an actor.
func (f *features) body(b *ast.Block, where, helper string) {
	ast.Inspect(b, func(n ast.Node) bool {
		call, ok := n.(*ast.Call)
		f.note(ok && strings.HasPrefix(call.Fun.Span().Text(), "narrowed"), "narrowed local is called")
		f.note(isResultUnlessNull(n), "change of what may be null has a result")
		f.note(isWrittenIntoItself(n), "value written into itself")
		return true
	})
	f.note(has[*ast.Assert](b) || has[*ast.Require](b), "assertion in a "+where)
	if helper == "" {
		return
	}
	f.note(has[*ast.Cancel](b), "cancel in a "+helper)
	ast.Inspect(b, func(n ast.Node) bool {
		if call, ok := n.(*ast.Call); ok {
			f.note(call.Mode == ast.Event && call.Name != nil, "timer in a "+helper)
			text := call.Fun.Span().Text()
			f.note(call.Mode.Inside() && strings.HasPrefix(text, "r") && strings.Contains(text, ".bump"), "helper calls an actor")
		}
		return true
	})
}

// isResultUnlessNull reports whether a local gets the result of a call behind `?.`.
func isResultUnlessNull(n ast.Node) bool {
	v, ok := n.(*ast.VarDecl)
	if !ok {
		return false
	}
	call, ok := v.Init.(*ast.Call)
	if !ok {
		return false
	}
	_, ok = call.Fun.(*ast.OptionalField)
	return ok
}

// isWrittenIntoItself reports whether a place gets, or a method that changes it is given, what the way to it reads.
func isWrittenIntoItself(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Assign:
		return strings.HasPrefix(n.LHS.Span().Text(), n.RHS.Span().Text()+"!.")
	case *ast.Call:
		text := n.Fun.Span().Text()
		return len(n.Args) == 1 && (strings.HasPrefix(text, n.Args[0].Span().Text()+"!.") || strings.HasPrefix(text, n.Args[0].Span().Text()+"?."))
	}
	return false
}

// client looks at main, or a test.
func (f *features) client(b *ast.Block) {
	f.note(has[*ast.Assert](b) || has[*ast.Require](b), "assertion in a client")
	f.note(strings.Contains(b.Span().Text(), ".fill"), "many elements filled by main")
	f.pendings(b)
	deleted, unawaited := false, 0
	for i, s := range b.Stmts {
		switch s := s.(type) {
		case *ast.Sleep, *ast.Advance:
			f.note(i < len(b.Stmts)-6, "time passes in the middle")
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.Call); ok && call.Mode == ast.Event && strings.HasPrefix(call.Fun.Span().Text(), "root") {
				unawaited++
				f.note(unawaited > 1, "events one after the other, not awaited")
				continue
			}
		}
		unawaited = 0
	}
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Delete:
			deleted = true
			f.has["client deletes an actor"] = true
		case *ast.ActorRef:
			f.note(deleted, "client makes a name again")
		case *ast.New:
			text := n.Span().Text()
			f.note(isActor(n.Type) && (strings.Contains(text, "root") || strings.Count(text, "new A") > 1), "client gives an actor to a constructor")
		}
		return true
	})
}

// packages looks at what packages use of each other.
func (f *features) packages(list []generate.Package) {
	f.note(len(list) > 1, "several packages")
	for _, p := range list {
		file, _ := p.Parse()
		for _, i := range file.Imports {
			f.note(i.Alias != nil, "package under another name")
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.NamedType:
				if n.Pkg != nil {
					f.note(isActor(n), "actor class of another package")
					f.note(n.Name.Text[0] == 'V' || n.Name.Text[0] == 'R', "value class of another package")
				}
			case *ast.New:
				t, ok := n.Type.(*ast.NamedType)
				f.note(ok && t.Pkg != nil && len(n.Args) > 0 && isActor(t), "constructor of another package")
			case *ast.Field:
				x := n.X.Span().Text()
				if dot := strings.LastIndexByte(x, '.'); imported(file, x) || dot > 0 && imported(file, x[:dot]) {
					switch n.Name.Text[0] {
					case 'E':
						f.has["enum of another package"] = true
					case 'K':
						f.has["constant of another package"] = true
					case 'H':
						f.has["helper of another package"] = true
					}
				}
			}
			return true
		})
	}
}

// imported reports whether a file knows a package by this name.
func imported(file *ast.File, name string) bool {
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportDecl) bool {
		if i.Alias != nil {
			return i.Alias.Text == name
		}
		return strings.HasSuffix(i.Path.Value, "/"+name)
	})
}

func isActor(t ast.Type) bool {
	n, ok := t.(*ast.NamedType)
	return ok && n.Name.Text[0] == 'A'
}

// has reports whether there is a node of a kind in a body.
func has[T ast.Node](b *ast.Block) (found bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		_, ok := n.(T)
		found = found || ok
		return !found
	})
	return found
}

// depth returns how deep a type is nested.
func depth(t ast.Node) int {
	deepest := 0
	ast.Children(t, func(n ast.Node) { deepest = max(deepest, depth(n)) })
	return deepest + 1
}

// Programs of several packages are well-typed, too.
func TestSplitProgramsAreWellTyped(t *testing.T) {
	for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
		for seed := range uint64(*programs) {
			list := generate.Split(program(seed, profile), seed)
			if diags := checkPackages(list); len(diags) > 0 {
				var text strings.Builder
				for _, p := range list {
					fmt.Fprintf(&text, "-- %s.aeon --\n%s", p.Name, p.Text)
				}
				t.Errorf("seed %d, %v: %v\n%s", seed, profile, diags, &text)
			}
		}
	}
}
