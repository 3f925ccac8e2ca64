package generate

import "fmt"

// takings are how a method takes an actor of its own class, e, away from a field, $f: the head of a block in which there is one, what takes it away, and what
// puts it back.
var takings = map[kind][][3]string{
	optionalKind: {{"if ($A e = $f) {", "$f = null;", "$f = e;"}},
	vectorKind: {
		{"if (len($f) > 0) {", "$A e = $f.pop();", "$f.push(e);"},
		{"if (len($f) > 0) {", "$A e = $f[0];\n$f = $f[1:];", "$f.insert(0, e);"},
		{"if (len($f) > 0) {", "vector<$A> all = $f;\n$A e = all[0];\n$f.clear();", "$f = all;"},
	},
}

// hangings have an actor own v, or another one, so many steps below it.
var hangings = map[kind]string{
	optionalKind: "if ($A e = $f) {\nif (by > 0) {\ne.$h(by - 1, v);\nreturn;\n}\n}\n$f = v;",
	vectorKind:   "if (by > 0 && len($f) > 0) {\n$f[by % len($f)].$h(by - 1, v);\nreturn;\n}\n$f.push(v);",
}

// upendMethods write which actors of one class own which others. One of them takes an actor away, has it, or one below it, own what has owned it, and mostly
// puts it back: that closes a cycle, in events that are over several stores, too.
func (g *gen) upendMethods(a *actor) {
	for _, f := range a.owned {
		if refOf(f.typ) != a || takings[f.typ.kind] == nil {
			continue
		}
		words := map[string]string{"$A": a.typ.text, "$f": f.name, "$h": g.name("hang"), "$n": a.fields[0].name}
		filled := func(text string) string { return fill(text, func(w string) string { return words[w] }) }
		by := &variable{name: "by", typ: intType, declared: -1}
		hang := &method{name: words["$h"], actor: a, params: []*variable{by, {name: "v", typ: a.typ}}, cost: 20, chain: 1}
		hang.text = fmt.Sprintf("\tvoid %s(int by, %s v) {\n%s\n}\n", hang.name, a.typ.text, filled(hangings[f.typ.kind]))

		m := &method{name: g.name("upend"), actor: a, result: intType, params: []*variable{by}}
		b := g.newBody(m)
		b.actor, b.vars, b.ended = a, []*variable{by}, true
		words["$x"], words["$y"] = "this", b.sureActor(a)
		if g.chance(3) {
			words["$x"] = b.sureActor(a)
		}
		way := pick(g, takings[f.typ.kind])
		if g.chance(4) {
			way[2] = "" // the edge is turned round
		}
		b.line("%s", filled(way[0]+"\nif (by % 4 > 0) {\n"+way[1]+"\ne.$h(by % 3, $x);\n"+way[2]+"\nreturn $n;\n}\n}\n$h(by % 3, $y);\nreturn $n;"))
		b.cost += 2 * hang.cost
		g.finish(m, b)
		a.methods, a.upend = append(a.methods, hang, m), m
	}
}

// upends has such a method called a few times: first there has to be something that it can take away.
func (b *body) upends(r *variable) {
	for range 2 + b.g.upto(2) {
		b.guarded(func() { b.line("print(await event %s.%s(%d));", r.name, r.typ.actor.upend.name, b.g.upto(11)) })
		b.settle()
	}
}
