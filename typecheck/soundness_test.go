package typecheck

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// A footprint that is too small is a soundness bug. This test makes random programs
// over two classes and runs their methods in a small interpreter of its own. It
// checks that every actor an event touches was in the footprint, at least as
// strongly, evaluated on the heap as it was at the entry.
//
// Mid owns leaves (in fields, a vector and a map) and another Mid; methods take
// a leaf, a Mid, an index and a key, store, move, create and call each other.

const (
	simMethods = 4
	simFuel    = 400
)

// simNode is a piece of a generated program: it prints itself and runs.
type simNode struct {
	text string
	run  func(f *simFrame)
}

// simActor is an actor on the heap; leaves have none of the fields.
type simActor struct {
	id    int
	leaf  bool
	fresh bool
	field map[string]*simActor // x, y (leaves), next (Mid)
	list  []*simActor
	byKey map[string]*simActor
}

type simAbort struct{}

// simWorld is one run of one event.
type simWorld struct {
	program *simProgram
	touched map[*simActor]Mode
	nextID  int
	fuel    int
	rng     *rand.Rand
}

type simFrame struct {
	w     *simWorld
	self  *simActor
	vars  map[string]*simActor // p, q and locals
	index int                  // i
	key   string               // k
}

type simProgram struct {
	text    string
	methods [simMethods][]simNode
}

func (w *simWorld) touch(a *simActor, m Mode) { w.touched[a] = max(w.touched[a], m) }

func (w *simWorld) spend() {
	if w.fuel--; w.fuel < 0 {
		panic(simAbort{})
	}
}

func (a *simActor) children() []*simActor {
	var out []*simActor
	for _, c := range a.field {
		if c != nil {
			out = append(out, c)
		}
	}
	out = append(out, a.list...)
	for _, c := range a.byKey {
		out = append(out, c)
	}
	return out
}

func (a *simActor) reach(into map[*simActor]bool) {
	for _, c := range a.children() {
		if !into[c] {
			into[c] = true
			c.reach(into)
		}
	}
}

// own checks that storing a Mid makes no cycle, as the runtime does: it reads
// everything below the reference, unless it is fresh or was below already.
func (f *simFrame) own(c *simActor, wasOwn bool) {
	if c == nil || c.leaf {
		return
	}
	all := map[*simActor]bool{c: true}
	c.reach(all)
	if all[f.self] {
		panic(simAbort{})
	}
	if wasOwn || c.fresh {
		return
	}
	for a := range all {
		f.w.touch(a, Read)
	}
}

// simGen makes one program.
type simGen struct {
	rng    *rand.Rand
	locals int
}

func (g *simGen) leafExpr(scope []string) (string, func(f *simFrame) *simActor) {
	switch n := g.rng.IntN(9); {
	case n < 3:
		name := []string{"x", "y"}[n%2]
		return name, func(f *simFrame) *simActor { return f.self.field[name] }
	case n == 3:
		return "maybep(p)", func(f *simFrame) *simActor { return f.vars["p"] }
	case n == 4:
		return "fresh()", func(f *simFrame) *simActor { return f.w.create(true) }
	case n == 5:
		return "leaves.get(k)", func(f *simFrame) *simActor { return f.self.byKey[f.key] }
	case n == 6:
		return `leaves.get("b")`, func(f *simFrame) *simActor { return f.self.byKey["b"] }
	}
	if len(scope) > 0 {
		v := scope[g.rng.IntN(len(scope))]
		return v, func(f *simFrame) *simActor { return f.vars[v] }
	}
	return "maybep(p)", func(f *simFrame) *simActor { return f.vars["p"] }
}

func (g *simGen) midExpr() (string, func(f *simFrame) *simActor, bool) {
	switch g.rng.IntN(5) {
	case 0:
		return "maybeq(q)", func(f *simFrame) *simActor { return f.vars["q"] }, false
	case 1:
		return "maybeq(new Mid())", func(f *simFrame) *simActor { return f.w.create(false) }, false
	}
	return "next", func(f *simFrame) *simActor { return f.self.field["next"] }, true
}

