package generate

import (
	"cmp"
	"fmt"
	"maps"
)

// pairMethods are those of value classes that have actors: $P is the class, $A that of the actors, $o, $m and $c are the fields: an
// actor, some more, a number. A class has some of the methods behind the first four, which the others call.
var pairMethods = []string{
	"int $p(int by) {\n\t\t$o.$u(by % 9);\n\t\t$c = $c % 1000 + by % 9;\n\t\treturn $c;\n\t}",
	"void $t($A x) {\n\t\t$m.push($o);\n\t\t$o = x;\n\t\t$q$p($c);\n\t}",
	"$P $w($A x) {\n\t\t$o = x;\n\t\t$c = $c % 100 + 1;\n\t\treturn this;\n\t}",
	"string $s() {\n\t\tstring all = \"\";\n\t\tfor ($A e : $m) {\n\t\t\tall += e.audit();\n\t\t}\n\t\treturn \"{$c} {$o.audit()} {all}\";\n\t}",
	"$P $1() {\n\t\t$P v = this;\n\t\tv.$p(2);\n\t\treturn v;\n\t}",
	"void $2($A x) {\n\t\t$P old = this;\n\t\t$q$t(x);\n\t\told.$p($c);\n\t\t$c = $c % 100 + $f(this) % 10 + old.$c % 10;\n\t}",
	"void $3(int by) {\n\t\tfor ($A e : $m) {\n\t\t\tasync e.$u(by % 9);\n\t\t}\n\t\t$c = $c % 100 + $f(this) % 10;\n\t}",
	"void $4() {\n\t\tif (len($m) > 0) {\n\t\t\t$A e = $m.pop();\n\t\t\t$m.insert(0, $o);\n\t\t\t$o = e;\n\t\t}\n\t\t$q$p(1);\n\t}",
	"vector<$P> $5($A x) {\n\t\tvector<$P> list = [this];\n\t\t$o = x;\n\t\tlist.push(this);\n\t\tlist[0].$p(3);\n\t\treturn list;\n\t}",
	"int $6($A x) {\n\t\treturn $c + $q$p(1) * 2 + $f($q$w(x)) % 10 + $c;\n\t}",
}

// pairStatements are those of methods of an actor that has pairs: $g is one, $q one that may be null, $l a list, $d some by name.
var pairStatements = []string{
	"$g.$t($x);", "$g.$p($k);", "$g = $g.$w($x);", "$g.$w($x).$o.$u($k);", "$l.push($g);", "$l.push(new $P($x, [], $k));",
	"$l[0].$t($x);", "$l[len($l) - 1].$p($k);", "$d[\"k0\"] = $g;", "$d[\"k1\"] = $g.$w($x);", "$d[\"k0\"].$t($x);", "$d[\"k0\"].$m.push($x);",
	"$P $v = $g;\n$v.$t($x);\n$g = $v;", "$P $v = $g;\n$g.$t($x);\n$l.push($v);", "$q = $g;", "$q?.$p($k);", "$q = null;", "$q?.$t($x);",
	"$g.$o = $x;", "$g.$m.push($x);", "$g.$m.clear();", "for ($P $e : $l) {\n$e.$p($k);\n$n = $n % 1000 + $e.$c;\n}",
	"for (string $e, $P $v : $d) {\n$v.$p($k);\n$d[$e].$p(1);\n$n = $n % 1000 + $v.$c;\n}", "async $g.$o.$u($k);",
	"$n = $n % 1000 + $g.$c + $g.$p($k);", "if ($P $v = $d.get(\"k0\")) {\n$d[\"k0\"].$p($k);\n$n = $n % 1000 + $v.$c;\n}",
	"$n = $n % 1000 + [$g, $g.$w($x)][0].$c;", "$l = $l[len($l) / 2:];", "$n = $n % 1000 + new $P($x, [$x], $g.$p($k)).$c;",
}

// newPair gives an actor values that have actors of a class below, and makes the class of these values.
func (g *gen) newPair(a, of *actor) {
	words := map[string]string{"$P": fmt.Sprintf("P%d", a.index), "$A": of.typ.text}
	for _, w := range []string{"ppoke", "tturn", "wwith", "sseen", "oone", "mmore", "ccount", "fpeek", "1twin", "2both", "3each", "4swap", "5list", "6twice"} {
		words["$"+w[:1]] = g.name(w[1:])
	}
	filled := func(text string, more map[string]string) string {
		return fill(text, func(w string) string {
			if w == "$q" {
				return pick(g, []string{"", "this."})
			}
			return cmp.Or(more[w], words[w])
		})
	}
	fields := map[string]string{"$g": g.name("pair"), "$q": g.name("pair"), "$l": g.name("pairs"), "$d": g.name("pairs")}
	field := func(w string) string { return fields[w] }
	a.extras = append(a.extras,
		&extra{decl: words["$P"] + " " + field("$g"),
			build: func(b *body) {
				b.line("%s = new %s(%s, [], %d);", field("$g"), words["$P"], b.sureActor(of), g.upto(9))
			},
			audit: func(*body) string { return fmt.Sprintf("%s={%s.%s()}", field("$g"), field("$g"), words["$s"]) }},
		&extra{decl: words["$P"] + "? " + field("$q"),
			audit: func(*body) string {
				return fmt.Sprintf("%s={%s?.%s() ?? \"none\"}", field("$q"), field("$q"), words["$s"])
			}},
		&extra{decl: "vector<" + words["$P"] + "> " + field("$l"),
			audit: func(b *body) string {
				s := g.name("seen")
				b.line("string %s = \"\";\n\t\tfor (%s e : %s) {\n\t\t\t%s += \"{e.%s()};\";\n\t\t}", s, words["$P"], field("$l"), s, words["$s"])
				return fmt.Sprintf("%s=[{%s}]", field("$l"), s)
			}},
		&extra{decl: "map<string, " + words["$P"] + "> " + field("$d"),
			audit: func(b *body) string {
				s := g.name("seen")
				b.line("string %s = \"\";\n\t\tfor (string k, %s e : %s) {\n\t\t\t%s += \"{k}:{e.%s()};\";\n\t\t}", s, words["$P"], field("$d"), s, words["$s"])
				return fmt.Sprintf("%s=[{%s}]", field("$d"), s)
			},
			write: func() {
				bump := map[string]string{"$u": of.methods[0].name}
				text := filled("class $P {\n\t$A $o;\n\tvector<$A> $m;\n\tint $c;\n", nil)
				for i, m := range pairMethods {
					if i < 4 || g.chance(2) {
						text += "\t" + filled(m, bump) + "\n"
					}
				}
				g.decls = append(g.decls, text+"}\n", filled("int $f($P v) {\n\treturn v.$o.$u(1) + v.$c;\n}\n", bump))
				all := maps.Clone(words)
				maps.Copy(all, fields)
				maps.Copy(all, bump)
				for range 2 + g.upto(1) {
					a.templated("deal", 3, nil, func(b *body) templates {
						return templates{list: pairStatements, words: maps.Clone(all), made: map[string]func() string{"$x": func() string { return b.member(of) }}}
					})
				}
			}},
	)
}
