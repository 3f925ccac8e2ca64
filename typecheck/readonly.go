package typecheck

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// readOnly finds out why a function is not read-only ([T-RO]).
type readOnly struct {
	*checker
	known map[*Func]*offence
}

// offence is the first thing in a function that an ro method may not do.
type offence struct {
	at   ast.Span
	what string
	next *Func // what is called there and offends; nil if it is at `at` itself
}

// newReadOnly finds the first offence of every function. Methods that are
// declared ro are taken at their word: they are checked themselves.
func newReadOnly(c *checker) *readOnly {
	r := &readOnly{c, make(map[*Func]*offence)}
	callers := make(map[*Func][]callSite)
	var work []*Func
	c.eachFunc(func(f *Func, bf *bodyFacts) {
		o := r.direct(f, bf)
		if o == nil {
			o = r.called(f, bf)
		}
		if o != nil {
			r.known[f] = o
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
	for len(work) > 0 {
		g := work[0]
		work = work[1:]
		for _, site := range callers[g] {
			if r.known[site.from] == nil {
				r.known[site.from] = &offence{at: site.at, what: "calls " + g.FullName(), next: g}
				work = append(work, site.from)
			}
		}
	}
	return r
}

// offence returns why f is not read-only, or nil.
func (r *readOnly) offence(f *Func) *offence {
	if f.Pkg != r.pkg && (helper(f) && f.mayWrite() || !helper(f) && !f.RO) {
		return &offence{at: f.span, what: "is not read-only"}
	}
	return r.known[f]
}

// mayWrite reports whether a checked helper of another package touches actors in writing.
func (f *Func) mayWrite() bool {
	if f.Effects == nil {
		return false
	}
	for _, m := range f.Effects.Classes {
		if m.Mode == Write {
			return true
		}
	}
	return false
}

// direct finds a write, new, delete or timer in f itself.
func (r *readOnly) direct(f *Func, bf *bodyFacts) *offence {
	for _, n := range bf.stores {
		root := r.info.Stores[n].Root
		if f.IsMethodOf(ast.ActorClass) && root != nil && root.Kind == FieldVar {
			return &offence{at: n.Span(), what: "writes the field " + root.name}
		}
	}
	for _, x := range bf.news {
		if class, ok := r.info.News[x].Type.(*Class); ok && class.Kind == ast.ActorClass {
			return &offence{at: x.Span(), what: "creates " + aType(class)}
		}
	}
	if len(bf.deletes) > 0 {
		return &offence{at: bf.deletes[0].Span(), what: "deletes an actor"}
	}
	if len(bf.cancels) > 0 {
		return &offence{at: bf.cancels[0].Span(), what: "cancels a timer"}
	}
	for _, x := range bf.calls {
		if x.Name != nil {
			return &offence{at: x.Span(), what: "sets a named timer"}
		}
	}
	return nil
}

// called finds a call of an actor's method that is not ro. Calls of helpers
// and own methods are followed by newReadOnly.
func (r *readOnly) called(_ *Func, bf *bodyFacts) *offence {
	for _, x := range bf.calls {
		info := r.info.Calls[x]
		g := info.Func
		switch {
		case g == nil || g.RO || info.Kind == ClientCall:
		case helper(g) || info.Kind == SelfCall:
			if g.Pkg != r.pkg && g.mayWrite() {
				return &offence{at: x.Span(), what: "calls " + g.FullName()}
			}
		default:
			return &offence{at: x.Span(), what: fmt.Sprintf("calls %s, which is not ro", g.FullName()), next: g}
		}
	}
	return nil
}

// chain adds to d why f offends.
func (r *readOnly) chain(d diag.Diagnostic, f *Func) diag.Diagnostic {
	seen := make(map[*Func]bool)
	for i := 0; f != nil && !seen[f] && i < explainMax; i++ {
		seen[f] = true
		o := r.offence(f)
		if o == nil {
			break
		}
		d = d.With(o.at, "%s %s", f.FullName(), o.what)
		f = o.next
	}
	return d
}

// checkWrites reports what an ro method itself writes.
func (r *readOnly) checkWrites(f *Func, bf *bodyFacts) {
	say := func(at ast.Node, what string) {
		r.checker.report(diag.New(diag.ReadOnlyWrites, at.Span(), "%s is ro, but it %s", f.FullName(), what).
			With(roSpan(f), "declared ro here").
			WithHelp("remove `ro`, or leave this to a method that is not ro"))
	}
	for _, n := range bf.stores {
		if root := r.info.Stores[n].Root; root != nil && root.Kind == FieldVar {
			say(n, "writes the field "+root.name)
		}
	}
	for _, x := range bf.news {
		if class, ok := r.info.News[x].Type.(*Class); ok && class.Kind == ast.ActorClass {
			say(x, "creates "+aType(class))
		} else if ctor := r.info.News[x].Ctor; ctor != nil {
			r.checkHelper(f, ctor, x.Span())
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

// checkHelper reports that an ro method calls a function that is not read-only.
func (r *readOnly) checkHelper(f, g *Func, at ast.Span) {
	if r.offence(g) == nil {
		return
	}
	d := diag.New(diag.ReadOnlyCalls, at, "%s is ro, but %s is not read-only", f.FullName(), g.FullName()).
		With(roSpan(f), "declared ro here")
	r.checker.report(r.chain(d, g).WithHelp("an ro method calls only what reads"))
}

// report reports a call from an ro method to a method that is not ro.
func (r *readOnly) report(f, g *Func, x *ast.Call) {
	d := diag.New(diag.ReadOnlyCalls, x.Span(), "%s is ro, but it calls %s, which is not", f.FullName(), g.FullName()).
		With(roSpan(f), "declared ro here")
	if r.offence(g) != nil {
		r.checker.report(r.chain(d, g).WithHelp("an ro method calls only ro methods"))
		return
	}
	d = d.WithHelp("%s writes nothing: declare it ro", g.FullName())
	if m, ok := g.Decl.(*ast.MethodDecl); ok && g.Pkg == r.pkg {
		d = d.WithFix("declare "+g.name+" ro", diag.InsertBefore(m.Span(), "ro "))
	}
	r.checker.report(d)
}

func roSpan(f *Func) ast.Span {
	if m, ok := f.Decl.(*ast.MethodDecl); ok {
		return m.RO
	}
	return f.span
}
