package typecheck

import (
	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// typeDepthMax bounds the nesting of types as written: Go compiles containers that are nested so deep in seconds.
const typeDepthMax = 32

// typ returns the type that t denotes, seen from a file. Void is an error
// here; see resultType.
func (c *checker) typ(fs *fileScope, t ast.Type) Type {
	got := c.typAt(fs, t, 1)
	if got == Void {
		c.errorf(diag.BadTypeUse, t, "void is not a type of values; only a function can have it as its result")
		return Invalid
	}
	return got
}

// resultType is typ for results and pending, where void is allowed.
func (c *checker) resultType(fs *fileScope, t ast.Type) Type {
	if t == nil {
		return Void
	}
	return c.typAt(fs, t, 1)
}

func (c *checker) typAt(fs *fileScope, t ast.Type, depth int) Type {
	if depth > typeDepthMax {
		c.errorf(diag.TooDeep, t, "this type is nested more than %d deep", typeDepthMax).Help = "put the inner part into a value class of its own"
		return Invalid
	}
	got := c.typWritten(fs, t, depth)
	c.info.TypeExprs[t] = got
	return got
}

func (c *checker) typWritten(fs *fileScope, t ast.Type, depth int) Type {
	switch t := t.(type) {
	case *ast.NamedType:
		return c.namedType(fs, t, depth)
	case *ast.VectorType:
		return poison1(&Vector{c.stored(fs, t.Elem, depth)})
	case *ast.SetType:
		return poison1(&Set{c.key(fs, t.Elem, depth, "element of a set")})
	case *ast.MapType:
		return poison1(&Map{c.key(fs, t.Key, depth, "key of a map"), c.stored(fs, t.Value, depth)})
	case *ast.TableType:
		return c.misplacedTable(fs, t, depth)
	case *ast.OptionalType:
		elem := c.elem(fs, t.Elem, depth)
		if _, twice := elem.(*Optional); twice {
			d := c.errorf(diag.BadTypeUse, t, "%s? is the same as %s", elem, elem)
			d.Help = "a value is null or it is not; one `?` says so"
			return elem
		}
		return poison1(&Optional{elem})
	case *ast.PendingType:
		return poison1(&Pending{c.noOpaque(c.typAt(fs, t.Elem, depth+1), t.Elem, "an event has no such result")})
	case *ast.BadType:
		return Invalid
	}
	assert.Unreachable("the checker does not know the type %T", t)
	return Invalid
}

// poison1 returns Invalid for a type built from it.
func poison1(t Type) Type {
	if containsInvalid(t) {
		return Invalid
	}
	return t
}

func (c *checker) elem(fs *fileScope, t ast.Type, depth int) Type {
	got := c.typAt(fs, t, depth+1)
	if got == Void {
		c.errorf(diag.BadTypeUse, t, "void is not a type of values")
		return Invalid
	}
	return got
}

// stored is elem for what a container holds.
func (c *checker) stored(fs *fileScope, t ast.Type, depth int) Type {
	return c.noOpaque(c.elem(fs, t, depth), t, "a container cannot hold this")
}

func (c *checker) key(fs *fileScope, t ast.Type, depth int, what string) Type {
	got := c.stored(fs, t, depth)
	if got != Invalid && !IsKey(got) {
		c.report(diag.New(diag.BadKey, t.Span(), "a value of type %s cannot be the %s", got, what).
			WithHelp("keys are integers, bool, string, bytes, enums, time, duration or actors"))
		return Invalid
	}
	return got
}

func (c *checker) namedType(fs *fileScope, t *ast.NamedType, depth int) Type {
	for _, a := range t.Args {
		c.typAt(fs, a, depth+1)
	}
	var obj Object
	if t.Pkg != nil {
		obj = c.qualified(fs, *t.Pkg, t.Name)
		if obj == nil {
			return Invalid
		}
	} else if obj = c.lookupTop(fs, t.Name.Text); obj == nil {
		c.undefinedType(fs, t)
		return Invalid
	}
	switch obj := obj.(type) {
	case *badObject:
		return Invalid
	case *Class, *Enum, *basicName, *GoType:
		if len(t.Args) > 0 {
			c.errorf(diag.BadTypeUse, t, "%s takes no type arguments", t.Name.Text)
			return Invalid
		}
		return obj.Type()
	default:
		d := diag.New(diag.WrongKind, t.Name.Span(), "%s is %s, not a type", t.Name.Text, describe(obj))
		if _, builtin := obj.(*Builtin); builtin && foreignTypes[t.Name.Text] != "" {
			c.didYouMean(&d, t.Name.Span(), foreignTypes[t.Name.Text])
		}
		if obj.Span().IsValid() {
			d = d.With(obj.Span(), "declared here")
		}
		c.report(d)
		return Invalid
	}
}

// lookupTop finds a name outside of classes and bodies: package, imports, universe.
func (c *checker) lookupTop(fs *fileScope, name string) Object {
	if obj := c.pkg.scope[name]; obj != nil {
		return obj
	}
	if fs != nil {
		if p := fs.imports[name]; p != nil {
			p.used = true
			return p
		}
	}
	if obj := universe[name]; obj != nil {
		return obj
	}
	return nil
}

// qualified finds pkg.name and reports what is wrong with it; nil if anything is.
func (c *checker) qualified(fs *fileScope, pkg, name ast.Name) Object {
	p := fs.imports[pkg.Text]
	if p == nil {
		c.errorAt(diag.UndefinedName, pkg.Span(), "no package %s is imported in this file", pkg.Text)
		return nil
	}
	p.used = true
	if p.Pkg == nil {
		return nil
	}
	return c.member(p.Pkg, name)
}

// member finds an exported name of an imported package, or reports.
func (c *checker) member(p *Package, name ast.Name) Object {
	obj := p.scope[name.Text]
	switch {
	case obj == nil:
		d := c.errorAt(diag.UndefinedName, name.Span(), "package %s has no %s", p.Name, name.Text)
		c.didYouMean(d, name.Span(), c.similar(name.Text, func(yield func(string)) {
			for n := range p.scope {
				if exported(n) {
					yield(n)
				}
			}
		}))
		return nil
	case !exported(name.Text):
		c.errorAt(diag.NotExported, name.Span(), "%s is not exported by package %s: only names that start with a capital letter are", name.Text, p.Name)
		return nil
	}
	if _, bad := obj.(*badObject); bad {
		return nil
	}
	return obj
}

func exported(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

var containerForms = map[string]string{"vector": "vector<int>", "set": "set<int>", "map": "map<string, int>", "table": "table<Row>"}

func (c *checker) undefinedType(fs *fileScope, t *ast.NamedType) {
	if form, ok := containerForms[t.Name.Text]; ok {
		c.errorAt(diag.BadTypeUse, t.Name.Span(), "%s needs the types of what it holds, as in %s", t.Name.Text, form)
		return
	}
	d := c.errorAt(diag.UndefinedType, t.Name.Span(), "there is no type %s", t.Name.Text)
	if ours, ok := foreignTypes[t.Name.Text]; ok {
		c.didYouMean(d, t.Name.Span(), ours)
		return
	}
	if help, ok := foreignTypeHelp[t.Name.Text]; ok {
		d.Help = help
		return
	}
	c.didYouMean(d, t.Name.Span(), c.similar(t.Name.Text, func(yield func(string)) {
		for n, obj := range c.pkg.scope {
			if isTypeObject(obj) {
				yield(n)
			}
		}
		for n, obj := range universe {
			if isTypeObject(obj) {
				yield(n)
			}
		}
		if len(t.Args) > 0 {
			for n := range containerForms {
				yield(n)
			}
		}
	}))
}

func isTypeObject(obj Object) bool {
	switch obj.(type) {
	case *Class, *Enum, *basicName, *GoType:
		return true
	}
	return false
}

// didYouMean adds the suggestion to d, as help and as a fix, if there is one.
func (c *checker) didYouMean(d *diag.Diagnostic, at ast.Span, name string) {
	if name != "" {
		*d = d.WithHelp("did you mean %s?", name).WithFix("write "+name, diag.Replace(at, name))
	}
}

// describe says what an object is, with its article.
func describe(obj Object) string {
	switch obj := obj.(type) {
	case *Var:
		return [...]string{"a local variable", "a parameter", "a field", "a loop variable", "a catch variable"}[obj.Kind]
	case *Const:
		return "a constant"
	case *EnumValue:
		return "a value of enum " + obj.Enum.name
	case *Class:
		if obj.Kind.String()[0] == 'a' {
			return "an " + obj.Kind.String()
		}
		return "a " + obj.Kind.String()
	case *Enum:
		return "an enum"
	case *basicName:
		return "a type"
	case *GoType:
		return "a Go type"
	case *Func:
		if obj.Kind == Method {
			return "a method"
		}
		return "a function"
	case *Builtin:
		return "a function"
	case *PkgName:
		return "a package"
	}
	return "something else"
}
