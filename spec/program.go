package spec

import (
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Program is a checked package with everything that it imports. It is read-only, and may
// be shared between goroutines.
type Program struct {
	entry *typecheck.Info
	infos map[*typecheck.Package]*typecheck.Info

	deletes bool // some code deletes an actor
	cancels bool // some client cancels an event
	goFuncs GoFunctions
	keys    map[*typecheck.Class]bool // the classes of actors that are keys of some container, so that their order can be seen
}

// Entry is where a run begins: main, or a test block.
type Entry struct {
	Name string // main, or the text of the test
	Test bool
	Pos  ast.Pos
	fn   *typecheck.Func
}

// Load returns the program that a loaded package is. Neither it nor what it imports may have
// errors.
func Load(p *load.Package) *Program {
	var infos []*typecheck.Info
	for _, q := range p.Closure() {
		if q != p {
			infos = append(infos, q.Info)
		}
	}
	return New(p.Info, infos...)
}

// New returns the program of a checked package and the packages that it imports, directly or
// not. None of them may have errors.
func New(entry *typecheck.Info, imports ...*typecheck.Info) *Program {
	p := &Program{entry: entry, infos: map[*typecheck.Package]*typecheck.Info{entry.Package: entry}, keys: map[*typecheck.Class]bool{}}
	for _, in := range imports {
		p.infos[in.Package] = in
	}
	for _, in := range p.infos {
		p.inspect(in)
	}
	return p
}

// inspect looks for what makes differences between orders visible.
func (p *Program) inspect(in *typecheck.Info) {
	for _, file := range in.Package.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Delete:
				p.deletes = true
			case *ast.Cancel:
				if _, event := in.TypeOf(n.Name).(*typecheck.Pending); event {
					p.cancels = true
				}
			case ast.Type:
				p.keysOf(in.TypeExprs[n])
			case *ast.MapLit: // its type may be written nowhere
				p.keysOf(in.TypeOf(n))
			}
			return true
		})
	}
}

// keysOf notes the actors that are keys of a container of type t.
func (p *Program) keysOf(t typecheck.Type) {
	switch t := t.(type) {
	case *typecheck.Map:
		p.key(t.Key)
	case *typecheck.Set:
		p.key(t.Elem)
	case *typecheck.Table:
		p.key(t.Key.Type())
		for _, index := range t.Indexes {
			for _, column := range index.Columns {
				p.key(column.Type())
			}
		}
	}
}

func (p *Program) key(t typecheck.Type) {
	if typecheck.IsActor(t) {
		p.keys[t.(*typecheck.Class)] = true
	}
}

// Main returns the entry of the program, if it has a main function.
func (p *Program) Main() (Entry, bool) {
	fn := p.entry.Package.Main
	if fn == nil {
		return Entry{}, false
	}
	return Entry{Name: "main", Pos: fn.Span().Pos(), fn: fn}, true
}

// Tests returns the tests of the package, in source order.
func (p *Program) Tests() []Entry {
	var list []Entry
	for _, fn := range p.entry.Package.Tests {
		list = append(list, Entry{Name: fn.Name(), Test: true, Pos: fn.Span().Pos(), fn: fn})
	}
	return list
}