func (w *simWorld) create(leaf bool) *simActor {
	w.nextID++
	return &simActor{id: w.nextID, leaf: leaf, fresh: true, field: map[string]*simActor{}, byKey: map[string]*simActor{}}
}

func (g *simGen) block(depth int, scope []string) (string, []simNode) {
	var text strings.Builder
	var nodes []simNode
	for range 1 + g.rng.IntN(3) {
		n := g.stmt(depth, &scope)
		text.WriteString(n.text + "\n")
		nodes = append(nodes, n)
	}
	return text.String(), nodes
}

func runAll(nodes []simNode, f *simFrame) {
	for _, n := range nodes {
		f.w.spend()
		n.run(f)
	}
}

// poke is a call on a leaf.
func poke(f *simFrame, l *simActor) {
	if l != nil {
		f.w.touch(l, Write)
	}
}

func (g *simGen) stmt(depth int, scope *[]string) simNode {
	switch n := g.rng.IntN(13); {
	case n < 3:
		text, e := g.leafExpr(*scope)
		return simNode{"if (Leaf l = " + text + ") { l.add(); }", func(f *simFrame) { poke(f, e(f)) }}
	case n == 3:
		to := []string{"x", "y"}[g.rng.IntN(2)]
		text, e := g.leafExpr(*scope)
		return simNode{to + " = " + text + ";", func(f *simFrame) {
			f.self.field[to] = e(f)
			f.w.touch(f.self, Write)
		}}
	case n == 4:
		text, e, own := g.midExpr()
		return simNode{"next = " + text + ";", func(f *simFrame) {
			c := e(f)
			f.own(c, own)
			f.self.field["next"] = c
			f.w.touch(f.self, Write)
		}}
	case n == 5:
		return g.container(*scope)
	case n < 8:
		return g.callMid(*scope)
	case n == 8:
		g.locals++
		v := fmt.Sprintf("v%d", g.locals)
		text, e := g.leafExpr(*scope)
		*scope = append(*scope, v)
		return simNode{"Leaf? " + v + " = " + text + "; print(" + v + ");", func(f *simFrame) { f.vars[v] = e(f) }}
	case n == 9 && len(*scope) > 0:
		v := (*scope)[g.rng.IntN(len(*scope))]
		text, e := g.leafExpr(*scope)
		return simNode{v + " = " + text + ";", func(f *simFrame) { f.vars[v] = e(f) }}
	case n == 10 && depth > 0:
		a, as := g.block(depth-1, *scope)
		b, bs := g.block(depth-1, *scope)
		return simNode{"if (random() < 0.5) {\n" + a + "} else {\n" + b + "}", func(f *simFrame) {
			if f.w.rng.IntN(2) == 0 {
				runAll(as, f)
			} else {
				runAll(bs, f)
			}
		}}
	case n == 11 && depth > 0:
		a, as := g.block(depth-1, *scope)
		return simNode{"while (random() < 0.6) {\n" + a + "}", func(f *simFrame) {
			for f.w.rng.IntN(5) < 3 {
				f.w.spend()
				runAll(as, f)
			}
		}}
	}
	return simNode{"for (Leaf l : list) { l.add(); }", func(f *simFrame) {
		for _, l := range f.self.list {
			poke(f, l)
		}
	}}
}

func (g *simGen) container(scope []string) simNode {
	text, e := g.leafExpr(scope)
	switch g.rng.IntN(5) {
	case 0:
		return simNode{"if (Leaf l = " + text + ") { list.push(l); }", func(f *simFrame) {
			if l := e(f); l != nil {
				f.self.list = append(f.self.list, l)
				f.w.touch(f.self, Write)
			}
		}}
	case 1:
		return simNode{"if (Leaf l = " + text + ") { leaves[k] = l; }", func(f *simFrame) {
			if l := e(f); l != nil {
				f.self.byKey[f.key] = l
				f.w.touch(f.self, Write)
			}
		}}
	case 2:
		return simNode{"if (list.size() > 0) { list.remove(0); }", func(f *simFrame) {
			if len(f.self.list) > 0 {
				f.self.list = append([]*simActor(nil), f.self.list[1:]...)
				f.w.touch(f.self, Write)
			}
		}}
	case 3:
		return simNode{"if (list.size() > i) { list[i].add(); }", func(f *simFrame) {
			if len(f.self.list) > f.index {
				poke(f, f.self.list[f.index])
			}
		}}
	}
	return simNode{"for (string key : leaves.keys()) { leaves[key].add(); }", func(f *simFrame) {
		for _, l := range f.self.byKey {
			poke(f, l)
		}
	}}
}

