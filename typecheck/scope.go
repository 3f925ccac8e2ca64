package typecheck

import "github.com/aeon-lang/aeon/lang/ast"

// fileScope is what a file adds to the package's scope: its imports.
type fileScope struct {
	file    *ast.File
	imports map[string]*PkgName
}

// badObject stands for a name that is declared, but in a way that was
// reported. Its uses are silent.
type badObject struct {
	name string
	span ast.Span
}

// Name implements Object.
func (b *badObject) Name() string { return b.name }

// Type implements Object.
func (b *badObject) Type() Type { return Invalid }

// Span implements Object.
func (b *badObject) Span() ast.Span { return b.span }

// locals is the scopes of one body: a stack of bindings per name, so that
// lookup costs the same however many names are declared.
type locals struct {
	byName map[string]*binding
	order  []*binding // declared and still in scope
	marks  []int      // len(order) at the start of every open scope
}

type binding struct {
	v     *Var
	name  string
	depth int
	outer *binding
}

func newLocals() *locals { return &locals{byName: make(map[string]*binding)} }

func (l *locals) open() { l.marks = append(l.marks, len(l.order)) }

func (l *locals) close() {
	start := l.marks[len(l.marks)-1]
	l.marks = l.marks[:len(l.marks)-1]
	for i := len(l.order) - 1; i >= start; i-- {
		b := l.order[i]
		if b.outer == nil {
			delete(l.byName, b.name)
		} else {
			l.byName[b.name] = b.outer
		}
	}
	l.order = l.order[:start]
}

// declare binds v; it returns the variable of the same name in the same scope, if any.
func (l *locals) declare(v *Var) (previous *Var) {
	outer := l.byName[v.name]
	if outer != nil && outer.depth == len(l.marks) {
		previous = outer.v
	}
	b := &binding{v: v, name: v.name, depth: len(l.marks), outer: outer}
	l.byName[v.name] = b
	l.order = append(l.order, b)
	return previous
}

func (l *locals) lookup(name string) *Var {
	if b := l.byName[name]; b != nil {
		return b.v
	}
	return nil
}
