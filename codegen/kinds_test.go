package codegen_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

var (
	borderKinds = flag.Int("border.kinds", 2, "how many types TestAPIBorder draws besides those that it always takes")
	borderSeed  = flag.Uint64("border.seed", 1, "of what TestAPIBorder draws")
)

// kind is a type of the language.
type kind struct {
	aeon      string
	key, null bool   // whether it can be a key, and has null
	make      string // statements that return one, from a number n
}

// kindSet draws types.
type kindSet struct {
	rnd     *rand.Rand
	decls   strings.Builder
	classes int
	list    []kind
	tested  []kind         // that have actors
	maker   map[string]int // by type
}

func (s *kindSet) add(k kind) kind {
	if _, ok := s.maker[k.aeon]; !ok {
		s.maker[k.aeon] = len(s.list)
		fmt.Fprintf(&s.decls, "%s make%d(int n) { %s }\n", k.aeon, len(s.list), k.make)
		s.list = append(s.list, k)
	}
	return k
}

// call is the expression for a value of a type.
func (s *kindSet) call(k kind, n string) string { return fmt.Sprintf("make%d(%s)", s.maker[k.aeon], n) }

func (s *kindSet) vector(k kind) kind {
	return s.add(kind{aeon: "vector<" + k.aeon + ">",
		make: fmt.Sprintf("return [%s, %s];", s.call(k, "n"), s.call(k, "n + 1"))})
}

func (s *kindSet) set(k kind) kind {
	return s.add(kind{aeon: "set<" + k.aeon + ">",
		make: fmt.Sprintf("set<%s> v = new set<%s>(); v.insert(%s); v.insert(%s); return v;", k.aeon, k.aeon, s.call(k, "0"), s.call(k, "n + 1"))})
}

func (s *kindSet) mapOf(k, v kind) kind {
	t := "map<" + k.aeon + ", " + v.aeon + ">"
	return s.add(kind{aeon: t,
		make: fmt.Sprintf("%s v = new %s(); v[%s] = %s; v[%s] = %s; return v;", t, t, s.call(k, "0"), s.call(v, "n"), s.call(k, "n + 1"), s.call(v, "n + 1"))})
}

func (s *kindSet) optional(k kind) kind {
	return s.add(kind{aeon: k.aeon + "?", null: true,
		make: fmt.Sprintf("if (n %% 4 == 3) { return null; } return %s;", s.call(k, "n"))})
}

// class makes a value class with fields of the given types, some of them exported.
func (s *kindSet) class(of ...kind) kind {
	name := fmt.Sprintf("Class%d", s.classes)
	s.classes++
	fields, args := "", ""
	for i, k := range of {
		fields += fmt.Sprintf(" %s %s%d;", k.aeon, []string{"Field", "Other", "hidden"}[i%3], i)
		args += fmt.Sprintf(", %s", s.call(k, fmt.Sprintf("n + %d", i)))
	}
	fmt.Fprintf(&s.decls, "class %s {%s }\n", name, fields)
	return s.add(kind{aeon: name, make: "return new " + name + "(" + strings.TrimPrefix(args, ", ") + ");"})
}

// some draws a type made of others.
func (s *kindSet) some(depth int) kind {
	if depth == 0 {
		return s.list[s.rnd.IntN(11)]
	}
	below := s.some(depth - 1)
	switch s.rnd.IntN(5) {
	case 0:
		return s.vector(below)
	case 1:
		return s.mapOf(s.someKey(), below)
	case 2:
		if !below.null {
			return s.optional(below)
		}
		return s.vector(below)
	case 3:
		return s.class(below, s.some(depth-1))
	}
	return s.class(s.some(0), below, s.set(s.someKey()))
}

func (s *kindSet) someKey() kind {
	for {
		if k := s.list[s.rnd.IntN(11)]; k.key {
			return k
		}
	}
}

