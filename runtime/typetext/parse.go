package typetext

import (
	"fmt"
	"strings"
)

// nestingMax bounds how deep the texts of types may nest.
const nestingMax = 200

type parser struct {
	text  string
	depth int
}

// ParseField reads the text of a field's type.
func ParseField(text string) (f Field, err error) {
	p := parser{text: text}
	err = p.whole("type", func() { f = p.field("") })
	return f, err
}

// ParseSignature reads the text of a signature.
func ParseSignature(text string) (s Signature, err error) {
	p := parser{text: text}
	err = p.whole("signature", func() {
		p.want("(")
		for more := !p.skip(")"); more; {
			s.Params = append(s.Params, p.parse())
			if more = p.skip(","); !more {
				p.want(")")
			}
		}
		if p.skip(":") {
			s.Result = p.parse()
		}
	})
	return s, err
}

// whole runs parse and fails unless it reads the text to its end.
func (p *parser) whole(what string, parse func()) (err error) {
	text := p.text
	defer func() {
		if e, ok := recover().(syntaxError); ok {
			err = fmt.Errorf("the %s %q cannot be read: %s", what, text, string(e))
		}
	}()
	parse()
	if p.text != "" {
		p.fail("it goes on with %q", p.text)
	}
	return nil
}

// syntaxError is what a parser panics with; whole recovers it.
type syntaxError string

func (p *parser) fail(format string, args ...any) {
	panic(syntaxError(fmt.Sprintf(format, args...)))
}

func (p *parser) skip(s string) bool {
	rest, ok := strings.CutPrefix(p.text, s)
	if ok {
		p.text = rest
	}
	return ok
}

func (p *parser) want(s string) {
	if !p.skip(s) {
		p.fail("%q is missing", s)
	}
}

func (p *parser) word() string {
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

func (p *parser) field(name string) Field {
	yield := p.skip("yield ")
	return Field{Name: name, Yield: yield, Type: p.parse()}
}

func (p *parser) parse() *Type {
	if p.depth++; p.depth > nestingMax {
		p.fail("it nests too deeply")
	}
	defer func() { p.depth-- }()
	t := &Type{Form: p.word()}
	switch {
	case p.skip("<"):
		for more := true; more; more = p.skip(",") {
			t.Elems = append(t.Elems, p.parse())
		}
		p.want(">")
	case p.skip(" "):
		t.Name = p.word()
		p.parts(t)
	}
	if t.Form == "table" && len(t.Elems) == 0 {
		p.fail("a table without a type of rows")
	}
	for n := p.depth; p.skip("?"); n++ {
		if n > nestingMax {
			p.fail("it nests too deeply")
		}
		t = &Type{Form: "?", Elems: []*Type{t}}
	}
	return t
}

// parts reads what an enum or a class consists of, if the text says so.
func (p *parser) parts(t *Type) {
	if !p.skip("{") {
		return
	}
	t.Known = true
	for !p.skip("}") {
		if t.Form == "enum" {
			t.Values = append(t.Values, p.word())
			p.skip(",")
			continue
		}
		name := p.word()
		if _, twice := t.Find(name); twice {
			p.fail("%s has two fields %s", t.Name, name)
		}
		p.want(" ")
		t.Fields = append(t.Fields, p.field(name))
		p.skip(";")
	}
}
