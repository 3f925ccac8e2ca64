package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// Import is a package that the generated one imports, directly or not.
type Import struct {
	Info *typecheck.Info
	Path string // the import path of the Go package that is generated for it
}

// imported is an Import with its name in the generated files.
type imported struct {
	alias, path string
}

// adopt makes the names of another package known, as this one writes them: with the package in front
// where they stand at its top level. What Go does not export has no name here.
func (p *pkg) adopt(q *pkg, path string) {
	alias := p.names.top.take(GoPackageName(q.info.Package.Name))
	p.imported = append(p.imported, imported{alias: alias, path: path})
	qualified := func(name string) (string, bool) { return alias + "." + name, exported(name) }
	for obj, name := range q.names.obj {
		switch obj := obj.(type) {
		case *typecheck.Class:
			if obj.Kind != ast.ValueClass {
				continue // only its own package needs the state of an actor
			}
			p.adoptType(q, obj, name, qualified)
		case *typecheck.Enum:
			p.adoptType(q, obj, name, qualified)
			p.adoptValues(q, obj)
		case *typecheck.GoType:
			p.adoptName(obj, name, qualified)
		case *typecheck.Const:
			p.adoptName(obj, name, qualified)
		case *typecheck.Func:
			if obj.Kind == typecheck.FreeFunc {
				p.adoptName(obj, name, qualified)
			} else {
				p.names.obj[obj] = name
			}
		case *typecheck.Var:
			p.names.obj[obj] = name
		}
	}
	for g, name := range q.names.gen {
		switch full, ok := qualified(name); {
		case !q.names.topLevel[g]:
			p.names.gen[g] = name
		case ok && g.kind == "refType":
			p.names.gen[generated{g.of, "ref"}] = full
		case ok:
			p.names.gen[g] = full
		}
	}
}

func (p *pkg) adoptName(obj any, name string, qualified func(string) (string, bool)) {
	if full, ok := qualified(name); ok {
		p.names.obj[obj] = full
	}
}

// adoptType names a value class or an enum by its own name or, if that is not exported, by its alias.
func (p *pkg) adoptType(q *pkg, t typecheck.Type, name string, qualified func(string) (string, bool)) {
	if alias, ok := q.names.gen[generated{t, "type"}]; ok {
		name = alias
	}
	p.adoptName(t, name, qualified)
}

func (p *pkg) adoptValues(q *pkg, e *typecheck.Enum) {
	full, ok := p.names.obj[e]
	if !ok {
		return
	}
	for _, v := range e.Values {
		if name := q.names.obj[v]; exported(name) {
			p.names.obj[v] = full[:len(full)-len(q.names.obj[e])] + name
		} else {
			p.names.obj[v] = full + "(" + itoa(v.Index) + ")"
		}
	}
}

// foreign reports whether c belongs to another package than the one that is generated.
func (p *pkg) foreign(c *typecheck.Class) bool { return c.Pkg != p.info.Package }

// refLit returns the typed reference to an actor or client object of class c.
func (p *pkg) refLit(c *typecheck.Class, code string) string {
	field := ""
	if p.foreign(c) { // go vet wants to see which field is meant
		field = "Ref: "
		if c.Kind == ast.ClientClass {
			field = "ClientRef: "
		}
	}
	return p.gen(c, "ref") + "{" + field + code + "}"
}

// aliases emits the names under which other packages know what is on the surface without being exported.
func (p *pkg) aliases(w *writer) {
	alias := func(of typecheck.Type, kind, name string) {
		if g, ok := p.names.gen[generated{of, kind}]; ok {
			w.add("// %s is %s, for packages that meet it in something exported.", g, name)
			w.add("type %s = %s", g, name)
			w.add("")
		}
	}
	for _, e := range p.info.Package.Enums {
		alias(e, "type", p.names.obj[e])
	}
	for _, c := range p.info.Package.Classes {
		alias(c, "type", p.names.obj[c])
		if c.Kind != ast.ValueClass {
			alias(c, "refType", p.gen(c, "ref"))
		}
	}
}

// accessors emits how the footprints of other packages read the fields of a value class that are not
// exported.
func (p *pkg) accessors(w *writer, c *typecheck.Class) {
	for _, f := range c.Fields {
		name, ok := p.names.gen[generated{f, "get"}]
		if !ok {
			continue
		}
		w.add("// %s returns a field to the footprints of other packages.", name)
		w.add("func %s(v %s) %s { return v.%s }", name, p.names.obj[c], p.goType(f.Type()), p.names.obj[f])
		w.add("")
	}
}

// implicitConstructor emits how other packages make a value of a class on the surface that has no written
// constructor.
func (p *pkg) implicitConstructor(w *writer, c *typecheck.Class) {
	ctor := c.Ctor
	if !p.surface[c] || ctor == nil || ctor.Decl != nil {
		return
	}
	p.versions(ctor, func(by runner, client bool) {
		name := p.gen(c, "new")
		if client {
			name = p.gen(c, "newClient")
		}
		e := p.newFn(ctor, by, w)
		var params, set []string
		if p.plan[ctor].context {
			params = append(params, contextParam(by))
		}
		for _, f := range ctor.ImplicitFields {
			v := e.temp()
			params = append(params, v+" "+p.goType(f.Type()))
			set = append(set, "self."+p.names.obj[f]+" = "+v)
		}
		w.add("// %s returns a %s with the given fields.", name, c.Name())
		e.body("func "+name+"("+strings.Join(params, ", ")+") (self "+p.names.obj[c]+")", func() {
			for _, s := range set {
				e.w.add("%s", s)
			}
			e.fieldInits(c)
		}, nil, typecheck.Void, "return self")
	})
}

// analyseImports plans and names the imported packages exactly as they are generated themselves.
func (p *pkg) analyseImports() []*pkg {
	var list []*pkg
	for _, im := range p.opts.Imports {
		q := emptyPackage(im.Info, Options{SourceName: p.opts.SourceName, API: p.opts.API}, p.plan)
		q.analyse()
		list = append(list, q)
	}
	return list
}
