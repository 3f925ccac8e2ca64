package codegen

import (
	"go/constant"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

func intConst(c constant.Value) (int64, bool) { return constant.Int64Val(constant.ToInt(c)) }

// enum emits an enumeration: its constants, their names and their order.
func (p *pkg) enum(w *writer, e *typecheck.Enum) {
	name := p.names.obj[e]
	if doc := e.Decl.Doc.Text(); doc != "" {
		w.doc(doc)
	} else {
		w.add("// %s is an enumeration.", name)
	}
	w.add("type %s uint16", name)
	w.add("")
	w.add("// The constants of %s.", name)
	w.add("const (")
	var texts []string
	for i, v := range e.Values {
		if i == 0 {
			w.add("%s %s = iota", p.names.obj[v], name)
		} else {
			w.add("%s", p.names.obj[v])
		}
		texts = append(texts, quote(v.Name()))
	}
	w.add(")")
	w.add("")
	names := p.gen(e, "names")
	w.add("var %s = [...]string{%s}", names, strings.Join(texts, ", "))
	w.add("")
	w.add("// Str returns the name of the constant.")
	w.add("func (e %s) Str() string { return %s[e] }", name, names)
	w.add("")
	w.add("// Compare orders the constants as they are declared.")
	w.add("func (e %s) Compare(other %s) int { return int(e) - int(other) }", name, name)
	w.add("")
}
