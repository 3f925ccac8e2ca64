package typecheck

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// offence is the first thing in a function that an ro method may not do ([T-RO]).
type offence struct {
	at   ast.Span
	what string
	next *Func // what is called there and offends; nil if it is at `at` itself
}

// offences finds out why functions are not read-only, for this package and those that import it. Methods that
// are declared ro count as read-only: they are checked themselves.
func (c *checker) offences() {
	callers := make(map[*Func][]callSite)
	var work []*Func
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		if f.offence = c.directOffence(f, bf); f.offence == nil {
			f.offence = c.calledOffence(bf)
		}
		if f.offence != nil {
			work = append(work, f)
			return
		}
		for _, x := range bf.calls {
			info := c.info.Calls[x]
			if g := info.Func; g != nil && !g.RO && (helper(g) || info.Kind == SelfCall) {
				callers[g] = append(callers[g], callSite{f, x.Span()})
			}
		}
		for _, x := range bf.news {
			if g := c.info.News[x].Ctor; g != nil && helper(g) {
				callers[g] = append(callers[g], callSite{f, x.Span()})
			}
		}
	})
	var imported []*Func
	for g := range callers {
		if g.Pkg != c.pkg && g.offence != nil {
			imported = append(imported, g)
		}
	}
	sortFuncs(imported)
	work = append(imported, work...)
	for len(work) > 0 {
		g := work[0]
		work = work[1:]
		for _, site := range callers[g] {
			if site.from.offence == nil {
				site.from.offence = &offence{at: site.at, what: "calls " + g.FullName(), next: g}
				work = append(work, site.from)
			}
		}
	}
}

// directOffence finds a write, new, delete or timer in f itself.
func (c *checker) directOffence(f *Func, bf *bodyFacts) *offence {
	for _, n := range bf.stores {
		root := c.info.Stores[n].Root
		if f.IsMethodOf(ast.ActorClass) && root != nil && root.Kind == FieldVar {
			return &offence{at: n.Span(), what: "writes the field " + root.name}
		}
	}
	for _, x := range bf.news {
		if class, ok := c.info.News[x].Type.(*Class); ok && class.Kind == ast.ActorClass {
			return &offence{at: x.Span(), what: "creates " + aType(class)}
		}
	}
	if len(bf.deletes) > 0 {
		return &offence{at: bf.deletes[0].Span(), what: "deletes an actor"}
	}
	if len(bf.cancels) > 0 {
		return &offence{at: bf.cancels[0].Span(), what: "cancels a timer"}
	}
	if len(bf.effects) > 0 {
		return &offence{at: bf.effects[0].Span(), what: "issues a call of a Go function"}
	}
	for _, x := range bf.calls {
		if x.Name != nil {
			return &offence{at: x.Span(), what: "sets a named timer"}
		}
	}
	return nil
}

// calledOffence finds a call of an actor's method that is not ro. Calls of helpers
// and own methods are followed by offences.
func (c *checker) calledOffence(bf *bodyFacts) *offence {
	for _, x := range bf.calls {
		info := c.info.Calls[x]
		g := info.Func
		if g != nil && !g.RO && info.Kind != ClientCall && info.Kind != SelfCall && !helper(g) {
			return &offence{at: x.Span(), what: fmt.Sprintf("calls %s, which is not ro", g.FullName()), next: g}
		}
	}
	return nil
}

// offenceChain adds to d why f offends.
func (c *checker) offenceChain(d diag.Diagnostic, f *Func) diag.Diagnostic {
	seen := make(map[*Func]bool)
	for i := 0; f != nil && !seen[f] && i < explainMax; i++ {
		seen[f] = true
		o := f.offence
		if o == nil {
			break
		}
		d = d.With(o.at, "%s %s", f.FullName(), o.what)
		f = o.next
	}
	return d
}

// readOnlyWrites reports what an ro method itself writes.
func (c *checker) readOnlyWrites(f *Func, bf *bodyFacts) {
	say := func(at ast.Node, what string) {
		c.report(diag.New(diag.ReadOnlyWrites, at.Span(), "%s is ro, but it %s", f.FullName(), what).
			With(roSpan(f), "declared ro here").
			WithHelp("remove `ro`, or leave this to a method that is not ro"))
	}
	for _, n := range bf.stores {
		if root := c.info.Stores[n].Root; root != nil && root.Kind == FieldVar {
			say(n, "writes the field "+root.name)
		}
	}
	for _, x := range bf.news {
		if class, ok := c.info.News[x].Type.(*Class); ok && class.Kind == ast.ActorClass {
			say(x, "creates "+aType(class))
		} else if ctor := c.info.News[x].Ctor; ctor != nil {
			c.readOnlyHelper(f, ctor, x.Span())
		}
	}
	for _, s := range bf.deletes {
		say(s, "deletes an actor")
	}
	for _, s := range bf.cancels {
		say(s, "cancels a timer")
	}
	for _, x := range bf.calls {
		if x.Name != nil {
			say(x, "sets a named timer")
		}
	}
}

// readOnlyHelper reports that an ro method calls a function that is not read-only.
func (c *checker) readOnlyHelper(f, g *Func, at ast.Span) {
	if g.offence == nil {
		return
	}
	d := diag.New(diag.ReadOnlyCalls, at, "%s is ro, but %s is not read-only", f.FullName(), g.FullName()).
		With(roSpan(f), "declared ro here")
	c.report(c.offenceChain(d, g).WithHelp("an ro method calls only methods that write nothing"))
}

// readOnlyCalls reports a call from an ro method to a method that is not ro.
func (c *checker) readOnlyCalls(f, g *Func, x *ast.Call) {
	d := diag.New(diag.ReadOnlyCalls, x.Span(), "%s is ro, but it calls %s, which is not", f.FullName(), g.FullName()).
		With(roSpan(f), "declared ro here")
	if g.offence != nil {
		c.report(c.offenceChain(d, g).WithHelp("an ro method calls only ro methods"))
		return
	}
	d = d.WithHelp("%s writes nothing: declare it ro", g.FullName())
	if m, ok := g.Decl.(*ast.MethodDecl); ok && g.Pkg == c.pkg {
		d = d.WithFix("declare "+g.name+" ro", diag.InsertBefore(m.Span(), "ro "))
	}
	c.report(d)
}

func roSpan(f *Func) ast.Span {
	if m, ok := f.Decl.(*ast.MethodDecl); ok {
		return m.RO
	}
	return f.span
}
