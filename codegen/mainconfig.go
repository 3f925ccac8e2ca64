package codegen

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// mainVar sets AeonPackage.Main, and what it says of the parameter of main: the runtime reads the flags, and main
// begins with the initial values of the fields that no flag was given for.
func (p *pkg) mainVar(w *writer, pk *typecheck.Package) {
	class := pk.MainConfig()
	if class == nil {
		w.add("AeonPackage.Main = aeonMain")
		return
	}
	w.add("AeonPackage.Config = []aeonrt.ConfigField{")
	for _, f := range class.Fields {
		p.configField(w, f)
	}
	w.add("}")
	w.add("AeonPackage.Main = func(cl *aeonrt.Client) {")
	w.add("var self %s", p.names.obj[class])
	p.newFn(class.Ctor, byClient, w).fieldInits(class)
	w.here()
	for i, f := range class.Fields {
		w.add("if f := &AeonPackage.Config[%d]; f.Given() {", i)
		w.add("self.%s = *f.Value.(*%s)", p.names.obj[f], p.goType(f.Type()))
		w.add("}")
	}
	w.add("aeonMain(cl, self)")
	w.add("}")
}

func (p *pkg) configField(w *writer, f *typecheck.Var) {
	d := f.Field()
	text := fmt.Sprintf("Name: %s, Flag: %s, Type: %s, Value: new(%s)", quote(f.Name()), quote(typecheck.FlagName(f.Name())), quote(fmt.Sprint(f.Type())), p.goType(f.Type()))
	if doc := strings.TrimSpace(d.Doc.Text()); doc != "" {
		text += ", Doc: " + quote(doc)
	}
	switch t := f.Type().(type) {
	case *typecheck.Enum:
		var names []string
		for _, v := range t.Values {
			names = append(names, quote(v.Name()))
		}
		text += ", Enum: []string{" + strings.Join(names, ", ") + "}"
	}
	switch f.Type().(type) {
	case *typecheck.Optional, *typecheck.Vector:
	default:
		if d.Init == nil {
			text += ", Required: true"
		}
	}
	if d.Init != nil {
		text += ", Default: " + quote(d.Init.Span().Text())
	}
	w.add("{%s},", text)
}
