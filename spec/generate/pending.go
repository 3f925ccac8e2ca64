package generate

import "fmt"

// promise is a pending value that main keeps.
type promise struct {
	text   string // an expression for it
	result *typ   // nil for void
	local  string // the vector that holds it, "" if it is a local
}

func (p *promise) typeText() string { return "pending<" + resultText(p.result) + ">" }

func resultText(t *typ) string {
	if t == nil {
		return "void"
	}
	return t.text
}

// hearer returns the name of a function of clients, which is written when it is first wanted.
func (g *gen) hearer(use string, t *typ, text func(name string) string) string {
	key := use + " " + resultText(t)
	if g.hearers[key] == "" {
		g.hearers[key] = g.name(use)
		g.decls = append(g.decls, text(g.hearers[key]))
	}
	return g.hearers[key]
}

// keep issues an event and keeps its pending value: in a local, by way of a function, or in a vector or map.
func (b *body) keep(result *typ, call string) *promise {
	g := b.g
	p := &promise{text: g.name("q"), result: result}
	switch g.upto(5) {
	case 0:
		b.line("vector<%s> %s = [%s];", p.typeText(), p.text, call)
		p.local, p.text = p.text, p.text+"[0]"
	case 1:
		b.line("map<string, %s> %s = new map<string, %s>();", p.typeText(), p.text, p.typeText())
		b.line("%s[\"it\"] = %s;", p.text, call)
		p.text += `["it"]`
	case 2:
		same := g.hearer("same", result, func(name string) string {
			return fmt.Sprintf("%s %s(%s p) {\n\treturn p;\n}\n", p.typeText(), name, p.typeText())
		})
		b.line("%s %s = %s(%s);", p.typeText(), p.text, same, call)
	default:
		b.line("%s %s = %s;", p.typeText(), p.text, call)
	}
	if g.profile == Concurrent && g.chance(4) {
		b.line("cancel %s;", p.text)
	}
	return p
}

// redeem awaits a pending value, here or in a function, which may well have been awaited before; or cancels it.
func (b *body) redeem(p *promise) {
	g := b.g
	if g.profile == Concurrent && g.chance(4) {
		b.line("settle();") // the event has ended then
	}
	if g.chance(8) {
		b.line("cancel %s;", p.text)
		return
	}
	await := fmt.Sprintf("print(\"got\", await %s);", p.text)
	switch {
	case p.result == nil:
		await = fmt.Sprintf("await %s;", p.text)
	case g.chance(4):
		await = fmt.Sprintf("print(\"got\", await %s, await %s);", p.text, p.text)
	}
	if g.chance(3) {
		use := "print(\"heard\", await p);"
		if p.result == nil {
			use = "await p;"
		}
		hear := g.hearer("hear", p.result, func(name string) string {
			return fmt.Sprintf("void %s(%s p) {\n\t%s\n}\n", name, p.typeText(), use)
		})
		await = fmt.Sprintf("%s(%s);", hear, p.text)
	}
	b.guarded(func() { b.line("%s", await) })
	b.settle()
}

// redeemAll awaits what main has issued, in another order, some of it twice and some not at all.
func (b *body) redeemAll(list []*promise) {
	g := b.g
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, p := range list {
		switch n := g.upto(7); {
		case n == 0 && p.local != "":
			all := g.hearer("all", p.result, func(name string) string {
				use := "print(\"one\", await p);"
				if p.result == nil {
					use = "await p;"
				}
				return fmt.Sprintf("void %s(vector<%s> list) {\n\tfor (%s p : list) {\n\t\ttry {\n\t\t\t%s\n\t\t} catch (string why) {\n\t\t\tprint(\"none:\", why);\n\t\t}\n\t}\n}\n",
					name, p.typeText(), p.typeText(), use)
			})
			b.line("%s.push(%s);", p.local, p.text)
			b.line("%s(%s);", all, p.local)
		case n < 2:
			forget := g.hearer("forget", p.result, func(name string) string {
				return fmt.Sprintf("void %s(%s p) {\n}\n", name, p.typeText())
			})
			b.line("%s(%s);", forget, p.text)
		case n < 4:
			b.redeem(p)
			b.redeem(p)
		default:
			b.redeem(p)
		}
	}
}
