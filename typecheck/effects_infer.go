package typecheck

import (
	"go/constant"
	"maps"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
)

// effectAnalysis infers the summaries of all functions: bottom-up over the
// call graph, and again where recursion makes a summary grow.
type effectAnalysis struct {
	*checker
	keys    map[string]constant.Value // by keyText
	callers map[*Func][]*Func
	queued  map[*Func]bool
	work    []*Func
	closure *closure
}

// effects runs the analysis on the functions that actors may run.
func (c *checker) effects() {
	a := &effectAnalysis{checker: c, keys: c.importedKeys(), callers: make(map[*Func][]*Func), queued: make(map[*Func]bool), closure: c.closure}
	// Invariant: a program without errors has an acyclic graph of classes, whose closure is known.
	assert.That(a.closure != nil, "effects are inferred without the closure of the class graph")
	order := a.bottomUp()
	for _, f := range order {
		f.sum = newSummary()
		f.sum.calls = len(a.facts[f].calls)+len(a.facts[f].news) > 0
		a.enqueue(f)
	}
	for len(a.work) > 0 {
		f := a.work[0]
		a.work = a.work[1:]
		a.queued[f] = false
		a.analyse(f)
	}
	for _, f := range order {
		f.Effects = a.describe(f)
	}
	c.pkg.keys = a.keys
}

// importedKeys returns the constant keys of the footprints of imported packages.
func (c *checker) importedKeys() map[string]constant.Value {
	keys := make(map[string]constant.Value)
	for _, fs := range c.files {
		for _, p := range fs.imports {
			if p.Pkg != nil {
				maps.Copy(keys, p.Pkg.keys)
			}
		}
	}
	return keys
}

func (a *effectAnalysis) enqueue(f *Func) {
	if !a.queued[f] {
		a.queued[f] = true
		a.work = append(a.work, f)
	}
}

// bottomUp returns the functions that actors may run, callees first as far as
// recursion allows, and fills in callers.
func (a *effectAnalysis) bottomUp() []*Func {
	var order []*Func
	seen := make(map[*Func]bool)
	var visit func(*Func)
	visit = func(f *Func) {
		if seen[f] || a.facts[f] == nil || f.Context == ClientContext {
			return
		}
		seen[f] = true
		a.eachCallee(f, func(g *Func) {
			a.callers[g] = append(a.callers[g], f)
			visit(g)
		})
		order = append(order, f)
	}
	a.pkg.AllFuncs(visit)
	return order
}

// eachCallee visits what f calls within its event, once per call.
func (a *effectAnalysis) eachCallee(f *Func, visit func(*Func)) {
	bf := a.facts[f]
	for _, x := range bf.calls {
		info := a.info.Calls[x]
		if info.Func != nil && x.Mode.Inside() {
			visit(info.Func)
		}
	}
	for _, x := range bf.news {
		if ctor := a.info.News[x].Ctor; ctor != nil {
			visit(ctor)
		}
	}
}

// accessesMax bounds the entries of one footprint; beyond, it is coarse.
const accessesMax = 48

// analyse walks f once more and enqueues its callers if its summary grew.
func (a *effectAnalysis) analyse(f *Func) {
	before := f.sum.size()
	w := newEffectWalk(a, f)
	w.run()
	w.close()
	// Invariant: a summary only grows, which is why the analysis ends.
	after := f.sum.size()
	assert.That(after >= before, "a summary has shrunk")
	if after != before {
		for _, caller := range a.callers[f] {
			a.enqueue(caller)
		}
	}
}

// touch adds an access of class at every origin.
func (w *effectWalk) touch(from origins, class *Class, mode Mode) {
	for _, o := range from {
		switch o.kind {
		case fresh:
			w.sum.created[class] = true
		case anywhere:
			w.touchAnywhere(class, mode)
		default:
			w.access(o.path, class, mode, o.kind == below)
		}
	}
}

