package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Branches returns a program of a seed, in canonical format, whose events mostly make async calls: of actors that several others own, within each other, beside sync
// calls, and of some that fail, or make, delete and hand on actors. Whatever runs beside what, there is one outcome.
func Branches(seed uint64) string {
	g := &gen{rng: rand.New(rand.NewPCG(seed, 2))}
	return canonical(g.branches(), "branches", seed)
}

func (g *gen) branches() string {
	var leaf, mid, root, main strings.Builder
	for k := range 2 {
		fmt.Fprintf(&leaf, "\tint add%d(int by) {\n\t\tn = n %% 1000 * 3 + by + %d;\n%s\t\treturn n;\n\t}\n", k, k, g.leafStatements())
		fmt.Fprintf(&mid, "\tint spread%d(int by) {\n\t\tn += by;\n%s\t\treturn n;\n\t}\n", k, g.branching(2+g.upto(3), false))
	}
	for k := range 3 {
		fmt.Fprintf(&root, "\tint run%d(int by) {\n\t\tn += by;\n%s\t\treturn n;\n\t}\n", k, g.branching(3+g.upto(4), true))
		fmt.Fprintf(&root, "\tvoid begin%d(int by) {\n\t\tevent this.run%d(by);\n\t}\n", k, k)
	}
	for range 4 + g.upto(4) {
		if g.chance(2) { // an event of the root's own store
			fmt.Fprintf(&main, "\tevent root.begin%d(%d);\n\tsettle();\n", g.upto(2), g.upto(9))
			continue
		}
		fmt.Fprintf(&main, "\ttry {\n\t\tint r = await event root.run%d(%d);\n\t\tsettle();\n\t\tprint(r);\n\t} catch (string why) {\n\t\tprint(\"failed:\", why);\n\t}\n\tsettle();\n", g.upto(2), g.upto(9))
	}
	return fmt.Sprintf(branchesText, &leaf, g.upto(2), &mid, g.upto(2), 1+g.upto(2), &root, &main)
}

const branchesText = `package generated

client class Screen {
	int shown = 0;
	void show(int n, string s) {
		shown++;
		print("screen", shown, n, s);
	}
}

actorclass Leaf {
	int n;
	yield Screen screen;
	Leaf(int k, yield Screen s) {
		n = k;
		screen = s;
	}
%v	void plus(int by) {
		n += by;
	}
	void guard(int k) {
		require(n %% 4 != k, "guard {k} at {n}");
	}
	ro int get() {
		return n;
	}
	ro void say(string s) {
		event screen.show(n, s);
	}
}

actorclass Mid {
	int n = 0;
	vector<Leaf> leaves;
	yield Screen screen;
	Mid(int k, yield Screen s) {
		screen = s;
		for (int i = 0 upto %d) {
			leaves.push(new Leaf(k + i, s));
		}
	}
	Leaf lend() {
		return leaves[0];
	}
	void adopt(Leaf e) {
		leaves.push(e);
	}
	ro string audit() {
		string s = "";
		for (Leaf e : leaves) {
			s += "{e.get()} ";
		}
		return "{n}({s})";
	}
%v}

actorclass Root {
	int n = 0;
	vector<Leaf> leaves;
	vector<Mid> mids;
	yield Screen screen;
	Root(yield Screen s) {
		screen = s;
		for (int i = 0 upto %d) {
			leaves.push(new Leaf(i, s));
		}
		for (int i = 0 upto %d) {
			mids.push(new Mid(i * 10, s));
		}
		leaves.push(mids[0].lend());
	}
	ro string audit() {
		string s = "";
		for (Mid e : mids) {
			s += "{e.audit()} ";
		}
		for (Leaf e : leaves) {
			s += "{e.get()} ";
		}
		return "{n}: {s}";
	}
%v}

void main() {
	Screen screen = new Screen();
	Root root = new Root(screen);
	settle();
%v	sleep(100ms);
	settle();
	print(await event root.audit());
}
`

// leafStatements writes what the method of a leaf does beside counting.
func (g *gen) leafStatements() string {
	var b strings.Builder
	for _, s := range []string{"event screen.show(n, \"leaf\");", "event this.plus(by);", "require(n % 8 != 3, \"leaf at {n}\");"} {
		if g.chance(4) {
			b.WriteString("\t\t" + s + "\n")
		}
	}
	return b.String()
}

// branching writes statements of a method that has leaves, and mids if it is that of the root.
func (g *gen) branching(n int, mids bool) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\t\t"+format+"\n", args...) }
	leaf := func() string { return fmt.Sprintf("leaves[(%d + by) %% len(leaves)]", g.upto(4)) }
	some := func() string { return fmt.Sprintf("mids[(%d + by) %% len(mids)]", g.upto(2)) }
	async := func() string { return pick(g, []string{"async ", "async ", "async ", ""}) }
	for range n {
		switch k := g.upto(17); {
		case k < 2:
			line("for (Leaf e : leaves) {\n\t\t\tasync e.add%d(by + %d);\n\t\t}", g.upto(1), g.upto(5))
		case k < 5:
			line("%s%s.add%d(by + %d);", async(), leaf(), g.upto(1), g.upto(5))
		case k < 6:
			line("%s%s.guard(%d);", async(), leaf(), g.upto(3))
		case k < 8:
			line("%s%s.say(\"say %d\");", async(), leaf(), g.upto(99))
		case k < 9:
			line("n += %s.get();", leaf())
		case k < 10:
			line("event screen.show(n, \"at\");")
		case k < 11:
			line("event %s.plus(%d);", leaf(), g.upto(5))
		case k < 12:
			line("if (len(leaves) < 5) {\n\t\t\tleaves.push(new Leaf(by, screen));\n\t\t}")
		case !mids:
			line("%s%s.add%d(n);", async(), leaf(), g.upto(1))
		case k < 14:
			line("for (Mid e : mids) {\n\t\t\tasync e.spread%d(by + %d);\n\t\t}", g.upto(1), g.upto(5))
		case k < 16:
			line("%s%s.spread%d(by);", async(), some(), g.upto(1))
		case k < 17:
			line("%s%s.adopt(%s);", async(), some(), leaf())
		case g.chance(3):
			line("if (len(leaves) > 3) {\n\t\t\tdelete leaves.pop();\n\t\t}")
		default:
			line("leaves.push(%s.lend());", some())
		}
	}
	return b.String()
}
