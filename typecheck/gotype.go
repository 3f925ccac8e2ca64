package typecheck

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// notCrossing returns why values of type t, which stands in a declaration of package pkg, do not pass between aeon and Go, as a
// sentence without a subject; "" if they do.
func notCrossing(t Type, pkg *Package, within []*Class) string {
	const no = "cannot pass between aeon and Go"
	switch t := t.(type) {
	case *GoType:
		return ""
	case *Basic:
		if t.of != nil || IsNumeric(t) || t == Bool || t == String || t == Bytes || t == Time || t == Duration {
			return ""
		}
	case *Optional:
		return notCrossing(t.Elem, pkg, within)
	case *Vector:
		return notCrossing(t.Elem, pkg, within)
	case *Map:
		if why := notCrossing(t.Key, pkg, within); why != "" {
			return why
		}
		return notCrossing(t.Value, pkg, within)
	case *Enum:
		for _, v := range t.Values {
			if v.Decl.Payload != nil {
				return no + ": its constants hold values"
			}
		}
		return ""
	case *Class:
		switch {
		case !IsValueClass(t):
			return no
		case slices.Contains(within, t):
			return no + ": it may contain another of its class, and in Go such a chain may have no end"
		}
		for _, f := range t.Fields {
			switch {
			case f.typ == Invalid:
				return no
			case t.Pkg != pkg && !exported(f.name):
				return fmt.Sprintf("%s: its class is of another package, which alone knows the field %s; bind the function there", no, f.name)
			}
			if why := notCrossing(f.typ, pkg, append(within, t)); why != "" {
				if why == no {
					why = fmt.Sprintf("%s: its field %s is %s", no, f.name, aType(f.typ))
				}
				return why
			}
		}
		return ""
	}
	return no
}

var goBasics = map[Type][]types.BasicKind{
	Int: {types.Int64, types.Int}, Int8: {types.Int8}, Int16: {types.Int16}, Int32: {types.Int32},
	Uint8: {types.Uint8}, Uint16: {types.Uint16}, Uint32: {types.Uint32}, Uint64: {types.Uint64, types.Uint},
	Float: {types.Float64}, Bool: {types.Bool}, String: {types.String},
}

// GoTypeOf reports whether values of type t are values of the Go type g on the other side of the border.
func GoTypeOf(t Type, g types.Type) bool {
	g = types.Unalias(g)
	switch t := t.(type) {
	case *GoType:
		return isGoType(t, g)
	case *Basic:
		if t.of != nil {
			return isGoType(t.of, g)
		}
		switch t {
		case Bytes:
			s, ok := g.(*types.Slice)
			return ok && types.Identical(s.Elem(), types.Typ[types.Uint8])
		case Time:
			return isOfPackageTime(g, "Time")
		case Duration:
			return isOfPackageTime(g, "Duration")
		}
		b, ok := g.(*types.Basic)
		for _, kind := range goBasics[t] {
			if ok && b.Kind() == kind {
				return true
			}
		}
	case *Optional:
		if of, ok := t.Elem.(*GoType); ok && of.IsInterface() {
			return isGoType(of, g) // nil is null
		}
		p, ok := g.(*types.Pointer)
		if of, opaque := t.Elem.(*GoType); ok && opaque {
			return isGoType(of, p)
		}
		return ok && GoTypeOf(t.Elem, p.Elem())
	case *Vector:
		s, ok := g.(*types.Slice)
		return ok && GoTypeOf(t.Elem, s.Elem())
	case *Map:
		m, ok := g.(*types.Map)
		if ok && GoTypeBehind(t.Key) != nil && types.Unalias(m.Key()) != m.Key().Underlying() {
			ok = sameNamed(GoTypeBehind(t.Key).Named, types.Unalias(m.Key())) // pointers to equal values are several keys
		}
		return ok && GoTypeOf(t.Key, m.Key()) && GoTypeOf(t.Value, m.Elem()) && t.Key != Time // in Go one time may be several keys
	case *Enum:
		if IsGoString(g) {
			return true
		}
		_, why := GoConstants(t, g)
		return why == ""
	case *Class:
		_, why := GoFields(t, g)
		return why == ""
	}
	return false
}

