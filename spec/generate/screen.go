package generate

import (
	"fmt"
	"strings"
)

// screen is the client class of a program: it is told of things, and prints them.
type screen struct {
	typ  *typ
	show *method
	// acts: its callbacks issue events on an actor that it is made with.
	acts bool
}

// planScreen decides that there is one. It is written when there are actors.
func (g *gen) planScreen() {
	s := &screen{typ: &typ{kind: screenKind, text: "Screen"}, acts: g.chance(2)}
	s.show = &method{name: "show", params: []*variable{{name: "n", typ: intType}, {name: "s", typ: stringType}}, chain: 1}
	if s.acts {
		s.show.chain = 2
	}
	g.screen = s
}

// newScreen writes the client class.
func (g *gen) newScreen() {
	if g.screen == nil {
		return
	}
	var text strings.Builder
	text.WriteString("client class Screen {\n\tint shown = 0;\n")
	a := g.actors[0] // a root of the client's
	if g.screen.acts {
		fmt.Fprintf(&text, "\t%s who;\n\tScreen(%s a) {\n\t\twho = a;\n\t}\n", a.typ.text, a.typ.text)
	}
	if g.chance(3) {
		text.WriteString("\tvoid rest() {\n" + g.callbackWaits() + "\t}\n")
	}
	text.WriteString("\tvoid show(int n, string s) {\n\t\tshown++;\n\t\tprint(\"screen\", shown, n, s);\n")
	if strings.Contains(text.String(), "void rest()") {
		text.WriteString(pick(g, []string{"\t\trest();\n", "\t\tthis.rest();\n"}))
	} else if g.chance(4) {
		text.WriteString(g.callbackWaits())
	}
	if g.screen.acts {
		text.WriteString(g.callbackActs(a.methods[0].name))
	}
	if g.chance(3) {
		fmt.Fprintf(&text, "\t\t%s((shown + n) %% 5 != %d, \"shown {shown} {s}\");\n", pick(g, []string{"assert", "require"}), g.upto(4))
	}
	g.decls = append(g.decls, text.String()+"\t}\n}\n")
}

// callbackWaits returns a statement that fails in a callback, which may catch the failure.
func (g *gen) callbackWaits() string {
	wait := pick(g, []string{"sleep(1ms);", "sleep(0ms);", "settle();", "advance(2ms);"})
	if g.chance(3) {
		wait = g.hearer("nap", nil, func(name string) string { return fmt.Sprintf("void %s() {\n\t%s\n}\n", name, wait) }) + "();"
	}
	if g.chance(3) {
		return fmt.Sprintf("\t\tif (shown %% 2 == 0) {\n\t\t\t%s\n\t\t}\n", wait)
	}
	if g.chance(3) {
		return "\t\t" + wait + "\n"
	}
	return fmt.Sprintf("\t\ttry {\n\t\t\t%s\n\t\t\tprint(\"waited\");\n\t\t} catch (string why) {\n\t\t\tprint(\"no wait:\", why);\n\t\t}\n", wait)
}

// callbackActs returns what a callback does as a client.
func (g *gen) callbackActs(bump string) string {
	switch g.upto(4) {
	case 0:
		return fmt.Sprintf("\t\tprint(\"bumped\", await event who.%s(n %% 8));\n", bump)
	case 1:
		return fmt.Sprintf("\t\ttry {\n\t\t\tprint(\"bumped\", await event who.%s(shown));\n\t\t} catch (string why) {\n\t\t\tprint(\"not bumped:\", why);\n\t\t}\n", bump)
	case 2:
		return fmt.Sprintf("\t\tevent who.%s(shown);\n", bump)
	case 3:
		call, note := fmt.Sprintf("\t\tpending<int> p = event who.%s(1);\n", bump), "\t\tprint(\"issued\");\n"
		if g.profile == Sequential { // the event may run the constructor of its actor, which may print
			call, note = note, call
		}
		return call + note + "\t\tprint(await p, await p);\n"
	}
	return "\t\tif (n % 4 > 1) {\n\t\t\tevent this.show(0, \"again\");\n\t\t}\n"
}

// newScreenObject makes the client object of main.
func (b *body) newScreenObject(roots []*variable) {
	args := ""
	if b.g.screen.acts {
		args = roots[0].name
	}
	b.line("Screen screen = new Screen(%s);", args)
}

// screenReference returns an expression for a client object, "" if there is none.
func (b *body) screenReference() string {
	for _, v := range b.vars {
		if v.typ.kind == screenKind {
			return v.name
		}
	}
	return ""
}