func (g *simGen) callMid(scope []string) simNode {
	m := g.rng.IntN(simMethods)
	text, target, _ := g.midExpr()
	if g.rng.IntN(4) == 0 {
		text, target = "", func(f *simFrame) *simActor { return f.self }
	}
	leafText, leaf := g.leafExpr(scope)
	midText, mid, _ := g.midExpr()
	key, keyOf := "k", func(f *simFrame) string { return f.key }
	if g.rng.IntN(2) == 0 {
		key, keyOf = `"a"`, func(*simFrame) string { return "a" }
	}
	run := func(f *simFrame) {
		to := target(f)
		if to == nil {
			return
		}
		l, q := leaf(f), mid(f)
		if l == nil || q == nil {
			return
		}
		f.w.touch(to, Read)
		runAll(f.w.program.methods[m], &simFrame{f.w, to, map[string]*simActor{"p": l, "q": q}, f.index, keyOf(f)})
	}
	call := fmt.Sprintf("m%d(l, r, i, %s);", m, key)
	args := func(inner string) string {
		return "if (Leaf l = " + leafText + ") { if (Mid r = " + midText + ") { " + inner + " } }"
	}
	if text == "" {
		return simNode{args(call), run}
	}
	return simNode{"if (Mid t = " + text + ") { " + args("t."+call) + " }", run}
}

func (g *simGen) program() *simProgram {
	p := &simProgram{}
	var b strings.Builder
	b.WriteString(`package p
actorclass Leaf { int n = 0; void add() { n++; } }
Leaf? fresh() { return new Leaf(); }
Leaf? maybep(Leaf p) { return p; }
Mid? maybeq(Mid q) { return q; }
actorclass Mid {
Leaf? x; Leaf? y; Mid? next; vector<Leaf> list; map<string, Leaf> leaves;
`)
	for i := range simMethods {
		text, nodes := g.block(2, nil)
		p.methods[i] = nodes
		fmt.Fprintf(&b, "void m%d(Leaf p, Mid q, int i, string k) {\n%s}\n", i, text)
	}
	p.text = b.String() + "}\n"
	return p
}

// simHeap makes a random heap: Mids in order of ownership, with shared leaves.
func simHeap(w *simWorld) (mids, leaves []*simActor) {
	for range 4 {
		leaves = append(leaves, w.create(true))
	}
	for range 5 {
		m := w.create(false)
		for _, name := range []string{"x", "y"} {
			if w.rng.IntN(3) > 0 {
				m.field[name] = leaves[w.rng.IntN(len(leaves))]
			}
		}
		if len(mids) > 0 && w.rng.IntN(3) > 0 {
			m.field["next"] = mids[w.rng.IntN(len(mids))]
		}
		for range w.rng.IntN(3) {
			m.list = append(m.list, leaves[w.rng.IntN(len(leaves))])
		}
		for _, key := range []string{"a", "b", "c"} {
			if w.rng.IntN(2) == 0 {
				m.byKey[key] = leaves[w.rng.IntN(len(leaves))]
			}
		}
		mids = append(mids, m)
	}
	for _, a := range append(append([]*simActor(nil), mids...), leaves...) {
		a.fresh = false
	}
	return mids, leaves
}

// simAllowed evaluates a footprint on the heap.
func simAllowed(e *Effects, f *simFrame) map[*simActor]Mode {
	out := make(map[*simActor]Mode)
	for _, x := range e.Footprint {
		for _, a := range simPath(x.Path, f) {
			targets := map[*simActor]bool{a: true}
			if x.Reach {
				delete(targets, a)
				a.reach(targets)
			}
			for t := range targets {
				if t.leaf == (x.Class.name == "Leaf") {
					out[t] = max(out[t], x.Mode)
				}
			}
		}
	}
	return out
}