func isOfPackageTime(g types.Type, name string) bool {
	n, ok := g.(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time"
}

// IsGoString reports whether g is string itself, which has the constants of an enum as their names.
func IsGoString(g types.Type) bool { return types.Unalias(g) == types.Typ[types.String] }

// named returns g as a type that has a name in a package; ok says that other packages can write it.
func named(g types.Type) (n *types.Named, ok bool) {
	n, ok = types.Unalias(g).(*types.Named)
	if !ok || n.TypeArgs().Len() > 0 || n.Obj().Pkg() == nil || !n.Obj().Exported() || n.Obj().Parent() != n.Obj().Pkg().Scope() {
		return n, false
	}
	path := n.Obj().Pkg().Path()
	first, _, _ := strings.Cut(path, "/")
	ofGo := !strings.Contains(first, ".") && (first == "vendor" || strings.Contains("/"+path+"/", "/internal/")) // Go's own code
	return n, goImportPath(path) && !ofGo
}

// Crossings calls visit for each enum and value class that f takes or returns, with its counterpart in Go, those in others included,
// and for each GoType.
func (f *Func) Crossings(visit func(t Type, g types.Type)) {
	var walk func(t Type, g types.Type)
	walk = func(t Type, g types.Type) {
		g = types.Unalias(g)
		if of := GoTypeBehind(nonNull(t)); of != nil {
			visit(of, of.Named)
			return
		}
		switch t := t.(type) {
		case *Optional:
			walk(t.Elem, g.(*types.Pointer).Elem())
		case *Vector:
			walk(t.Elem, g.(*types.Slice).Elem())
		case *Map:
			walk(t.Key, g.(*types.Map).Key())
			walk(t.Value, g.(*types.Map).Elem())
		case *Enum:
			visit(t, g)
		case *Class:
			visit(t, g)
			list, _ := GoFields(t, g)
			for i, v := range t.Fields {
				walk(v.typ, list[i].Type())
			}
		}
	}
	if f.Go.Recv != nil {
		walk(f.Go.Recv, f.Go.Recv.Named)
	}
	if f.Go.Self {
		walk(f.Class, f.Go.Sig.Params().At(0).Type())
	}
	for i, v := range f.Go.Params() {
		walk(f.Params[i].typ, v.Type())
	}
	if t, g := f.GoResult(); t != Void {
		walk(t, g)
	}
}

// GoResult returns the type of f's result as it comes from Go, with the Go type: without the ? that an error makes null. It is Void,
// and g nil, if nothing but an error comes from there.
func (f *Func) GoResult() (t Type, g types.Type) {
	if f.Result == Void || f.Go.Fails == GoText {
		return Void, nil
	}
	t, g = f.Result, f.Go.Sig.Results().At(0).Type()
	if o, ok := t.(*Optional); ok && f.Go.Fails == GoNull && !GoTypeOf(o, g) {
		t = o.Elem
	}
	return t, g
}

// goName returns the name under which other Go packages see what a program calls name, as `aeonc gen` writes it.
func goName(name string) string {
	if name[0] >= 'a' && name[0] <= 'z' {
		return string(name[0]-'a'+'A') + name[1:]
	}
	if !token.IsExported(name) {
		return "X" + name
	}
	return name
}

// GoConstants returns the constants of the Go type g that are those of e, in the order of e. For a constant RED of the enum Hue that
// is RED, or HueRED where g is called Hue, in the package of g. Otherwise it says why g is no counterpart of e.
func GoConstants(e *Enum, g types.Type) (list []*types.Const, why string) {
	n, ok := named(g)
	b, _ := g.Underlying().(*types.Basic)
	if !ok || b == nil || b.Info()&(types.IsInteger|types.IsString) == 0 {
		return nil, fmt.Sprintf("an enum is a string, or a type with a name and constants, and not %s", goText(g))
	}
	scope, of := n.Obj().Pkg().Scope(), map[*types.Const]bool{}
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && token.IsExported(name) && types.Identical(c.Type(), n) {
			of[c] = true
		}
	}
	for _, v := range e.Values {
		var found *types.Const
		for _, name := range []string{goName(v.Name()), n.Obj().Name() + v.Name()} {
			if c, ok := scope.Lookup(name).(*types.Const); ok && of[c] && found == nil {
				found = c
			}
		}
		if found == nil {
			return nil, fmt.Sprintf("the Go type %s has no constant %s or %s%s", goText(g), goName(v.Name()), n.Obj().Name(), v.Name())
		}
		for i, other := range list {
			if constant.Compare(other.Val(), token.EQL, found.Val()) {
				return nil, fmt.Sprintf("in Go %s is equal to %s", found.Name(), e.Values[i].Name())
			}
		}
		list = append(list, found)
	}
	for _, c := range list {
		delete(of, c)
	}
	var left []string
	for c := range of {
		if !slices.ContainsFunc(list, func(l *types.Const) bool { return constant.Compare(l.Val(), token.EQL, c.Val()) }) {
			left = append(left, c.Name())
		}
	}
	if len(left) > 0 {
		return nil, fmt.Sprintf("the Go type %s has a constant %s, too, which the enum %s lacks", goText(g), slices.Min(left), e.name)
	}
	return list, ""
}

