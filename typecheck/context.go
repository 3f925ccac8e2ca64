package typecheck

import (
	"math"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// [T-CLIENT]: helpers are free functions and the methods and constructors of value
// classes. They run as part of their caller. What a helper needs, its callers need:
// await and similar constructs are for clients, sync and async calls are for
// actors.

// helper reports whether f runs as part of its caller.
func helper(f *Func) bool {
	return f.Kind == FreeFunc && !(f.Pkg.Main == f) || f.IsMethodOf(ast.ValueClass)
}

// need is why a helper can only be run by clients, or only by actors.
type need struct {
	at   ast.Span
	what string
	next *Func     // the helper called there that has the need; nil if it is at `at` itself
	far  int       // how many calls lead to it
	code diag.Code // of the error in a snapshot block, where that is what has the need
}

// contexts finds out whether clients, actors or both run each helper.
func (c *checker) contexts() {
	client, actor, plain, beyond := make(map[*Func]*need), make(map[*Func]*need), make(map[*Func]*need), make(map[*Func]*need)
	callers := make(map[*Func][]callSite)
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		c.eachHelperCall(bf, func(callee *Func, at ast.Span) {
			callers[callee] = append(callers[callee], callSite{f, at})
			if callee.Pkg != c.pkg {
				callee.addNeeds(client, actor, plain, beyond)
			}
		})
		if !helper(f) {
			return
		}
		if len(bf.clientOnly) > 0 {
			client[f] = &need{at: bf.clientOnly[0].at, what: bf.clientOnly[0].what}
		}
		actor[f] = c.actorNeed(bf)
		if actor[f] == nil {
			delete(actor, f)
		}
		if n := c.plainNeed(bf); n != nil {
			plain[f] = n
		}
		if n := c.firstBeyond(bf); n != nil {
			beyond[f] = n
		}
	})
	spread(client, callers)
	spread(actor, callers)
	spread(plain, callers)
	spread(beyond, callers)
	c.eachFunc(func(f *Func, _ *bodyFacts) {
		f.forClient, f.forActor, f.forPlain, f.beyond = client[f], actor[f], plain[f], beyond[f]
	})
	c.contextErrors(client, actor, callers)
	c.settleContexts(client, actor, callers)
}

// addNeeds adds what a helper of an imported package needs.
func (f *Func) addNeeds(client, actor, plain, beyond map[*Func]*need) {
	if f.forClient != nil {
		client[f] = f.forClient
	}
	if f.forActor != nil {
		actor[f] = f.forActor
	}
	if f.forPlain != nil {
		plain[f] = f.forPlain
	}
	if f.beyond != nil {
		beyond[f] = f.beyond
	}
}

// Public reports whether code of other packages may call f by its name: that
// of a function, of a method, or of the class that it constructs.
func (f *Func) Public() bool { return exported(f.name) && f.Kind != Test }

type callSite struct {
	from *Func
	at   ast.Span
}

// eachHelperCall visits the calls of helpers, constructors of value classes included.
func (c *checker) eachHelperCall(bf *bodyFacts, visit func(callee *Func, at ast.Span)) {
	for _, x := range bf.calls {
		if f := c.info.Calls[x].Func; f != nil && helper(f) {
			visit(f, x.Span())
		}
	}
	for _, x := range bf.news {
		if f := c.info.News[x].Ctor; f != nil && helper(f) {
			visit(f, x.Span())
		}
	}
}

// actorNeed returns the first thing in a helper that only actors can do.
func (c *checker) actorNeed(bf *bodyFacts) *need {
	if n := c.insideCall(bf); n != nil {
		return n
	}
	if len(bf.actorOnly) > 0 {
		return &need{at: bf.actorOnly[0].at, what: bf.actorOnly[0].what}
	}
	return nil
}

var insideCalls = map[ast.CallMode]string{ast.Sync: "a sync call", ast.Async: "an async call"}

// insideCall returns the first call that runs within the event of its caller.
func (c *checker) insideCall(bf *bodyFacts) *need {
	for _, x := range bf.calls {
		if info := c.info.Calls[x]; info.Kind == ActorCall && x.Mode.Inside() {
			return &need{at: x.Span(), what: insideCalls[x.Mode]}
		}
	}
	return nil
}

// plainNeed returns the first thing in a helper that takes a plain reference ([T-YIELD]).
func (c *checker) plainNeed(bf *bodyFacts) *need {
	if n := c.insideCall(bf); n != nil {
		return n
	}
	if len(bf.deletes) > 0 {
		return &need{at: bf.deletes[0].Span(), what: "delete"}
	}
	for _, x := range bf.news {
		info := c.info.News[x]
		if class, ok := info.Type.(*Class); !ok || class.Kind != ast.ActorClass || info.Ctor == nil {
			continue
		}
		for _, p := range info.Ctor.Params {
			if !p.Yield && c.holdsActors(p.typ) {
				return &need{at: x.Span(), what: "new " + info.Ctor.Class.name + ", whose parameter " + p.name + " is plain"}
			}
		}
	}
	return nil
}

