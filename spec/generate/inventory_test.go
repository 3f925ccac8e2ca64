package generate_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/spec/generate"
	"github.com/aeon-lang/aeon/typecheck"
)

// inventorySize is how many programs of each profile the inventory looks at.
const inventorySize = 200

// TestInventory lists what the language has below its kinds of nodes, operators, functions, methods of library types, types, cells
// of the call table, kinds of writes, and says how many programs have each. What none has is a gap.
func TestInventory(t *testing.T) {
	seen, total := map[string]int{}, 0
	for seed := range uint64(inventorySize) {
		for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
			file, _ := lang.Parse("generated.aeon", []byte(program(seed, profile)))
			info, _ := typecheck.Check([]*ast.File{file}, typecheck.Options{})
			found := map[string]bool{}
			inspect(file, info, func(format string, args ...any) { found[fmt.Sprintf(format, args...)] = true })
			for name := range found {
				seen[name]++
			}
			total++
		}
	}
	features := inventory(t)
	for _, name := range features {
		if seen[name] == 0 {
			t.Errorf("no program of %d has: %s", total, name)
		}
		t.Logf("%4d of %d: %s", seen[name], total, name)
	}
	for name := range seen {
		if !slices.Contains(features, name) {
			t.Errorf("%s is in programs, and not in the inventory", name)
		}
	}
}

// inventory returns the features that programs can have.
func inventory(t *testing.T) (list []string) {
	for op := ast.OpOr; op < ast.OpNot; op++ {
		list = append(list, "binary "+op.String())
	}
	for op := ast.OpNone; op < ast.OpNot; op++ {
		if op == ast.OpNone || op >= ast.OpAdd {
			list = append(list, "assignment "+op.String()+"=")
		}
	}
	for _, op := range []ast.Op{ast.OpAdd, ast.OpSub, ast.OpNot, ast.OpBitXor} {
		list = append(list, "unary "+op.String())
	}
	for id := typecheck.NoBuiltin + 1; id <= typecheck.ParseJSONFunc; id++ {
		list = append(list, "function "+id.String())
	}
	sections := regexp.MustCompile(`(?ms)^func (\w+)Method\(.*?^}`)
	names := regexp.MustCompile(`case "(\w+)"`)
	for _, file := range []string{"library.go", "table_query.go"} {
		src, err := os.ReadFile("../../typecheck/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections.FindAllSubmatch(src, -1) {
			for _, m := range names.FindAllSubmatch(s[0], -1) {
				list = append(list, fmt.Sprintf("method %s.%s", s[1], m[1]))
			}
		}
	}
	for _, b := range []string{"int", "int8", "int16", "int32", "uint8", "uint16", "uint32", "uint64", "float", "bool", "string", "bytes", "time", "duration"} {
		list = append(list, "type "+b)
	}
	for _, mode := range []ast.CallMode{ast.Sync, ast.Async, ast.Event, ast.Tail} {
		for _, through := range []string{"plain", "yield", "this"} {
			if mode.Inside() && through == "yield" || mode == ast.Sync && through == "this" {
				continue // refused, and a plain call
			}
			list = append(list, fmt.Sprintf("call by an actor, %v through %s", mode, through))
		}
	}
	list = append(list, "call by an actor, event through client", "call by a client, event through yield", "call by a client, event through client", "call by a client, event through this",
		"call after", "call every", "call after, every", "call as", "call of what may be null", "change of what may be null")
	for _, kind := range []string{"field", "element", "non-null"} {
		list = append(list, "write through a "+kind)
	}
	for _, owner := range []string{"moves", "shrinks", "fresh", "changes"} {
		list = append(list, "owner "+owner)
	}
	if len(list) < 100 {
		t.Fatalf("only %d features found: %v", len(list), list)
	}
	return list
}

// inspect notes the features of one program.
func inspect(file *ast.File, info *typecheck.Info, note func(format string, args ...any)) {
	client := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ClassDecl:
			client = n.Kind == ast.ClientClass
		case *ast.FuncDecl:
			client = n.IsMain() || has[*ast.Await](n.Body)
		case *ast.TestDecl:
			client = true
		case *ast.Binary:
			note("binary %v", n.Op)
		case *ast.Assign:
			note("assignment %v=", n.Op)
		case *ast.Unary:
			note("unary %v", n.Op)
		case *ast.NamedType:
			if b, ok := info.TypeExprs[n].(*typecheck.Basic); ok && b != typecheck.Void {
				note("type %v", b)
			}
		case *ast.Call:
			call(n, info, client, note)
		}
		if st := info.Stores[n]; st != nil {
			store(st, note)
		}
		return true
	})
}

func call(x *ast.Call, info *typecheck.Info, client bool, note func(format string, args ...any)) {
	c := info.Calls[x]
	switch c.Kind {
	case typecheck.BuiltinCall:
		note("function %v", c.Builtin)
	case typecheck.LibraryCall:
		kind := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", c.RecvType), "*typecheck."))
		switch {
		case typecheck.IsInteger(c.RecvType):
			kind = "int"
		case kind == "basic":
			kind = c.RecvType.String()
		}
		note("method %s.%v", kind, c.Library)
	case typecheck.ActorCall, typecheck.ClientCall:
		by := "an actor"
		if client {
			by = "a client"
		}
		note("call by %s, %v through %s", by, x.Mode, [...]string{"plain", "yield", "this", "client"}[c.Through])
		if c.Optional {
			note("call of what may be null")
		}
	}
	if c.Optional && info.Stores[x] != nil {
		note("change of what may be null")
	}
	if x.Name != nil {
		note("call as")
	}
	switch {
	case x.After != nil && x.Every != nil:
		note("call after, every")
	case x.After != nil:
		note("call after")
	case x.Every != nil:
		note("call every")
	}
}

func store(st *typecheck.Store, note func(format string, args ...any)) {
	for _, s := range st.Steps {
		note("write through a %s", [...]string{"field", "element", "non-null"}[s.Kind])
	}
	if st.Owner != typecheck.OwnerNone {
		note("owner %s", [...]string{"", "moves", "shrinks", "fresh", "changes"}[st.Owner])
	}
}
