package generate_test

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// callbacks looks at what the client class of a program does when it is told of something.
func (f *features) callbacks(d *ast.ClassDecl) {
	f.note(len(d.Ctors()) > 0, "client object that is made with an actor")
	for _, m := range d.Methods() {
		f.note(has[*ast.Sleep](m.Body) || has[*ast.Settle](m.Body) || has[*ast.Advance](m.Body), "callback that waits for the system")
		f.note(strings.Contains(m.Body.Span().Text(), "nap"), "callback that waits in a helper")
		f.note(has[*ast.TryCatch](m.Body), "callback that catches")
		ast.Inspect(m.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Await:
				f.has["callback that awaits"] = true
			case *ast.Call:
				on := n.Fun.Span().Text()
				f.note(n.Mode == ast.Event && strings.HasPrefix(on, "who."), "callback that issues an event")
				f.note(n.Mode == ast.Event && strings.HasPrefix(on, "this."), "callback that issues a callback")
				f.note(n.Mode == ast.Sync && strings.HasSuffix(on, "rest"), "callback that calls a method of its own")
			}
			return true
		})
	}
}

// pendings looks at the pending values of main, or of a test.
func (f *features) pendings(b *ast.Block) {
	var issued []string // in order
	awaited := map[string]int{}
	last := -1
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.VarDecl:
			switch n.Type.(type) {
			case *ast.PendingType:
				issued = append(issued, n.Name.Text)
			case *ast.VectorType, *ast.MapType:
				f.note(strings.Contains(n.Type.Span().Text(), "pending<"), "pending value in a container")
			}
		case *ast.Await:
			name := n.X.Span().Text()
			for i, q := range issued {
				if q == name {
					awaited[name]++
					f.note(i < last, "pending values awaited in another order")
					last = max(last, i)
				}
			}
			f.note(awaited[name] > 1, "pending value awaited twice")
		case *ast.Call:
			on := n.Fun.Span().Text()
			for use, name := range map[string]string{"same": "pending value by way of a function", "hear": "pending value awaited in a function",
				"all": "pending values awaited in a loop", "forget": "pending value that is not awaited"} {
				f.note(strings.HasPrefix(on, use), name)
			}
		}
		return true
	})
}
