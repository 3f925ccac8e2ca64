package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// hoard is a kind of container with so many elements that a store has each in a row of its own.
type hoard struct {
	typ, key, elem string // the types; "" is no key, or no element
	// keyOf and elemOf are the key and the element of a number, $#.
	keyOf, elemOf string
	list          []string
}

// hoards are the kinds. In their statements $f and $h are fields of the type, $p is a vector of such, $T, $Y and $X are typ, key and elem, $E is an element of a
// number, $K a key of a number, $I that of the local $i, $j an index, $r how often a loop runs.
var hoards = func() []hoard {
	vectors := []string{
		"$f.push($E);", "$f[$j] = $E;", "$f.pop();", "$f.insert($j, $E);", "$f.remove($j);", "$f[len($f) - 1] = $E;", "$h.clear();", "$f[$j] = $f[$j];",
		"for (int $i = 0 upto $r) {\n$f[$i] = $E;\n}", "for (int $i = 0 upto $r) {\n$f.push($E);\n}", "for (int $i = 0 upto $r) {\n$f.pop();\n}",
		"$f = $f[$j:];", "$f = $f.slice(0, len($f) - $j % 9);", "$h = $f[$j:];", "$h = $f[:len($f) - 2];", "$f = $f.reversed();",
		"$h = $f;", "$h = $f;\n$f.push($E);", "$h = $f;\n$f[$j] = $E;", "$f[$j] = $E;\n$h = $f;\n$h[$j] = $E;", "$T $v = $f;\n$f[$j] = $E;\n$h = $v;",
		"$T $v = $f;\nif (len($h) > 0) {\n$f = $h;\n}\n$h = $v;", "$T $v = $f;\n$f.clear();\n$h = $v;",
		"$T $v = $f;\n$v.push($E);\n$n = $n % 1000 + len($f) - len($v);", "$n = $n % 1000 + len($f) + str($f[$j]).size();",
		"$T $v = $f[$j:];\n$v[0] = $E;\n$f[$j] = $E;\n$h = $v;",
		"$T $v = $h;\nfor (int $i = 0 upto $r) {\n$f.push($E);\n$f[$i] = $E;\n}\n$h = $f;\n$n = $n % 1000 + len($v);", "if ($f == $h) {\n$f.push($E);\n}",
		"$p.push($f);", "$f = $p[len($p) - 1];", "$p[0].push($E);", "$p = [$h, $f];", "$p.clear();",
		"$f.push($E);\n$p.push($f);\n$f.pop();", "$T $v = $f;\n$f.push($E);\n$p.push($f);\n$f = $v;",
		"int $s = 0;\nfor ($X $e : $f) {\n$s += str($e).size();\n}\n$n = $n % 1000 + $s;",
	}
	maps := []string{
		"$f[$K] = $E;", "$f[$K] = $E;", "$f.remove($K);", "$h.clear();", "for (int $i = 0 upto $r) {\n$f[$I] = $E;\n}",
		"for (int $i = 0 upto $r) {\n$f.remove($I);\n}",
		"$h = $f;", "$h = $f;\n$f[$K] = $E;", "$f[$K] = $E;\n$h = $f;\n$h.remove($K);", "$T $v = $f;\n$f[$K] = $E;\n$h = $v;",
		"$T $v = $f;\nif (len($h) > 0) {\n$f = $h;\n}\n$h = $v;", "$T $v = $f;\n$f.clear();\n$h = $v;",
		"$T $v = $f;\n$v.remove($K);\n$n = $n % 1000 + len($f) - len($v);", "if ($f.has($K)) {\n$n = $n % 1000 + str($f[$K]).size();\n}",
		"$n = $n % 1000 + len($f.keys()) + str($f.get($K) ?? $E).size();", "if ($f == $h) {\n$f[$K] = $E;\n}",
		"$p.push($f);", "$f = $p[len($p) - 1];", "$p[0][$K] = $E;", "$p = [$h, $f];", "$p.clear();",
		"if ($X $v = $f.get($K)) {\n$f[$K] = $E;\n$n = $n % 1000 + str($v).size();\n}",
		"int $s = 0;\nfor ($Y $e, $X $v : $f) {\n$s += str($e).size() + str($v).size();\n}\n$n = $n % 1000 + $s;",
		"for ($Y $e : $f.keys()) {\nif (str($e).size() % 2 == 0) {\n$f.remove($e);\n}\n}",
	}
	sets := []string{
		"$f.insert($K);", "$f.insert($K);", "$f.remove($K);", "$h.clear();", "for (int $i = 0 upto $r) {\n$f.insert($I);\n}",
		"for (int $i = 0 upto $r) {\n$f.remove($I);\n}",
		"$h = $f;", "$h = $f;\n$f.insert($K);", "$f.insert($K);\n$h = $f;\n$h.remove($K);", "$T $v = $f;\n$f.remove($K);\n$h = $v;",
		"$T $v = $f;\nif (len($h) > 0) {\n$f = $h;\n}\n$h = $v;", "$T $v = $f;\n$f.clear();\n$h = $v;",
		"if ($f.has($K)) {\n$n = $n % 1000 + len($f.keys());\n}", "$p.push($f);", "$f = $p[len($p) - 1];", "$p[0].insert($K);", "$p = [$h, $f];",
		"$p.clear();", "if ($f == $h) {\n$f.insert($K);\n}",
		"int $s = 0;\nfor ($Y $e : $f) {\n$s += str($e).size();\n}\n$n = $n % 1000 + $s;",
	}
	with := func(list []string, more ...string) []string { return append(more, list...) }
	inner := []string{
		"$f[$j].push($c);", "$f[$j].push($c);", "$f[len($f) - 1].pop();", "$f[0] = $f[$j];\n$f[0].push($c);",
		"$f[$d].push($c);\n$T $v = $f[$d:];\n$v[0].push($c);\n$h = $v;", "$h = $f[$d:];\n$f[$d].push($c);\n$h[0].push($c);",
		"$T $v = $f[$j:];\n$v[0].push($c);\n$h = $v;", "$X $v = $f[$j];\n$f[$j].push($c);\n$h.push($v);",
		"$T $v = $f;\n$v[$j].push($c);\n$h = $v;", "for (int $i = 0 upto $r) {\n$f[$i].push($c);\n}", "$h = $f;\n$f[$j].push($c);", "$p[0][$j].push($c);",
		"for ($X $e : $f) {\n$e.push($c);\n$n = $n % 1000 + len($e);\n}", "$T $v = [];\n$v.push($f[$j]);\n$v[0].push($c);\n$h = $v;",
	}
	entry := []string{
		"if ($f.has($K)) {\n$f[$K].push($c);\n}", "if ($f.has($K)) {\n$X $v = $f[$K];\n$f[$K].push($c);\n$h[$K] = $v;\n}",
		"$T $v = $f;\nif ($v.has($K)) {\n$v[$K].push($c);\n}\n$h = $v;", "$h = $f;\nif ($f.has($K)) {\n$f[$K].push($c);\n}",
		"for ($Y $e, $X $v : $f) {\n$v.push($c);\n$n = $n % 1000 + len($v);\n}",
		"for (vector<int> $v : $f.values()) {\n$v.push($c);\n$n = $n % 1000 + len($v);\n}",
	}
	sorted := with(vectors, "$f.sort();", "$f.sort();\n$h = $f;", "$h = $f;\n$f.sort();\n$f[$j] = $E;", "if ($f.contains($E)) {\n$n = $n % 1000 + 1;\n}")
	return []hoard{
		{typ: "vector<string>", elem: "string", elemOf: "\"element {$#}\"", list: sorted},
		{typ: "vector<int>", elem: "int", elemOf: "$# * 1000000007", list: sorted},
		{typ: "vector<vector<int>>", elem: "vector<int>", elemOf: "[$#, $# * 1000003]", list: with(vectors, inner...)},
		{typ: "map<int, string>", key: "int", elem: "string", keyOf: "$#", elemOf: "\"entry {$#}\"", list: maps},
		{typ: "map<string, int>", key: "string", elem: "int", keyOf: "\"key {$#}\"", elemOf: "$#", list: maps},
		{typ: "map<string, vector<int>>", key: "string", elem: "vector<int>", keyOf: "\"key {$#}\"", elemOf: "[$#]", list: with(maps, entry...)},
		{typ: "set<string>", key: "string", keyOf: "\"member {$#}\"", list: sets},
		{typ: "set<int>", key: "int", keyOf: "$# * 1000000007", list: sets},
	}
}()

