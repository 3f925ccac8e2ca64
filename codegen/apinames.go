package codegen

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// The names of the API that Go code sees are a function of the declared thing alone: what is declared later never changes
// them. So where two things would have one name no number is appended, as names.go does for the names of the
// program: the package is refused.

// Names that the API has for itself. What has one of them in a program gets a _ behind.
var (
	apiOwnTop    = set(`DB Open AeonPackage AeonEntry`)
	apiOwnDB     = set(`DB Close NewClient WriteMetrics`)
	apiOwnHandle = set(`Handle String IsZero MarshalText UnmarshalText MarshalJSON UnmarshalJSON`)
)

// apiPackages are the names of packages in the file of the API.
var apiPackages = set(`aeon context godoor pebbledb`)

// apiName returns the exported name of what a program calls name.
func apiName(name string, own map[string]bool) string {
	name = upperFirst(name)
	if !exported(name) {
		name = "X" + name
	}
	if own[name] {
		name += "_"
	}
	return name
}

// apiScope is where names must differ.
type apiScope struct {
	in    string
	names map[string]apiDecl
	err   error
}

type apiDecl struct {
	what string
	at   ast.Span
}

func newAPIScope(in string) *apiScope { return &apiScope{in: in, names: map[string]apiDecl{}} }

// declare adds a name, and keeps the first error.
func (s *apiScope) declare(name, what string, at ast.Span) {
	if old, twice := s.names[name]; twice && s.err == nil {
		s.err = fmt.Errorf("%s: %s and %s, at %s, would both be %s in %s for Go; rename one of them", at.Pos(), what, old.what, old.at.Pos(), name, s.in)
	}
	s.names[name] = apiDecl{what, at}
}

// apiTop returns the names that the API has at the top level of a package.
func apiTop(pk *typecheck.Package) *apiScope {
	s := newAPIScope("package " + GoPackageName(pk.Name))
	for _, c := range pk.Classes {
		name := apiName(c.Name(), apiOwnTop)
		s.declare(name, "class "+c.Name(), c.Decl.Span())
		if c.Kind == ast.ClientClass {
			s.declare(name+"Callbacks", "what implements class "+c.Name(), c.Decl.Span())
			s.declare("New"+name, "what makes objects of class "+c.Name(), c.Decl.Span())
		}
	}
	for _, e := range pk.Enums {
		name := apiName(e.Name(), apiOwnTop)
		s.declare(name, "enum "+e.Name(), e.Decl.Span())
		for _, v := range e.Values {
			s.declare(name+v.Name(), "constant "+v.Name()+" of enum "+e.Name(), e.Decl.Span())
		}
	}
	return s
}

// checkAPINames refuses a package in which two things would have one name.
func checkAPINames(pk *typecheck.Package) error {
	top, db := apiTop(pk), newAPIScope("DB")
	scopes := []*apiScope{top, db}
	for _, c := range pk.Classes {
		s := newAPIScope(apiName(c.Name(), apiOwnTop))
		scopes = append(scopes, s)
		switch c.Kind {
		case ast.ActorClass:
			for _, name := range apiFinders(c) {
				db.declare(name, "class "+c.Name(), c.Decl.Span())
			}
			for _, m := range c.Offered() {
				s.declare(apiName(m.Name(), apiOwnHandle), "method "+m.Name(), m.Decl.Span())
			}
		case ast.ClientClass:
			for _, m := range c.Methods {
				s.declare(apiName(m.Name(), nil), "method "+m.Name(), m.Decl.Span())
			}
		case ast.ValueClass:
			for _, f := range c.Fields {
				s.declare(apiName(f.Name(), nil), "field "+f.Name(), c.Decl.Span())
			}
		}
	}
	for _, s := range scopes {
		if s.err != nil {
			return s.err
		}
	}
	return nil
}

// apiFinders returns the names of the methods of DB that give actors of a class.
func apiFinders(c *typecheck.Class) (names []string) {
	name := apiName(c.Name(), apiOwnTop)
	if nameable(c) {
		names = append(names, apiName(name, apiOwnDB))
	}
	if c.Ctor != nil {
		names = append(names, apiName("New"+name, apiOwnDB))
	}
	return append(names, "Find"+name)
}

// nameable reports whether actors of a class can have names.
func nameable(c *typecheck.Class) bool { return c.Ctor != nil && len(c.Ctor.Params) == 0 }

// api names what the API has of a package, before all others, which give way.
func (n *names) api(pk *typecheck.Package) {
	for name := range apiTop(pk).names {
		n.top.taken[name] = true
	}
	for name := range apiOwnTop {
		n.top.taken[name] = true
	}
	for _, c := range pk.Classes {
		name := apiName(c.Name(), apiOwnTop)
		switch c.Kind {
		case ast.ActorClass:
			n.addAPI(c, "handle", name)
			for _, m := range c.Offered() {
				n.gen[generated{m, "api"}] = apiName(m.Name(), apiOwnHandle)
			}
		case ast.ClientClass:
			n.addAPI(c, "handle", name)
			n.addAPI(c, "callbacks", name+"Callbacks")
			n.addAPI(c, "make", "New"+name)
			for _, m := range c.Methods {
				n.gen[generated{m, "api"}] = apiName(m.Name(), nil)
			}
		case ast.ValueClass:
			n.addAPI(c, "plain", name)
			n.add(c, "fromPlain", "AeonFrom"+name)
			n.add(c, "toPlain", "AeonTo"+name)
			for _, f := range c.Fields {
				n.gen[generated{f, "api"}] = apiName(f.Name(), nil)
			}
		}
	}
	for _, e := range pk.Enums {
		n.obj[e] = apiName(e.Name(), apiOwnTop)
		for _, v := range e.Values {
			n.obj[v] = n.obj[e] + v.Name()
		}
	}
}

func (n *names) addAPI(of any, kind, name string) {
	g := generated{of, kind}
	n.gen[g], n.topLevel[g] = name, true
}