// spread gives every caller the needs of the helpers it calls.
func spread(needs map[*Func]*need, callers map[*Func][]callSite) {
	var work []*Func
	for f := range needs {
		work = append(work, f)
	}
	sortFuncs(work)
	for len(work) > 0 {
		f := work[0]
		work = work[1:]
		for _, site := range callers[f] {
			if helper(site.from) && needs[site.from] == nil {
				needs[site.from] = &need{at: site.at, what: needs[f].what, next: f, far: needs[f].far + 1, code: needs[f].code}
				work = append(work, site.from)
			}
		}
	}
}

// contextErrors reports helpers with both needs, and calls from the wrong side.
func (c *checker) contextErrors(client, actor map[*Func]*need, callers map[*Func][]callSite) {
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if helper(f) {
			if c.needsMeet(f, bf, client, actor) {
				n, other := client[f], actor[f]
				d := clientOnly(n.at, n.what)
				if n.next != nil {
					d = clientHelper(n.next, n.at, client)
				}
				d = d.With(other.at, "but %s also contains %s, which is for actors only", f.FullName(), other.what).
					WithHelp("a function is for clients only or for actors only: clients issue events, and `await event` waits for the result")
				if other.next != nil {
					d = explain(d, other, actor)
				}
				c.report(d)
			}
			return
		}
		c.eachHelperCall(bf, func(callee *Func, at ast.Span) {
			switch {
			case client[callee] != nil && actor[callee] != nil: // that has been reported
			case f.Context == ActorContext && client[callee] != nil:
				c.report(clientHelper(callee, at, client))
			case f.Context == ClientContext && actor[callee] != nil:
				d := diag.New(diag.ActorOnly, at, "%s is for actors only: it contains %s", callee.FullName(), actor[callee].what)
				c.report(explain(d, actor[callee], actor).WithHelp("clients issue events: write a method of an actor that does this, and call it with `event`"))
			}
		})
	})
}

// needsMeet reports whether f is where its two needs come together: it has both, and no helper that it calls has both from nearer.
// Invariant: wherever helpers have both, also in a cycle, the needs meet in the one that has them from nearest.
func (c *checker) needsMeet(f *Func, bf *bodyFacts, client, actor map[*Func]*need) bool {
	far := func(f *Func) int {
		if client[f] == nil || actor[f] == nil {
			return math.MaxInt
		}
		return max(client[f].far, actor[f].far)
	}
	meet := far(f) < math.MaxInt
	c.eachHelperCall(bf, func(callee *Func, _ ast.Span) { meet = meet && far(callee) >= far(f) })
	return meet
}

// clientHelper is the error of a call of a helper that only clients can run.
func clientHelper(callee *Func, at ast.Span, client map[*Func]*need) diag.Diagnostic {
	d := diag.New(diag.ClientOnly, at, "%s is for clients only: it contains %s", callee.FullName(), client[callee].what)
	return explain(d, client[callee], client)
}

// explainMax bounds the chain of calls that a message shows.
const explainMax = 8

// explain adds the chain of calls that leads to a need.
func explain(d diag.Diagnostic, n *need, needs map[*Func]*need) diag.Diagnostic {
	return explainNeeds(d, n, func(f *Func) *need { return needs[f] })
}

func explainNeeds(d diag.Diagnostic, n *need, needOf func(*Func) *need) diag.Diagnostic {
	for i := 0; n != nil && i < explainMax; i++ {
		if n.next == nil {
			return d.With(n.at, "%s", n.what)
		}
		d = d.With(n.at, "by way of %s", n.next.FullName())
		n = needOf(n.next)
	}
	return d
}

// settleContexts follows the calls from clients and from actors. An importing
// package may call from either.
func (c *checker) settleContexts(client, actor map[*Func]*need, callers map[*Func][]callSite) {
	c.reachHelpers(ClientContext, actor, func(f *Func) *bool { return &f.ByClient })
	c.reachHelpers(ActorContext, client, func(f *Func) *bool { return &f.ByActor })
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if helper(f) {
			switch {
			case client[f] != nil && actor[f] != nil: // that has been reported
			case client[f] != nil, f.ByClient && !f.ByActor && actor[f] == nil:
				f.Context = ClientContext
			case actor[f] != nil, f.ByActor && !f.ByClient:
				f.Context = ActorContext
			}
		} else {
			f.ByClient, f.ByActor = f.Context == ClientContext, f.Context == ActorContext
		}
		for _, x := range bf.news {
			c.info.News[x].Client = f.Context == ClientContext
		}
	})
}

// reachHelpers marks the helpers that code of one context may run, except others:
// those that only the other context can run.
func (c *checker) reachHelpers(from Context, others map[*Func]*need, mark func(*Func) *bool) {
	var work []*Func
	visit := func(callee *Func, _ ast.Span) {
		if m := mark(callee); !*m && callee.Pkg == c.pkg {
			*m = true
			work = append(work, callee)
		}
	}
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		switch {
		case !helper(f) && f.Context == from:
			c.eachHelperCall(bf, visit)
		case helper(f) && f.Public() && others[f] == nil:
			visit(f, ast.Span{})
		}
	})
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		if bf := c.facts[f]; bf != nil {
			c.eachHelperCall(bf, visit)
		}
	}
}
