package codegen

import (
	goast "go/ast"
	"go/parser"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// stateRows emits how the fields of an actor are stored and read: the two methods that
// make its state an aeonrt.Stored, and how the elements of its containers are written.
func (p *pkg) stateRows(w *writer, c *typecheck.Class) {
	name := p.names.obj[c]
	for _, f := range c.Fields {
		p.elements(w, c, f)
	}
	w.add("// SaveField writes one field, by number.")
	w.add("func (self *%s) SaveField(w *aeonrt.Writer, field int) {", name)
	if len(c.Fields) > 0 {
		w.add("switch field {")
		for i, f := range c.Fields {
			w.add("case %d:", i)
			p.saveField(w, f)
		}
		w.add("}")
	}
	w.add("}")
	w.add("")
	w.add("// LoadFields reads all fields, also what another version of the program has written.")
	w.add("func (self *%s) LoadFields(r *aeonrt.Reader) {", name)
	for i, f := range c.Fields {
		p.loadField(w, c, i, f)
	}
	w.add("}")
	w.add("")
}

// elements emits how the elements of a container in a field are written.
func (p *pkg) elements(w *writer, c *typecheck.Class, f *typecheck.Var) {
	if containerKind(f.Type()) == "" {
		return
	}
	name := p.gen(f, "rows")
	switch t := f.Type().(type) {
	case *typecheck.Map:
		w.add("// %s says how the entries of %s.%s are stored.", name, c.Name(), f.Name())
		w.add("var %s = aeonrt.Entries[%s, %s]{", name, p.keyType(t.Key), p.goType(t.Value))
		p.keyCodec(w, t.Key)
		w.add("Put: %s,", p.put(t.Value, false))
		w.add("Get: %s,", p.get(t.Value, false))
	case *typecheck.Set:
		w.add("// %s says how the elements of %s.%s are stored.", name, c.Name(), f.Name())
		w.add("var %s = aeonrt.Members[%s]{", name, p.keyType(t.Elem))
		p.keyCodec(w, t.Elem)
	case *typecheck.Vector:
		w.add("// %s says how the elements of %s.%s are stored.", name, c.Name(), f.Name())
		w.add("var %s = aeonrt.Elems[%s]{", name, p.goType(t.Elem))
		w.add("Put: %s,", p.put(t.Elem, false))
		w.add("Get: %s,", p.get(t.Elem, false))
	default:
		return
	}
	w.add("}")
	w.add("")
}

func (p *pkg) keyCodec(w *writer, t typecheck.Type) {
	w.add("PutKey: %s,", p.putKey(t))
	w.add("GetKey: %s,", p.getKey(t))
}

// putKey returns the Go function that encodes a t so that keys sort by it.
func (p *pkg) putKey(t typecheck.Type) string {
	g := p.keyType(t)
	switch {
	case isText(t) || t == typecheck.Bytes:
		return "aeonrt.PutKeyString[" + g + "]"
	case t == typecheck.Bool:
		return "aeonrt.PutKeyBool"
	case isEnum(t) || typecheck.IsUnsigned(t):
		return "aeonrt.PutKeyUint[" + g + "]"
	case isClass(t):
		return "func(e *aeonrt.Encoder, v " + g + ") { aeonrt.PutKeyRef(e, v.Ref) }"
	}
	return "aeonrt.PutKeyInt[" + g + "]"
}

// getKey returns the Go function that decodes what putKey has written.
func (p *pkg) getKey(t typecheck.Type) string {
	g := p.keyType(t)
	switch {
	case isText(t) || t == typecheck.Bytes:
		return "aeonrt.GetKeyString[" + g + "]"
	case t == typecheck.Bool:
		return "aeonrt.GetKeyBool"
	case isEnum(t):
		values := len(t.(*typecheck.Enum).Values)
		return "func(d *aeonrt.Decoder) " + g + " { return " + g + "(d.GetKeyEnum(" + itoa(values) + ")) }"
	case typecheck.IsUnsigned(t):
		return "aeonrt.GetKeyUint[" + g + "]"
	case isClass(t):
		return "func(d *aeonrt.Decoder) " + g + " { return " + p.refLit(t.(*typecheck.Class), "aeonrt.GetKeyRef(d)") + " }"
	}
	return "aeonrt.GetKeyInt[" + g + "]"
}

// isText reports whether values of type t are strings in Go: those of Go types that have a text are, too.
func isText(t typecheck.Type) bool {
	b, ok := t.(*typecheck.Basic)
	return ok && b.Kind == typecheck.StringKind
}

func isEnum(t typecheck.Type) bool {
	_, ok := t.(*typecheck.Enum)
	return ok
}

func isClass(t typecheck.Type) bool {
	c, ok := t.(*typecheck.Class)
	return ok && c.Kind == ast.ActorClass
}

func (p *pkg) saveField(w *writer, f *typecheck.Var) {
	field := "self." + p.names.obj[f]
	if isTable(f.Type()) {
		w.add("aeonrt.SaveTable(w, &%s)", field)
		return
	}
	if kind := containerKind(f.Type()); kind != "" {
		w.add("aeonrt.Save%s(w, &%s, &%s)", kind, field, p.gen(f, "rows"))
		return
	}
	w.add("e := w.Row()")
	w.add("%s", p.encode(f.Type(), field))
}

func (p *pkg) loadField(w *writer, c *typecheck.Class, i int, f *typecheck.Var) {
	field := "self." + p.names.obj[f]
	initial, _ := p.initialValue(w, c, f)
	if initial != "" && containerKind(f.Type()) != "" {
		w.add("%s = %s", field, initial)
	}
	if isTable(f.Type()) {
		w.add("aeonrt.LoadTable(r, %d, &%s)", i, field)
		return
	}
	if kind := containerKind(f.Type()); kind != "" {
		w.add("aeonrt.Load%s(r, %d, &%s, &%s)", kind, i, field, p.gen(f, "rows"))
		return
	}
	w.add("if d := r.Row(%d); d != nil {", i)
	w.add("%s = %s", field, p.decode(f.Type()))
	if initial != "" {
		w.add("} else {")
		w.add("%s = %s", field, initial)
	}
	w.add("}")
}

// initialValue returns the value of a field that is missing in what an older version of the
// program has stored: that of its initialiser. left says that an event would have to
// compute it. The value is nothing if it is the zero value.
func (p *pkg) initialValue(w *writer, c *typecheck.Class, f *typecheck.Var) (value string, left bool) {
	d := f.Field()
	if d == nil || d.Init == nil {
		return "", false
	}
	e := p.newFn(c.Ctor, byActor, w)
	var v val
	if before := e.capture(func() { v = e.bind(d.Init) }); before != "" {
		return "", true
	}
	code, err := parser.ParseExpr(v.code)
	if err != nil {
		return "", true
	}
	computed := false
	goast.Inspect(code, func(n goast.Node) bool {
		id, ok := n.(*goast.Ident)
		computed = computed || ok && id.Name == "cx"
		return true
	})
	if computed || v.code == p.zero(f.Type()) {
		return "", computed
	}
	return v.code, false
}

// Initial is the value of a field in actors, or in values, that an older version has stored without it.
type Initial struct {
	Code string // in Go; "": the zero value
	Left bool   // the zero value, as it takes an event to compute what the initialiser says
}

// Initials returns the values of the fields of the classes of a package that have initialisers.
func Initials(info *typecheck.Info, imports []Import) map[*typecheck.Var]Initial {
	values := make(map[*typecheck.Var]Initial)
	p := newPackage(info, Options{SourceName: func(*ast.Source) string { return "" }, Imports: imports})
	for _, c := range info.Package.Classes {
		if c.Kind != ast.ActorClass && c.Kind != ast.ValueClass {
			continue
		}
		for _, f := range c.Fields {
			if code, left := p.initialValue(p.writer(), c, f); code != "" || left {
				values[f] = Initial{code, left}
			}
		}
	}
	return values
}

// containerKind returns what the runtime calls a container that may be stored by element,
// nothing for other types.
func containerKind(t typecheck.Type) string {
	switch t.(type) {
	case *typecheck.Map:
		return "Map"
	case *typecheck.Set:
		return "Set"
	case *typecheck.Vector:
		return "Vector"
	}
	return ""
}