// Hoards returns a program of a seed, in canonical format, whose events write, copy and take apart large containers, one event after the other, and often fail
// after that.
func Hoards(seed uint64) string {
	g := &gen{rng: rand.New(rand.NewPCG(seed, 3)), hearers: map[string]string{}}
	a := &actor{g: g}
	a.typ = &typ{kind: actorKind, text: "A0", actor: a}
	g.actors = []*actor{a}
	a.build = &method{name: a.typ.text, actor: a, params: []*variable{}}
	a.fields = []*variable{{name: g.name("n"), typ: intType, writable: true, declared: -1}}
	g.newHoard(a)
	g.newAudit(a)
	g.ctor(a)
	for _, e := range a.extras {
		if e.write != nil {
			e.write()
			e.write()
		}
	}
	var main strings.Builder
	main.WriteString("test \"generated\" {\n\tA0 root = new A0();\n\tsettle();\n")
	for i := range 20 + g.upto(20) {
		m := pick(g, a.hoard)
		args := ""
		switch {
		case i == 0:
			m = a.hoard[0]
		case len(m.params) > 0:
			args = fmt.Sprint(g.upto(20))
		}
		call := fmt.Sprintf("await event root.%s(%s);\n\t\tsettle();\n\t\t", m.name, args)
		switch {
		case m.result == nil:
			call += "print(\"filled\");"
		case g.chance(8):
			call = "int r = " + call + "print(r, await event root.audit());"
		default:
			call = "int r = " + call + "print(r);"
		}
		fmt.Fprintf(&main, "\ttry {\n\t\t%s\n\t} catch (string why) {\n\t\tprint(why);\n\t}\n\tsettle();\n", call)
	}
	text := "package generated\n\n" + strings.Join(g.decls, "\n") + a.text() + "\n" + main.String() + "\tprint(await event root.audit());\n}\n"
	return canonical(text, "hoards", seed)
}

