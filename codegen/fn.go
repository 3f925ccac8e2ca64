package codegen

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// fn emits the body of one function for one context.
type fn struct {
	*pkg
	f       *typecheck.Func
	by      runner
	w       *writer
	locals  map[*typecheck.Var]string
	scopes  []map[string]bool
	used    map[int]bool // by number, the variables that the text reads
	numbers map[*typecheck.Var]int
	temps   *int
	// building: the body of a constructor of an actor, whose fields need no undo.
	building bool
	logged   logging   // the body of a method of a value class is for values in fields of actors
	dropped  *ast.Call // the call whose result the current statement drops
	tries    []*tryFrame
	line     int // of the source, on which the current statement begins
}

func (p *pkg) newFn(f *typecheck.Func, by runner, w *writer) *fn {
	return &fn{pkg: p, f: f, by: by, w: w, locals: map[*typecheck.Var]string{}, scopes: []map[string]bool{{}},
		used: map[int]bool{}, numbers: map[*typecheck.Var]int{}, temps: new(int)}
}

// ctx is the name of the context: cx in code of actors, cl in code of clients.
func (f *fn) ctx() string {
	if f.by == byClient {
		return "cl"
	}
	return "cx"
}

// contextParam is the first parameter of a function that needs a context.
func contextParam(by runner) string {
	if by == byClient {
		return "cl *aeonrt.Client"
	}
	return "cx *aeonrt.Cx"
}

// push and pop delimit a block.
func (f *fn) push() { f.scopes = append(f.scopes, map[string]bool{}) }
func (f *fn) pop()  { f.scopes = f.scopes[:len(f.scopes)-1] }

// free reports whether a local may have the name: nothing of the package has it, and no variable
// of a block around.
func (f *fn) free(name string) bool {
	if goKeywords[name] || predeclared[name] || oursLocal[name] || isTemporary(name) || f.names.top.taken[name] {
		return false
	}
	for _, s := range f.scopes {
		if s[name] {
			return false
		}
	}
	return true
}

// declare names a variable in the current block.
func (f *fn) declare(v *typecheck.Var) string {
	name := v.Name()
	for !f.free(name) {
		name += "_"
	}
	f.scopes[len(f.scopes)-1][name] = true
	f.locals[v] = name
	f.numbers[v] = len(f.numbers)
	return name
}

// keepUsed writes a mark that becomes `_ = name` if the text never reads v.
func (f *fn) keepUsed(v *typecheck.Var) {
	f.w.add("%s%d %s", markUse, f.numbers[v], f.locals[v])
}

// local returns the Go name of a local that is read.
func (f *fn) local(v *typecheck.Var) string {
	f.used[f.numbers[v]] = true
	name, ok := f.locals[v]
	if !ok {
		panic("codegen: undeclared local " + v.Name())
	}
	return name
}

// temp returns a fresh name.
func (f *fn) temp() string {
	*f.temps++
	return fmt.Sprintf("tmp%d", *f.temps)
}

// capture runs emit and returns the text it wrote instead of writing it.
func (f *fn) capture(emit func()) string {
	outer := f.w
	f.w = &writer{name: outer.name}
	defer func() { f.w = outer }()
	emit()
	return f.w.buf.String()
}

// resolveUses replaces the marks of keepUsed in the text of a function.
func (f *fn) resolveUses(text string) string {
	if !strings.Contains(text, markUse) {
		return text
	}
	var sb strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, markUse)
		if !ok {
			sb.WriteString(line)
			continue
		}
		var number int
		var name string
		fmt.Sscanf(rest, "%d %s", &number, &name)
		if !f.used[number] {
			sb.WriteString("_ = " + name + "\n")
		}
	}
	return sb.String()
}

// body emits the statements of the function with its closing brace; head is the Go text up to the opening one.
func (f *fn) body(head string, prologue func(), block *ast.Block, result typecheck.Type, epilogue string) {
	text := f.capture(func() {
		f.w.add("%s {", head)
		if f.plan[f.f].recursive {
			f.w.add("%s.Step()", f.ctx())
			f.w.add("defer %s.Leave()", f.ctx())
		}
		if prologue != nil {
			prologue()
		}
		if block != nil {
			f.stmts(block.Stmts)
		}
		switch {
		case epilogue != "":
			f.w.here()
			f.w.add("%s", epilogue)
		case !isVoid(result) && !f.terminates(block.Stmts):
			f.w.here()
			f.w.add("panic(%q)", "unreachable")
		}
		f.w.here()
		f.w.add("}")
		f.w.add("")
	})
	f.w.buf.WriteString(f.resolveUses(text))
}

// params declares the parameters and returns the Go parameter list.
func (f *fn) params(context bool) string {
	var list []string
	if context {
		list = append(list, contextParam(f.by))
	}
	for _, v := range f.f.Params {
		list = append(list, f.declare(v)+" "+f.goType(v.Type()))
	}
	return strings.Join(list, ", ")
}

// resultType returns the Go result of a function, with a space before it.
func (p *pkg) resultType(t typecheck.Type) string {
	if isVoid(t) {
		return ""
	}
	return " " + p.goType(t)
}
