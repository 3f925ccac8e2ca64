package generate

import (
	"fmt"
	"slices"
	"strings"
)

// actor is an actor class. It may own classes that come later in the list of the program, and itself if recursive.
type actor struct {
	typ     *typ
	g       *gen
	index   int
	fields  []*variable
	owned   []*variable // the plain fields with references
	tables  []*table
	extras  []*extra
	hoard   []*method // those that write large containers; the first fills them
	methods []*method
	upend   *method // nil if there is none
	build   *method // the constructor
	audit   *method
	// ctorText declares the fields and the constructor.
	ctorText string
	// tick is the method that periodic timers call, "" if there is none.
	tick, tickText string
}

// below returns the classes that code of this one may call.
func (a *actor) below() (list []*actor) {
	for _, f := range a.owned {
		if t := refOf(f.typ); !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	return list
}

// refOf returns the class of the actors that a type refers to, nil if it does not.
func refOf(t *typ) *actor {
	for t.elem != nil {
		t = t.elem
	}
	return t.actor
}

// planActors decides on the classes and their fields.
func (g *gen) planActors() {
	for i := range 1 + g.upto(1) + g.upto(1) {
		a := &actor{g: g, index: i}
		a.typ = &typ{kind: actorKind, text: fmt.Sprintf("A%d", i), actor: a}
		g.actors = append(g.actors, a)
	}
	for i, a := range g.actors {
		g.planCtor(a)
		a.fields = append(a.fields, &variable{name: g.name("n"), typ: intType, writable: true, declared: -1})
		for range g.upto(2) {
			t := g.value(2)
			switch {
			case g.chance(8):
				t = g.deep(4)
			case g.chance(4):
				t = g.holes()
			case g.chance(2):
				t = g.nested(t)
			}
			a.fields = append(a.fields, &variable{name: g.name("f"), typ: t, writable: true, declared: -1})
		}
		for j := i + 1; j < len(g.actors); j++ {
			if j == i+1 || g.chance(3) {
				a.own(g.actors[j])
			}
		}
		if g.chance(3) {
			a.own(a)
		}
		if g.chance(3) {
			t := pick(g, g.actors).typ
			f := &variable{name: g.name("y"), typ: optionalOf(t), yield: true, declared: -1}
			if g.chance(2) {
				f.typ = vectorOf(t)
			}
			a.fields = append(a.fields, f)
		}
		if g.chance(3) {
			g.newTick(a)
		}
		if g.chance(16) { // the Go compiler makes much of every table
			g.newTable(a)
		}
		if g.screen != nil && g.chance(2) {
			a.fields = append(a.fields, &variable{name: g.name("y"), typ: optionalOf(g.screen.typ), yield: true, declared: -1})
		}
		g.planExtras(a)
	}
}

// own adds a plain field for references to a class.
func (a *actor) own(t *actor) {
	g := a.g
	f := &variable{name: g.name("c"), declared: -1}
	switch n := g.upto(3); {
	case n == 0 && t != a:
		f.typ = t.typ
	case n == 1:
		f.typ = optionalOf(t.typ)
	case n == 2:
		f.typ = mapOf(pick(g, []*typ{stringType, intType}), t.typ)
		if len(g.enums) > 0 && g.chance(3) {
			f.typ = mapOf(g.enums[0].typ, t.typ)
		}
	default:
		f.typ = vectorOf(t.typ)
	}
	a.fields = append(a.fields, f)
	a.owned = append(a.owned, f)
}

// baseMethods writes a reader of all state, and what changes a field.
func (g *gen) baseMethods(a *actor) {
	g.newAudit(a)
	counter := a.fields[0]
	name := g.name("bump")
	change := fmt.Sprintf("%s += by;", counter.name)
	if g.chance(2) { // what shows the order of the calls
		change = fmt.Sprintf("%s = %s %% 1000 * 3 + by;", counter.name, counter.name)
	}
	faults := g.chance(3)
	if faults {
		change += fmt.Sprintf("\n\t\t%s(%s %% %d != %d, \"%s at {%s}\");", pick(g, []string{"assert", "require"}), counter.name, 5+g.upto(6), g.upto(4), name, counter.name)
	}
	a.methods = append(a.methods, &method{name: name, actor: a, result: intType, cost: 2, chain: 1, faults: faults,
		params: []*variable{{name: "by", typ: intType}},
		text:   fmt.Sprintf("\tint %s(int by) {\n\t\t%s\n\t\treturn %s;\n\t}\n", name, change, counter.name)})
	if g.chance(2) {
		var list []*variable
		for _, f := range a.fields {
			if f.writable {
				list = append(list, f)
			}
		}
		m := g.takeText(list)
		m.actor = a
		a.methods = append(a.methods, m)
	}
	if g.chance(3) {
		name = g.name("get")
		a.methods = append(a.methods, &method{name: name, actor: a, result: intType, cost: 1, chain: 1, ro: true,
			text: fmt.Sprintf("\tro int %s() {\n\t\treturn %s;\n\t}\n", name, counter.name)})
	}
	if g.chance(12) {
		a.simple("retire", nil, nil, "delete this;")
	}
	if g.chance(2) { // it leaves no trace, whether it fails or not
		name = g.name("check")
		a.simple("check", nil, nil, fmt.Sprintf("%s(%s %% 3 != %d, \"%s\");", pick(g, []string{"assert", "assert", "require"}), counter.name, g.upto(2), name))
	}
	if a.tick != "" {
		a.simple("begin", nil, nil, fmt.Sprintf("event this.%s() every %dms as \"tick\";", a.tick, 2+g.upto(5)))
		m := a.methods[len(a.methods)-1]
		m.emits, m.chain = 1, 3
		if g.chance(2) {
			a.simple("stop", nil, nil, "cancel \"tick\";")
		}
	}
	g.linkMethods(a)
	g.nestMethods(a)
}

// newAudit makes the method that shows all state of an actor and of what it owns.
func (g *gen) newAudit(a *actor) {
	b := g.newBody(nil)
	b.indent = 2
	var parts []string
	for _, f := range a.fields {
		switch owned := refOf(f.typ); {
		case f.typ.kind == optionalKind && (owned != nil || f.typ.elem.kind == screenKind) && f.yield:
			parts = append(parts, fmt.Sprintf("%s={%s != null}", f.name, f.name))
		case f.yield:
			parts = append(parts, fmt.Sprintf("%s={%s.size()}", f.name, f.name))
		case owned == nil:
			parts = append(parts, fmt.Sprintf("%s={%s}", f.name, f.name))
		case f.typ.kind == actorKind:
			parts = append(parts, fmt.Sprintf("%s={%s.audit()}", f.name, f.name))
		case f.typ.kind == optionalKind:
			parts = append(parts, fmt.Sprintf("%s={%s?.audit() ?? \"none\"}", f.name, f.name))
		default:
			over := f.name
			if f.typ.kind == mapKind {
				over += ".keys()"
			}
			b.line("string s%s = \"\";", f.name)
			if f.typ.kind == mapKind {
				b.line("for (%s k : %s) {\n\t\t\ts%s += \"{k}:{%s[k].audit()};\";\n\t\t}", f.typ.key.text, over, f.name, f.name)
			} else {
				b.line("for (%s e : %s) {\n\t\t\ts%s += \"{e.audit()};\";\n\t\t}", owned.typ.text, over, f.name)
			}
			parts = append(parts, fmt.Sprintf("%s=[{s%s}]", f.name, f.name))
		}
	}
	for _, t := range a.tables {
		parts = append(parts, t.audit(b))
	}
	for _, e := range a.extras {
		parts = append(parts, e.audit(b))
	}
	a.audit = &method{name: "audit", actor: a, result: stringType, ro: true, cost: 20, chain: 1,
		text: fmt.Sprintf("\tro string audit() {\n%s\t\treturn \"%s(%s)\";\n\t}\n", strings.TrimLeft(b.text(), "\n"), a.typ.text, strings.Join(parts, " "))}
}

// linkMethods writes the methods through which references come in and go out.
func (g *gen) linkMethods(a *actor) {
	for _, f := range a.fields {
		t := refOf(f.typ)
		switch {
		case t != nil && !f.yield && g.chance(2):
			continue
		case f.typ.kind == optionalKind && f.typ.elem.kind == screenKind:
			a.simple("meet", []*variable{{name: "v", typ: f.typ.elem}}, nil, f.name+" = v;")
		case t == nil:
			continue
		case f.yield && f.typ.kind == optionalKind:
			a.simple("know", []*variable{{name: "v", typ: t.typ, yield: true}}, nil, f.name+" = v;")
		case f.yield:
			a.simple("know", []*variable{{name: "v", typ: t.typ, yield: true}}, nil, f.name+".push(v);")
		case f.typ.kind == vectorKind:
			a.simple("adopt", []*variable{{name: "v", typ: t.typ}}, nil, f.name+".push(v);")
			if g.chance(2) {
				a.simple("lose", nil, t.typ, "return "+f.name+".pop();")
			}
		case f.typ.kind == mapKind:
			a.simple("adopt", []*variable{{name: "k", typ: f.typ.key}, {name: "v", typ: t.typ}}, nil, f.name+"[k] = v;")
		case f.typ.kind == optionalKind:
			a.simple("adopt", []*variable{{name: "v", typ: t.typ}}, nil, f.name+" = v;")
		case f.typ.kind == actorKind && g.chance(2):
			a.simple("lend", nil, t.typ, "return "+f.name+";")
		}
	}
}

// simple adds a method with a body of one statement.
func (a *actor) simple(prefix string, params []*variable, result *typ, text string) {
	m := &method{name: a.g.name(prefix), actor: a, params: params, result: result, plain: true, cost: 1, chain: 1}
	var list []string
	for _, p := range params {
		list = append(list, p.decl())
	}
	head := "void"
	if result != nil {
		head = result.text
	}
	m.text = fmt.Sprintf("\t%s %s(%s) {\n\t\t%s\n\t}\n", head, m.name, strings.Join(list, ", "), text)
	a.methods = append(a.methods, m)
}

// richMethods writes methods that do a bit of everything.
func (g *gen) richMethods(a *actor) {
	for range 1 + g.upto(2) {
		m := &method{name: g.name("m"), actor: a, ro: g.chance(4)}
		if m.ro || g.chance(2) {
			m.result = g.value(1 + g.upto(2))
		}
		for range g.upto(2) {
			m.params = append(m.params, &variable{name: g.name("p"), typ: g.value(1)})
		}
		if below := a.below(); len(below) > 0 && g.chance(3) {
			m.params = append(m.params, &variable{name: g.name("r"), typ: pick(g, below).typ})
		}
		if m.params == nil {
			m.params = []*variable{}
		}
		g.write(m, func(b *body) { b.actor, b.ro = a, m.ro })
		a.methods = append(a.methods, m)
	}
	if g.chance(2) {
		g.weighMethod(a)
	}
	if g.chance(3) {
		g.recursiveMethod(a)
	}
	if g.chance(3) {
		g.fanMethod(a)
	}
	g.upendMethods(a)
}

// fanMethod writes a method with many branches.
func (g *gen) fanMethod(a *actor) {
	for _, f := range a.owned {
		if f.typ.kind != vectorKind || refOf(f.typ) == a {
			continue
		}
		m := refOf(f.typ).methods[0]
		n := 20 + g.upto(20)
		call := fmt.Sprintf("async %s[i %% len(%s)].%s(i);", f.name, f.name, m.name)
		if g.chance(2) {
			call = fmt.Sprintf("for (%s e : %s) {\n\t\t\t\tasync e.%s(i);\n\t\t\t}", f.typ.elem.text, f.name, m.name)
		}
		a.methods = append(a.methods, &method{name: g.name("fan"), actor: a, result: intType, cost: 6 * n, chain: 1, params: []*variable{}})
		fan := a.methods[len(a.methods)-1]
		fan.text = fmt.Sprintf("\tint %s() {\n\t\tfor (int i = 0 upto %d) {\n\t\t\t%s\n\t\t}\n\t\treturn %s;\n\t}\n", fan.name, n, call, a.fields[0].name)
	}
}

// recursiveMethod writes a method that goes down a tree of actors of its own class.
func (g *gen) recursiveMethod(a *actor) {
	for _, f := range a.owned {
		if f.typ.kind != vectorKind || refOf(f.typ) != a {
			continue
		}
		name := g.name("down")
		how := pick(g, []string{"\t\t\tsum += e.%s(by + 1);\n", "\t\t\tasync e.%s(by);\n", "\t\t\tasync e.%s(by);\n\t\t\tsum += e.audit().size();\n"})
		a.methods = append(a.methods, &method{name: name, actor: a, result: intType, cost: 30, chain: 1, params: []*variable{{name: "by", typ: intType}},
			text: fmt.Sprintf("\tint %s(int by) {\n\t\t%s += by;\n\t\tint sum = %s;\n\t\tfor (%s e : %s) {\n%s\t\t}\n\t\treturn sum;\n\t}\n",
				name, a.fields[0].name, a.fields[0].name, a.typ.text, f.name, fmt.Sprintf(how, name))})
	}
}

// text returns the declaration of the class.
func (a *actor) text() string {
	var t strings.Builder
	fmt.Fprintf(&t, "actorclass %s {\n%s%s", a.typ.text, a.ctorText, a.audit.text)
	t.WriteString(a.tickText)
	t.WriteString(a.snapshotText())
	for _, m := range a.methods {
		t.WriteString(m.text)
	}
	return t.String() + "}\n"
}

// snapshotText returns the snapshot block that every other class has, which forgets what can be forgotten. No run shows
// it, so nothing is drawn for it.
func (a *actor) snapshotText() string {
	if a.index%2 > 0 {
		return ""
	}
	var t strings.Builder
	fmt.Fprintf(&t, "\tsnapshot {\n\t\t%s = 0;\n", a.fields[0].name)
	for _, f := range a.fields[1:] {
		switch {
		case refOf(f.typ) != nil && !f.yield:
		case f.typ.kind == optionalKind:
			fmt.Fprintf(&t, "\t\t%s = null;\n", f.name)
		case f.typ.kind == vectorKind || f.typ.kind == mapKind:
			fmt.Fprintf(&t, "\t\t%s.clear();\n", f.name)
		}
	}
	for _, table := range a.tables {
		fmt.Fprintf(&t, "\t\t%s.clear();\n", table.name)
	}
	for _, e := range a.extras {
		if e.clear != "" {
			fmt.Fprintf(&t, "\t\t%s\n", e.clear)
		}
	}
	return t.String() + "\t}\n"
}
