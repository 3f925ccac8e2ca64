package store

import (
	"fmt"
	"slices"
	"strings"
)

// fieldType is the type of a stored field, read from its text. The grammar of the text
// stands with FieldType in package codegen, which writes it.
type fieldType struct {
	form   string // a predeclared type, vector, set, map, ?, enum, class, actor or client
	name   string // of an enum or a class
	elems  []*fieldType
	values []string // of an enum, where the text first mentions it
	fields []namedType
	known  bool // the text says what the enum or class consists of
}

// namedType is a field: of a value class, or of an actor, which has no name here.
type namedType struct {
	name  string
	yield bool
	typ   *fieldType
}

// typeNesting bounds how deep the texts of types may nest.
const typeNesting = 200

type typeParser struct {
	text  string
	depth int
}

// parseField reads the text of a field's type.
func parseField(text string) (f namedType, err error) {
	p := typeParser{text: text}
	err = p.whole("type", func() { f = p.field("") })
	return f, err
}

// whole runs parse and fails unless it reads the text to its end.
func (p *typeParser) whole(what string, parse func()) (err error) {
	text := p.text
	defer func() {
		if e, ok := recover().(typeSyntax); ok {
			err = fmt.Errorf("the %s %q cannot be read: %s", what, text, string(e))
		}
	}()
	parse()
	if p.text != "" {
		p.fail("it goes on with %q", p.text)
	}
	return nil
}

// typeSyntax is what a parser panics with; whole recovers it.
type typeSyntax string

func (p *typeParser) fail(format string, args ...any) {
	panic(typeSyntax(fmt.Sprintf(format, args...)))
}

func (p *typeParser) skip(s string) bool {
	rest, ok := strings.CutPrefix(p.text, s)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *typeParser) want(s string) {
	if !p.skip(s) {
		p.fail("%q is missing", s)
	}
}

func (p *typeParser) word() string {
	n := strings.IndexAny(p.text, "<>{}(),;? ")
	if n < 0 {
		n = len(p.text)
	}
	if n == 0 {
		p.fail("a name is missing")
	}
	w := p.text[:n]
	p.text = p.text[n:]
	return w
}

func (p *typeParser) field(name string) namedType {
	yield := p.skip("yield ")
	return namedType{name: name, yield: yield, typ: p.parse()}
}

func (p *typeParser) parse() *fieldType {
	if p.depth++; p.depth > typeNesting {
		p.fail("it nests too deeply")
	}
	defer func() { p.depth-- }()
	t := &fieldType{form: p.word()}
	switch {
	case p.skip("<"):
		for more := true; more; more = p.skip(",") {
			t.elems = append(t.elems, p.parse())
		}
		p.want(">")
	case p.skip(" "):
		t.name = p.word()
		p.parts(t)
	}
	if t.form == "table" && len(t.elems) == 0 {
		p.fail("a table without a type of rows")
	}
	for n := p.depth; p.skip("?"); n++ {
		if n > typeNesting {
			p.fail("it nests too deeply")
		}
		t = &fieldType{form: "?", elems: []*fieldType{t}}
	}
	return t
}

// parts reads what an enum or a class consists of, if the text says so.
func (p *typeParser) parts(t *fieldType) {
	if !p.skip("{") {
		return
	}
	t.known = true
	for !p.skip("}") {
		if t.form == "enum" {
			t.values = append(t.values, p.word())
			p.skip(",")
			continue
		}
		name := p.word()
		if _, twice := t.find(name); twice {
			p.fail("%s has two fields %s", t.name, name)
		}
		p.want(" ")
		t.fields = append(t.fields, p.field(name))
		p.skip(";")
	}
}

// definitions finds the definitions of the enums and classes that t mentions.
func (t *fieldType) definitions(found map[string]*fieldType) {
	if t.known {
		found[t.name] = t
	}
	for _, e := range t.elems {
		e.definitions(found)
	}
	for _, f := range t.fields {
		f.typ.definitions(found)
	}
}

// String returns the type as a user writes it.
func (t *fieldType) String() string {
	switch t.form {
	case "?":
		return t.elems[0].String() + "?"
	case "enum", "class", "actor", "client":
		return t.name[strings.LastIndexByte(t.name, '.')+1:]
	case "table": // without its key and its indexes
		return "table<" + t.elems[0].String() + ">"
	}
	if len(t.elems) == 0 {
		return t.form
	}
	var parts []string
	for _, e := range t.elems {
		parts = append(parts, e.String())
	}
	return t.form + "<" + strings.Join(parts, ", ") + ">"
}

func (f namedType) String() string {
	if f.yield {
		return "yield " + f.typ.String()
	}
	return f.typ.String()
}

// byElement reports whether a field of the type may have a row for each element.
func (t *fieldType) byElement() bool {
	return t.form == "vector" || t.form == "set" || t.form == "map" || t.form == "table"
}

func (t *fieldType) isRef() bool { return t.form == "actor" || t.form == "client" }

// find returns the field of a class with this name.
func (t *fieldType) find(name string) (namedType, bool) {
	i := slices.IndexFunc(t.fields, func(f namedType) bool { return f.name == name })
	if i < 0 {
		return namedType{}, false
	}
	return t.fields[i], true
}

// has reports whether it is a class with such a field.
func (t *fieldType) has(field string) bool {
	if t == nil {
		return false
	}
	_, ok := t.find(field)
	return ok
}