func simPath(p Path, f *simFrame) []*simActor {
	root := f.self
	if p.Param != nil {
		root = f.vars[p.Param.name]
	}
	if p.Field == nil {
		return []*simActor{root}
	}
	switch p.Field.name {
	case "list":
		if p.Elem != ElemAt {
			return root.list
		}
		i := f.index
		if p.Key != nil {
			fmt.Sscan(p.Key.String(), &i)
		}
		if i < len(root.list) {
			return root.list[i : i+1]
		}
		return nil
	case "leaves":
		key := f.key
		if p.Key != nil {
			key = strings.Trim(p.Key.String(), `"`)
		}
		var out []*simActor
		for k, a := range root.byKey {
			if p.Elem != ElemAt || k == key {
				out = append(out, a)
			}
		}
		return out
	}
	if a := root.field[p.Field.name]; a != nil {
		return []*simActor{a}
	}
	return nil
}

// simEvents runs events of one program and returns the number of actors they
// touched. tamper may damage the effects, to prove that the test finds it.
func simEvents(t *testing.T, seed uint64, tamper func(*Effects)) (touched, unsound int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := (&simGen{rng: rng}).program()
	info, diags := checkProgram(t, p.text)
	if diag.HasErrors(diags) {
		t.Fatalf("seed %d: %s\n%s", seed, show(diags), p.text)
	}
	mid, ok := info.Package.Lookup("Mid").(*Class)
	if !ok || mid.Kind != ast.ActorClass {
		t.Fatal("no class Mid")
	}
	for i, m := range mid.Methods {
		if tamper != nil {
			tamper(m.Effects)
		}
		for range 12 {
			w := &simWorld{program: p, touched: make(map[*simActor]Mode), fuel: simFuel, rng: rng}
			mids, leaves := simHeap(w)
			f := &simFrame{w, mids[rng.IntN(len(mids))], map[string]*simActor{
				"p": leaves[rng.IntN(len(leaves))], "q": mids[rng.IntN(len(mids))]}, rng.IntN(3), []string{"a", "b", "c"}[rng.IntN(3)]}
			allowed := simAllowed(m.Effects, f)
			w.touch(f.self, Read)
			func() {
				defer func() {
					if r := recover(); r != nil {
						if _, abort := r.(simAbort); !abort {
							panic(r)
						}
					}
				}()
				runAll(p.methods[i], f)
			}()
			for a, mode := range w.touched {
				touched++
				if !a.fresh && allowed[a] < mode {
					unsound++
					if tamper == nil {
						t.Errorf("seed %d: m%d touches actor %d (leaf: %t) %s, and the footprint allows %s\n%s%s", seed, i, a.id, a.leaf, mode, allowed[a], m.Effects.text(m), p.text)
						return
					}
				}
			}
		}
	}
	return touched, unsound
}

func TestFootprintsAreSound(t *testing.T) {
	touched := 0
	for seed := range uint64(1000) {
		n, _ := simEvents(t, seed, nil)
		touched += n
		if t.Failed() {
			return
		}
	}
	if touched < 10_000 {
		t.Errorf("only %d actors were touched", touched)
	}
}

// The test finds footprints from which something was taken away.
func TestSoundnessTestFindsPlantedBugs(t *testing.T) {
	for name, tamper := range map[string]func(*Effects){
		"no reach": func(e *Effects) {
			for i := range e.Footprint {
				e.Footprint[i].Reach = false
			}
		},
		"write as read": func(e *Effects) {
			for i := range e.Footprint {
				e.Footprint[i].Mode = Read
			}
		},
		"first entry only": func(e *Effects) { e.Footprint = e.Footprint[:1] },
	} {
		found := 0
		for seed := range uint64(40) {
			_, n := simEvents(t, seed, tamper)
			found += n
		}
		if found == 0 {
			t.Errorf("%s: not found", name)
		}
	}
}
