package codegen_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	borderKinds = flag.Int("border.kinds", 2, "how many types TestBorder draws besides those that it always takes")
	borderSeed  = flag.Uint64("border.seed", 1, "of what TestBorder draws")
)

// kind is a type of the language, with the Go type that it becomes in a package kinds.
type kind struct {
	aeon, goType string
	key          string // its Go type as a key; "" if it cannot be one
	null         bool
	make         string // statements that return one, from a number n
}

// kindSet draws types.
type kindSet struct {
	rnd     *rand.Rand
	decls   strings.Builder
	classes int
	list    []kind
	tested  []kind         // that have actors
	maker   map[string]int // by type
	hitters map[string]bool
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

// hit notes that a driver shall use what the runtime has for a type of container.
func (s *kindSet) hit(format string, args ...any) { s.hitters[fmt.Sprintf(format, args...)] = true }

func (s *kindSet) vector(k kind) kind {
	s.hit("hitVector[%s]", k.goType)
	return s.add(kind{aeon: "vector<" + k.aeon + ">", goType: "aeonrt.Vector[" + k.goType + "]",
		make: fmt.Sprintf("return [%s, %s];", s.call(k, "n"), s.call(k, "n + 1"))})
}

func (s *kindSet) set(k kind) kind {
	s.hit("hitSet[%s]", k.key)
	return s.add(kind{aeon: "set<" + k.aeon + ">", goType: "aeonrt.Set[" + k.key + "]",
		make: fmt.Sprintf("set<%s> v = new set<%s>(); v.insert(%s); v.insert(%s); return v;", k.aeon, k.aeon, s.call(k, "0"), s.call(k, "n + 1"))})
}

func (s *kindSet) mapOf(k, v kind) kind {
	t := "map<" + k.aeon + ", " + v.aeon + ">"
	s.hit("hitMap[%s, %s]", k.key, v.goType)
	return s.add(kind{aeon: t, goType: "aeonrt.Map[" + k.key + ", " + v.goType + "]",
		make: fmt.Sprintf("%s v = new %s(); v[%s] = %s; v[%s] = %s; return v;", t, t, s.call(k, "0"), s.call(v, "n"), s.call(k, "n + 1"), s.call(v, "n + 1"))})
}

func (s *kindSet) optional(k kind) kind {
	g := "Opt"
	if k.aeon == "Tree" {
		g = "Box"
	}
	s.hit("hit%s[%s]", g, k.goType)
	return s.add(kind{aeon: k.aeon + "?", goType: "aeonrt." + g + "[" + k.goType + "]", null: true,
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
	return s.add(kind{aeon: name, goType: "kinds." + name, make: "return new " + name + "(" + strings.TrimPrefix(args, ", ") + ");"})
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
		if k := s.list[s.rnd.IntN(11)]; k.key != "" {
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
	s := &kindSet{rnd: rand.New(rand.NewPCG(seed, 0)), maker: map[string]int{}, hitters: map[string]bool{}}
	s.decls.WriteString(`package kinds
enum Color { RED, GREEN, BLUE }
class Pair { int Left; bytes Right; }
class Tree { string Name; vector<int> Numbers; Tree? Next; vector<Tree> Below; }
actorclass Name { int n = 0; }
`)
	for _, k := range []kind{
		{aeon: "int", goType: "int64", key: "int64", make: "return n * 1000000007;"},
		{aeon: "uint8", goType: "uint8", key: "uint8", make: "return uint8(n);"},
		{aeon: "float", goType: "float64", make: `float f = 1e308; f = f * 10.0; if (n == 2) { return -f; } if (n == 3) { return f - f; } return float(n) / 3.0;`},
		{aeon: "bool", goType: "bool", key: "bool", make: "return n % 2 == 1;"},
		{aeon: "string", goType: "string", key: "string", make: `if (n == 0) { return ""; } return "<{n}> \"é\"";`},
		{aeon: "bytes", goType: "aeonrt.Bytes", key: "aeonrt.BytesKey", make: `if (n == 0) { return bytes(""); } return bytes("\xff{n}");`},
		{aeon: "time", goType: "aeonrt.Time", key: "aeonrt.Time", make: "return time(n * 1234567890123);"},
		{aeon: "duration", goType: "aeonrt.Duration", key: "aeonrt.Duration", make: "return duration(n * 1234567890123);"},
		{aeon: "Color", goType: "kinds.Color", key: "kinds.Color", make: "if (n == 0) { return RED; } if (n == 1) { return GREEN; } return BLUE;"},
		{aeon: "Pair", goType: "kinds.Pair", make: `return new Pair(n, bytes("p{n}"));`},
		{aeon: "Tree", goType: "kinds.Tree", make: `return new Tree("t", [n, 2], new Tree("next", [3], new Tree("last", [4], null, []), []), [new Tree("below", [5, n], null, [])]);`},
	} {
		s.add(k)
	}
	s.hit("hitBox[kinds.Tree]")
	s.hit("hitVector[kinds.Tree]")
	s.hit("hitVector[int64]")
	var parts []kind // each tested type is to be compiled: a class tests the containers of two
	for i, k := range s.list[:11] {
		of := []kind{s.vector(k), s.mapOf(s.someKey(), k), s.optional(k)}
		if k.key != "" {
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
	ro string Show() { return "{held}"; }
	ro string Text(%[2]s v) { return "{v}"; }
	void Note(string s) { noted = s; }
	ro string Noted() { return noted; }
}
actorclass Made%[1]d {
	%[2]s held;
	Made%[1]d(%[2]s v) { held = v; }
	ro string Show() { return "{held}"; }
}
client class Screen%[1]d {
	%[2]s held;
	Screen%[1]d(%[2]s v) { held = v; }
	void Take(%[2]s v) { held = v; }
	void Tell(Actor%[1]d a) { event a.Note("{held}"); }
}
void Fill%[1]d(Actor%[1]d a, %[2]s v) { event a.Put(v); settle(); }
%[2]s Fetch%[1]d(Actor%[1]d a) { return await event a.Get(); }
void Hand%[1]d(Screen%[1]d s, %[2]s v) { event s.Take(v); }
string Ask%[1]d(Screen%[1]d s, Actor%[1]d a) { event s.Tell(a); settle(); return await event a.Noted(); }
`, s.maker[k.aeon], k.aeon)
	}
	b.WriteString(`
class Row { string Key; vector<Pair> Pairs; Tree? Root; }
actorclass Shelf {
	table<Row> rows key(Key);
	Shelf() { rows.insert(new Row("a", [new Pair(1, bytes("x"))], make10(1))); }
	ro vector<Row> All() { return rows.values(); }
	ro Row? Get(string k) { return rows.get(k); }
	void Put(Row r) { rows.put(r); }
	ro string Show() { return "{rows.values()}"; }
}
class Card { int Amount; Color what; vector<uint8> raw; bytes note; string? memo; map<bytes, bool> seen; yield Name? owner; yield set<Name> all; time at; duration took; float rate; Tree? root; }
Card MakeCard() {
	map<bytes, bool> seen = new map<bytes, bool>();
	seen[bytes("k")] = true;
	set<Name> all = new set<Name>();
	all.insert(actor<Name>("ann"));
	return new Card(7, GREEN, [1, 2], bytes("hi"), null, seen, actor<Name>("bob"), all, time(0), 90s, 1.5, null);
}
`)
	return b.String()
}

// TestBorder mutates from Go everything that it can reach of the values that it has got from a program or given to it:
// no actor, no other result and no client object may change. It also writes every value as JSON and reads it back.
func TestBorder(t *testing.T) {
	s := drawKinds(*borderSeed, *borderKinds)
	m := newModule(t)
	text := s.program()
	files := generate(t, "kinds.aeon", text, false)
	if t.Failed() {
		t.Fatalf("the program:\n%s", text)
	}
	m.add(t, "kinds", files)
	driver, err := os.ReadFile(filepath.Join("testdata", "border", "driver.go"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, "driver/driver.go", string(driver))
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\taeonrt \"github.com/aeon-lang/aeon/runtime\"\n\n\t\"generated/kinds\"\n)\n\nfunc init() {\n")
	for h := range s.hitters {
		fmt.Fprintf(&b, "\tregister(%s)\n", h)
	}
	b.WriteString("}\n\nvar all = []test{\n")
	for _, k := range s.tested {
		fmt.Fprintf(&b, `	{%[2]q, func(cl *aeonrt.Client) {
		a := kinds.Actor%[1]dRef{Ref: aeonrt.Named(cl, &kinds.AeonClassActor%[1]d, "a")}
		check(cl, border[%[3]s]{a.Get, a.Fresh, a.Put, a.Fail, a.Pass, a.GetEvent, a.FreshEvent, a.PassEvent, a.PutEvent, a.Show, a.Text,
			func(cl *aeonrt.Client, v %[3]s) { kinds.Fill%[1]d(cl, a, v) },
			func(cl *aeonrt.Client) %[3]s { return kinds.Fetch%[1]d(cl, a) },
			func(cl *aeonrt.Client, v %[3]s) (func(*aeonrt.Client) (string, error), error) {
				made, err := kinds.NewMade%[1]d(cl, v)
				return made.Show, err
			},
			func(cl *aeonrt.Client, v, w %[3]s) func(change func()) []string {
				s := kinds.AeonNewScreen%[1]d(cl, v)
				before := kinds.Ask%[1]d(cl, s, a)
				return func(change func()) []string {
					change()
					after := kinds.Ask%[1]d(cl, s, a)
					kinds.Hand%[1]dClient(cl, s, w)
					change()
					return []string{before, after, kinds.Ask%[1]d(cl, s, a)}
				}
			},
		})
	}},
`, s.maker[k.aeon], k.aeon, k.goType)
	}
	b.WriteString("}\n")
	m.write(t, "driver/kinds.go", b.String())
	out := m.run(t, "run", "./driver")
	t.Logf("%d types, of %d that they are made of, seed %d: %s", len(s.tested), len(s.list), *borderSeed, out)
}

// TestCodeFromACacheHasNoGoCallers: what is compiled from a cache has no callers in Go, and neither copies values nor has JSON.
func TestCodeFromACacheHasNoGoCallers(t *testing.T) {
	text := drawKinds(1, 0).program()
	for _, f := range generate(t, "kinds.aeon", text, true) {
		for _, word := range []string{"aeonrt.Copy", "Copy", "MarshalJSON", "MarshalText"} {
			if strings.Contains(string(f.Content), "func "+word) || strings.Contains(string(f.Content), "aeonrt."+word) {
				t.Errorf("%s contains %s", f.Name, word)
			}
		}
	}
}
