package codegen

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// The surface of a package is what generated code of other packages may have to name: its exported
// classes and enums, and those that can be reached through them. A class need not be exported for that:
// an exported field may have its type, and a footprint its actors.

// findSurface returns the classes and enums on the surface.
func findSurface(pk *typecheck.Package) map[typecheck.Type]bool {
	s := &surface{pkg: pk, found: map[typecheck.Type]bool{}}
	for _, c := range pk.Classes {
		if exported(c.Name()) {
			s.add(c)
		}
	}
	for _, e := range pk.Enums {
		if exported(e.Name()) {
			s.add(e)
		}
	}
	for _, c := range pk.Consts {
		if exported(c.Name()) {
			s.add(c.Type())
		}
	}
	for _, f := range pk.Funcs {
		if f.Public() {
			s.signature(f)
		}
	}
	for len(s.work) > 0 {
		c := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		s.class(c)
	}
	return s.found
}

type surface struct {
	pkg   *typecheck.Package
	found map[typecheck.Type]bool
	work  []*typecheck.Class // found, and not looked into yet
}

// add adds the classes and enums of this package that t is built from.
func (s *surface) add(t typecheck.Type) {
	switch t := t.(type) {
	case *typecheck.Vector:
		s.add(t.Elem)
	case *typecheck.Set:
		s.add(t.Elem)
	case *typecheck.Map:
		s.add(t.Key)
		s.add(t.Value)
	case *typecheck.Table:
		s.add(t.Row)
	case *typecheck.Optional:
		s.add(t.Elem)
	case *typecheck.Pending:
		s.add(t.Elem)
	case *typecheck.Enum:
		if t.Pkg == s.pkg {
			s.found[t] = true
		}
	case *typecheck.Class:
		if t.Pkg == s.pkg && !s.found[t] {
			s.found[t] = true
			s.work = append(s.work, t)
		}
	}
}

// class adds what can be reached through a class. The footprints of other packages may lead through all
// fields of a value.
func (s *surface) class(c *typecheck.Class) {
	if c.Kind == ast.ValueClass {
		for _, f := range c.Fields {
			s.add(f.Type())
		}
	}
	for _, below := range c.Owns {
		s.add(below)
	}
	if c.Ctor != nil {
		s.signature(c.Ctor)
	}
	for _, m := range c.Methods {
		if m.Public() {
			s.signature(m)
		}
	}
}

// signature adds what a call of f mentions and touches.
func (s *surface) signature(f *typecheck.Func) {
	for _, v := range f.Params {
		s.add(v.Type())
	}
	s.add(f.Result)
	if f.Effects != nil {
		for _, m := range f.Effects.Classes {
			s.add(m.Class)
		}
	}
}

// exported reports whether a name can be used outside of its package, in aeon as in Go.
func exported(name string) bool { return name != "" && 'A' <= name[0] && name[0] <= 'Z' }
