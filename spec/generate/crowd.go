package generate

import (
	"fmt"
	"slices"
	"strings"
)

// crowdTypes are containers of actors, $A. What the code of one does with all of its actors does not depend on their order.
var crowdTypes = map[string][]string{
	"set<$A>": {
		"$f.insert($x);", "$f.insert($x);", "$f.remove($x);",
		"$A $e = $x;\nif (!$f.has($e)) {\n$f.insert($e);\n$n = $n % 1000 + len($f);\n}",
		"set<$A> $v = $f;\n$f.insert($x);\n$n = $n % 1000 + len($f) - len($v);\n$f = $v;",
		"set<$A> $v = $f;\n$v.insert($x);\n$f.clear();\n$f = $v;",
		"for ($A $e : $f) {\n$n = $n % 1000 + $e.audit().size();\n}",
		"for ($A $e : $f) {\nasync $e.$u($k);\n}",
		"int $s = 0;\nfor ($A $e : $f.keys()) {\n$s += $e.$u($k) % 100;\n}\n$n = $n % 1000 + $s;",
		"if (len($f) > 4) {\n$f.clear();\n}",
	},
	"map<$A, int>": {
		"$f[$x] = $k;", "$f[$x] = $k;", "$f.remove($x);",
		"$A $e = $x;\n$f[$e] = ($f.get($e) ?? $k) % 1000 + 1;",
		"$A $e = $x;\nif ($f.has($e)) {\n$f[$e] += 2;\n} else {\n$f[$e] = $k;\n}",
		"for ($A $e, int $v : $f) {\n$n = $n % 1000 + $e.audit().size() * ($v % 10);\n}",
		"for ($A $e : $f.keys()) {\n$f[$e] = $f[$e] * 2 % 51;\n}",
		"for ($A $e : $f.keys()) {\nif ($f[$e] > 3) {\n$f.remove($e);\n}\n}",
		"for ($A $e, int $v : $f) {\nasync $e.$u($v);\n}",
		"map<$A, int> $v = $f;\n$f[$x] = $k;\n$n = $n % 1000 + len($f) - len($v);\n$f = $v;",
		"int $s = 0;\nfor (int $v : $f.values()) {\n$s += $v % 100;\n}\n$n = $n % 1000 + $s;",
	},
	"map<$A, vector<$A>>": {
		"$f[$x] = [$x];", "$A $e = $x;\n$f[$e] = [$e];\n$f[$e].push($x);",
		"$A $e = $x;\nif ($f.has($e)) {\n$f[$e].push($x);\n$f[$e][0].$u($k);\n} else {\n$f[$e] = [];\n}",
		"$A $e = $x;\nif (vector<$A> $v = $f.get($e)) {\n$f[$e].push($x);\n$n = $n % 1000 + len($f[$e]) - len($v);\n}",
		"for ($A $e, vector<$A> $v : $f) {\n$n = $n % 1000 + $e.audit().size() + len($v);\n}",
		"for ($A $e, vector<$A> $v : $f) {\n$f[$e].push($e);\n$n = $n % 1000 + len($v);\n}",
		"map<$A, vector<$A>> $v = $f;\n$A $e = $x;\n$v[$e] = [$e];\nif (len($f) % 2 == 0) {\n$f = $v;\n}",
		"if (len($f) > 4) {\n$f.clear();\n}",
	},
	"vector<vector<$A>>": {
		"$f.push([$x]);", "$f.push([$x, $x]);", "$f.push([]);", "if (len($f) > 0) {\n$f[len($f) - 1].push($x);\n}", "$f[0].push($x);",
		"$f[0][0].$u($k);", "async $f[0][len($f[0]) - 1].$u($k);", "$n = $n % 1000 + $f[0][0].$u($k) % 100;",
		"for (vector<$A> $v : $f) {\nfor ($A $e : $v) {\nasync $e.$u($k);\n}\n}",
		"for (vector<$A> $v : $f) {\nfor ($A $e : $v) {\n$n = $n % 1000 + $e.audit().size();\n}\n$v.clear();\n}",
		"vector<vector<$A>> $v = $f;\n$f.push([$x]);\n$f[0].push($x);\n$n = $n % 1000 + len($f[0]) - len($v[0]);\n$f = $v;",
		"vector<$A> $v = $f[0];\n$f[0].push($x);\n$f.push($v);", "$f[0] = $f[len($f) - 1];", "$f.insert(0, $f[len($f) - 1]);", "$f.remove(0);",
		"delete $f[0].pop();", "if ($f[0].contains($x)) {\n$n = $n % 1000 + 1;\n}", "$f = $f[1:];", "$f[len($f) - 1].pop();",
	},
}

// newCrowd gives an actor a container of actors of a class below.
func (g *gen) newCrowd(a, of *actor) {
	kinds := []string{"set<$A>", "map<$A, int>", "map<$A, vector<$A>>", "vector<vector<$A>>"}
	kind := pick(g, kinds)
	f := g.name("crowd")
	u := strings.ReplaceAll(kind, "$A", of.typ.text)
	audit := map[string]string{
		"set<$A>":             "for ($A e : $f) {\n\t$s += e.audit().size();\n}",
		"map<$A, int>":        "for ($A e, int k : $f) {\n\t$s += e.audit().size() * 10 + k;\n}",
		"map<$A, vector<$A>>": "for ($A e, vector<$A> k : $f) {\n\t$s += e.audit().size() + len(k) * 10;\n}",
		"vector<vector<$A>>":  "for (vector<$A> k : $f) {\n\t$s += 100;\n\tfor ($A e : k) {\n\t\t$s += e.audit().size();\n\t}\n}",
	}[kind]
	a.extras = append(a.extras, &extra{
		decl: u + " " + f,
		audit: func(b *body) string {
			s := g.name("seen")
			text := strings.NewReplacer("$A", of.typ.text, "$f", f, "$s", s).Replace("int $s = 0;\n" + audit)
			b.line("%s", lines("%s", text))
			return fmt.Sprintf("%s={%s.size()}:{%s}", f, f, s)
		},
		write: func() {
			list := crowdTypes[kind]
			if bump := of.methods[0]; bump.faults && !strings.HasPrefix(kind, "vector") { // which one fails first would depend on the order
				list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return strings.Contains(s, "for (") && strings.Contains(s, "$u") })
			}
			for range 2 + g.upto(1) {
				var params []*variable
				if g.chance(4) {
					params = append(params, &variable{name: g.name("r"), typ: of.typ, declared: -1})
				}
				a.templated("gather", 3, params, func(b *body) templates {
					return templates{list: list, words: map[string]string{"$A": of.typ.text, "$f": f, "$u": of.methods[0].name},
						made: map[string]func() string{"$x": func() string { return b.member(of) }}}
				})
			}
		},
	})
}
