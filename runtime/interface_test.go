package runtime_test

import (
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
)

// Versions have one fingerprint if and only if their stores call each other alike.
func TestInterfaces(t *testing.T) {
	of := func(change func(m *aeonrt.Method, c *aeonrt.ClientMethod, p *aeonrt.Package)) string {
		m := &aeonrt.Method{Name: "add", Signature: "(int):int"}
		c := &aeonrt.ClientMethod{Class: "Ear", Name: "hear", Signature: "(int)"}
		class := &aeonrt.Class{Methods: []*aeonrt.Method{m, {Name: "sum", Signature: "():int"}}}
		p := &aeonrt.Package{Name: "till", Classes: []*aeonrt.Class{class}, ClientClasses: []*aeonrt.ClientClass{{Package: "till", Name: "Ear", Methods: []*aeonrt.ClientMethod{c}}}}
		m.Class = class
		change(m, c, p)
		return aeonrt.InterfaceOf(p)
	}
	same := of(func(*aeonrt.Method, *aeonrt.ClientMethod, *aeonrt.Package) {})
	for what, change := range map[string]func(m *aeonrt.Method, c *aeonrt.ClientMethod, p *aeonrt.Package){
		"a parameter":         func(m *aeonrt.Method, _ *aeonrt.ClientMethod, _ *aeonrt.Package) { m.Signature = "(int,int):int" },
		"a name":              func(m *aeonrt.Method, _ *aeonrt.ClientMethod, _ *aeonrt.Package) { m.Name = "put" },
		"a method that is ro": func(m *aeonrt.Method, _ *aeonrt.ClientMethod, _ *aeonrt.Package) { m.ReadOnly = true },
		"a callback":          func(_ *aeonrt.Method, c *aeonrt.ClientMethod, _ *aeonrt.Package) { c.Signature = "(string)" },
		"a constructor": func(m *aeonrt.Method, _ *aeonrt.ClientMethod, p *aeonrt.Package) {
			p.Classes[0].Ctor = &aeonrt.Method{Class: m.Class, Name: "new", Signature: "(int)"}
		},
	} {
		if of(change) == same {
			t.Errorf("%s differs, and is not seen", what)
		}
	}
	if of(func(m *aeonrt.Method, _ *aeonrt.ClientMethod, _ *aeonrt.Package) {
		m.Doc, m.Params = "Add adds.", []string{"n"}
	}) != same {
		t.Error("a comment is seen")
	}
}