// test has actors made for types, and reports whether one is new.
func (s *kindSet) test(list ...kind) (fresh bool) {
	for _, k := range list {
		if !slices.ContainsFunc(s.tested, func(o kind) bool { return o.aeon == k.aeon }) {
			s.tested, fresh = append(s.tested, k), true
		}
	}
	return fresh
}

// drawKinds returns types of every kind, and n more that are made of them.
func drawKinds(seed uint64, n int) *kindSet {
	s := &kindSet{rnd: rand.New(rand.NewPCG(seed, 0)), maker: map[string]int{}}
	s.decls.WriteString(`package kinds
enum Color { RED, GREEN, BLUE }
class Pair { int Left; bytes Right; }
class Tree { string Name; vector<int> Numbers; Tree? Next; vector<Tree> Below; }
actorclass Name { int n = 0; }
`)
	for _, k := range []kind{
		{aeon: "int", key: true, make: "return n * 1000000007;"},
		{aeon: "uint8", key: true, make: "return uint8(n);"},
		{aeon: "float", make: `float f = 1e308; f = f * 10.0; if (n == 2) { return -f; } if (n == 3) { return f - f; } return float(n) / 3.0;`},
		{aeon: "bool", key: true, make: "return n % 2 == 1;"},
		{aeon: "string", key: true, make: `if (n == 0) { return ""; } return "<{n}> \"é\"";`},
		{aeon: "bytes", key: true, make: `if (n == 0) { return bytes(""); } return bytes("\xff{n}");`},
		{aeon: "time", key: true, make: "return time(n * 1234567890123);"},
		{aeon: "duration", key: true, make: "return duration(n * 1234567890123);"},
		{aeon: "Color", key: true, make: "if (n == 0) { return RED; } if (n == 1) { return GREEN; } return BLUE;"},
		{aeon: "Pair", make: `return new Pair(n, bytes("p{n}"));`},
		{aeon: "Tree", make: `return new Tree("t", [n, 2], new Tree("next", [3], new Tree("last", [4], null, []), []), [new Tree("below", [5, n], null, [])]);`},
	} {
		s.add(k)
	}
	var parts []kind // each tested type is to be compiled: a class tests the containers of two
	for i, k := range s.list[:11] {
		of := []kind{s.vector(k), s.mapOf(s.someKey(), k), s.optional(k)}
		if k.key {
			of = append(of, s.set(k), s.mapOf(k, s.list[(i+5)%11]))
		}
		if k.aeon == "bytes" { // the containers by themselves, too
			s.test(append(of, k)...)
		}
		if parts = append(parts, of...); i%2 == 0 {
			s.test(s.class(parts...))
			parts = nil
		}
	}
	pair := s.list[9]
	s.test(s.class(s.vector(s.vector(pair)), s.optional(s.vector(pair)), s.mapOf(s.list[4], s.vector(pair))))
	for range n {
		for !s.test(s.some(2 + s.rnd.IntN(2))) {
		}
	}
	return s
}

// program returns what has actors, client objects and functions for every type.
func (s *kindSet) program() string {
	var b strings.Builder
	b.WriteString(s.decls.String())
	for _, k := range s.tested {
		fmt.Fprintf(&b, `
client class Ear%[1]d { void Heard(%[2]s v) {} }
actorclass Actor%[1]d {
	%[2]s held;
	string noted = "";
	Actor%[1]d() { held = make%[1]d(1); }
	ro %[2]s Get() { return held; }
	%[2]s Fresh() { %[2]s v = make%[1]d(2); return v; }
	%[2]s Pass(%[2]s v) { held = v; tail Give(); }
	%[2]s Give() { return held; }
	void Put(%[2]s v) { held = v; }
	void Fail(%[2]s v) { held = v; abort "no"; }
	void Tell(yield Ear%[1]d ear, %[2]s v) { held = v; event ear.Heard(v); event ear.Heard(held); }
	ro string Show() { return "{held}"; }
}
`, s.maker[k.aeon], k.aeon)
	}
	return b.String()
}