// newHoard gives an actor two large containers of one type, and a list of copies.
func (g *gen) newHoard(a *actor) {
	h := hoards[pick(g, []int{0, 1, 2, 2, 2, 3, 4, 5, 5, 6, 7})] // most of those whose elements have parts
	f, o, list := g.name("hoard"), g.name("hoard"), g.name("hoards")
	size := pick(g, []int{90, 150, 220, 300})
	rounds := []string{"3", "20", fmt.Sprint(size/4 + 20), fmt.Sprint(size / 2)}
	if g.chance(8) {
		size, rounds[3] = 1300, "1200"
	}
	of := func(text, n string) string { return strings.ReplaceAll(text, "$#", n) }
	number := func() string { return pick(g, []string{"$b % 50", fmt.Sprint(g.upto(size)), fmt.Sprint(g.upto(size))}) }
	add := map[byte]string{'v': "%s.push(" + of(h.elemOf, "i") + ");", 'm': "%s[" + of(h.keyOf, "i") + "] = " + of(h.elemOf, "i") + ";", 's': "%s.insert(" + of(h.keyOf, "i") + ");"}[h.typ[0]]
	loop := fmt.Sprintf("for (int i = 0 upto %d) {\n\t\t\t%s\n\t\t}", size, fmt.Sprintf(add, f))
	show := func(f string) func(*body) string { return func(*body) string { return fmt.Sprintf("%s={%s}", f, f) } }
	first := &extra{decl: h.typ + " " + f, clear: f + ".clear();", audit: show(f)}
	if g.chance(4) {
		first.build = func(b *body) { b.line("%s", loop) }
	}
	a.extras = append(a.extras, first,
		&extra{decl: h.typ + " " + o, clear: o + ".clear();", audit: show(o)},
		&extra{decl: "vector<" + h.typ + "> " + list, clear: list + ".clear();", audit: func(*body) string { return fmt.Sprintf("%s={%s.size()}:{str(%s).size()}", list, list, list) },
			write: func() {
				if g.chance(2) {
					loop += "\n\t\t" + o + " = " + f + ";"
				}
				a.simple("fill", nil, nil, loop)
				a.hoard = append(a.hoard, a.methods[len(a.methods)-1])
				statements := make([]string, len(h.list))
				for i, s := range h.list {
					statements[i] = strings.NewReplacer("$I", of(h.keyOf, "$i"), "$K", of(h.keyOf, "$d"), "$E", of(h.elemOf, "$c")).Replace(s)
				}
				for range 3 + g.upto(2) {
					field, other := f, o
					m := a.templated("rework", 4, nil, func(*body) templates {
						if g.chance(3) {
							field, other = other, field
						}
						return templates{list: statements,
							words: map[string]string{"$f": field, "$h": other, "$p": list, "$T": h.typ, "$Y": h.key, "$X": h.elem},
							made: map[string]func() string{
								"$r": func() string { return pick(g, rounds) },
								"$c": number,
								"$j": func() string {
									return pick(g, []string{"abs($b) % len($f)", "len($f) - 1", fmt.Sprint(g.upto(size - 20)), fmt.Sprint(g.upto(size - 20))})
								},
							},
							once: map[string]func() string{"$d": number}}
					})
					if m != nil {
						a.hoard = append(a.hoard, m)
					}
				}
			}})
}