func (w *effectWalk) access(p ipath, class *Class, mode Mode, reach bool) {
	if w.sum.coarse && !p.isRoot() {
		w.touchAnywhere(class, mode)
		return
	}
	w.plain(p, class, mode, reach)
	if len(w.sum.accesses)+len(w.sum.guards) > accessesMax && !w.sum.coarse {
		w.coarsen()
	}
}

// touchAnywhere adds what `anywhere` means for this function.
func (w *effectWalk) touchAnywhere(class *Class, mode Mode) {
	if w.fn.IsMethodOf(ast.ActorClass) {
		if w.fn.Class == class {
			w.plain(ipath{}, class, mode, false)
		}
		w.plain(ipath{}, class, mode, true)
	} else if w.fn.IsMethodOf(ast.ValueClass) {
		w.plain(ipath{elem: ElemDeep}, class, mode, false)
		w.plain(ipath{elem: ElemDeep}, class, mode, true)
	}
	for _, p := range w.fn.Params {
		if p.Yield || !w.a.holdsActors(p.typ) {
			continue
		}
		path := wholePath(ipath{param: p}, p.typ)
		holds := false
		eachActor(p.typ, func(c *Class) { holds = holds || c == class })
		if holds {
			w.plain(path, class, mode, false)
		}
		w.plain(path, class, mode, true)
	}
}

// plain adds an entry to the footprint, or to the guards. Nothing of a class
// is reachable from actors whose classes do not lead to it.
func (w *effectWalk) plain(p ipath, class *Class, mode Mode, reach bool) {
	if reach && !w.leadsTo(p, class) {
		return
	}
	into := w.sum.accesses
	if w.guarding {
		into = w.sum.guards
	}
	k := accessKey{p, class, reach}
	into[k] = max(into[k], mode)
}

// leadsTo reports whether the class graph has a way from the actors at p to class.
func (w *effectWalk) leadsTo(p ipath, class *Class) bool {
	found := false
	from := func(c *Class) { found = found || w.a.isBelow(class, c) }
	switch {
	case p.field != nil:
		eachActor(p.field.typ, from)
	case p.param != nil:
		eachActor(p.param.typ, from)
	case w.fn.Class != nil:
		eachActor(w.fn.Class, from)
	}
	return found
}

// isBelow reports whether an actor of class top can own one of class c,
// directly or not.
func (a *effectAnalysis) isBelow(c, top *Class) bool {
	if c == top {
		return top.SelfRecursive
	}
	return a.closure.has(top, c)
}

// coarsen replaces a footprint that has grown too long by what is reachable.
func (w *effectWalk) coarsen() {
	w.sum.coarse = true
	for _, old := range []map[accessKey]Mode{w.sum.accesses, w.sum.guards} {
		for k, mode := range maps.Clone(old) {
			if !k.path.isRoot() || k.reach {
				delete(old, k)
				w.touchAnywhere(k.class, mode)
			}
		}
	}
}

// close accounts for references that the event itself may have moved. Where one of
// class E can have been stored below some actor, what is reachable from there at
// the end is more than what was reachable at the entry.
func (w *effectWalk) close() {
	if len(w.sum.foreign) == 0 {
		return
	}
	moved := make(map[*Class]bool)
	for class := range w.sum.foreign {
		w.a.downward(class, moved)
	}
	type found struct {
		class *Class
		mode  Mode
	}
	var list []found
	for k, mode := range w.sum.accesses {
		if k.reach && moved[k.class] {
			list = append(list, found{k.class, mode})
		}
	}
	for _, f := range list {
		w.touchAnywhere(f.class, f.mode)
	}
}

// downward adds class and everything below it in the class graph.
func (a *effectAnalysis) downward(class *Class, to map[*Class]bool) {
	if !to[class] {
		to[class] = true
		a.closure.each(class, func(c *Class) { to[c] = true })
	}
}