// GoFields returns, for each field of the value class c, the field of the Go struct g that is its counterpart: that of the same name,
// with a capital letter. Otherwise it says why g is no counterpart of c.
func GoFields(c *Class, g types.Type) (list []*types.Var, why string) {
	s, ok := g.Underlying().(*types.Struct)
	if _, has := named(g); !ok || !has {
		return nil, fmt.Sprintf("the class %s is a struct type with an exported name, and not %s", c.name, goText(g))
	}
	fields := map[string]*types.Var{}
	for f := range s.Fields() {
		if !f.Exported() || f.Embedded() {
			return nil, fmt.Sprintf("the field %s of the Go type %s is not exported, or embedded: a copy would lose it", f.Name(), goText(g))
		}
		fields[f.Name()] = f
	}
	for _, f := range c.Fields {
		other := fields[goName(f.name)]
		switch {
		case other == nil:
			return nil, fmt.Sprintf("the Go type %s has no field %s for the field %s of the class %s", goText(g), goName(f.name), f.name, c.name)
		case !GoTypeOf(f.typ, other.Type()):
			if why := goDifference(f.typ, other.Type()); why != "" {
				return nil, why
			}
			return nil, fmt.Sprintf("the field %s of the Go type %s is %s, and not that of the class %s, %s", other.Name(), goText(g), goText(other.Type()), c.name, aType(f.typ))
		}
		delete(fields, goName(f.name))
		list = append(list, other)
	}
	for f := range s.Fields() {
		if fields[f.Name()] != nil {
			return nil, fmt.Sprintf("the Go type %s has a field %s, too, which the class %s lacks", goText(g), f.Name(), c.name)
		}
	}
	return list, ""
}

// goDifference says why an enum or a class in t is not what g has in its place; "" if that is not what is wrong.
func goDifference(t Type, g types.Type) (why string) {
	g = types.Unalias(g)
	switch t := t.(type) {
	case *Enum:
		if !IsGoString(g) {
			_, why = GoConstants(t, g)
		}
	case *Class:
		_, why = GoFields(t, g)
	case *Optional:
		if p, ok := g.(*types.Pointer); ok {
			return goDifference(t.Elem, p.Elem())
		}
	case *Vector:
		if s, ok := g.(*types.Slice); ok {
			return goDifference(t.Elem, s.Elem())
		}
	case *Map:
		if m, ok := g.(*types.Map); ok {
			if why = goDifference(t.Key, m.Key()); why == "" {
				why = goDifference(t.Value, m.Elem())
			}
		}
	}
	return why
}

// goText is a Go type as Go code that imports its package writes it.
func goText(g types.Type) string { return types.TypeString(g, (*types.Package).Name) }

// aeonType returns the type whose values are those of a Go type, as pkg writes it; "" if there is none.
func aeonType(g types.Type, pkg *Package) string {
	g = types.Unalias(g)
	for _, t := range pkg.GoTypes {
		if t.typ != Invalid && isGoType(t, g) {
			return t.name
		}
	}
	for _, t := range []Type{Int, Int8, Int16, Int32, Uint8, Uint16, Uint32, Uint64, Float, Bool, String, Bytes, Time, Duration} {
		if GoTypeOf(t, g) {
			return t.String()
		}
	}
	format, parts := "", []types.Type(nil)
	switch g := g.(type) {
	case *types.Pointer:
		format, parts = "%s?", []types.Type{g.Elem()}
	case *types.Slice:
		format, parts = "vector<%s>", []types.Type{g.Elem()}
	case *types.Map:
		format, parts = "map<%s, %s>", []types.Type{g.Key(), g.Elem()}
	default:
		return ""
	}
	var texts []any
	for _, part := range parts {
		text := aeonType(part, pkg)
		if text == "" || strings.HasSuffix(text, "?") && format == "%s?" {
			return ""
		}
		texts = append(texts, text)
	}
	return fmt.Sprintf(format, texts...)
}
