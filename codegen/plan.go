package codegen

import (
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// pkg is what the emitters share about one package.
type pkg struct {
	info *typecheck.Info
	opts Options
	// mapped: positions are those of the sources, so that the text is for the Go compiler alone.
	mapped bool
	names  *names
	boxes  map[*typecheck.Class]bool
	files  map[string]bool // names of generated files
	plan   map[*typecheck.Func]*plan
	// setters are the fields whose setter is used.
	setters map[*typecheck.Var]bool
	// used has what is generated for an object because something uses it: stubs, and the texts and equalities of
	// value classes.
	used map[generated]bool
	// wanted are the versions of methods for values in fields of actors that are used; versionsLeft
	// are not emitted yet.
	wanted       map[version]bool
	tailed       map[*typecheck.Func]bool // methods that the package tail-calls
	goUsed       map[string]bool          // the paths of Go packages that the file of bound functions mentions
	goCarried    map[string]bool          // the functions that goUses asks for, by their names
	goUses       []goValue
	versionsLeft []version
	// surface has the classes and enums that other packages may have to name.
	surface  map[typecheck.Type]bool
	imported []imported
}

// runner says whether clients or actors run a piece of code.
type runner uint8

const (
	byActor  runner = 1 << iota // within an event: the context is cx
	byClient                    // main, tests, client classes: the context is cl
)

// plan is what is decided about one function before it is emitted.
type plan struct {
	runners runner
	// context: the function takes a cx or cl. A function that only computes does not, and is the
	// same for all callers.
	context bool
	// recursive: it can reach itself by plain calls, so that it must count its depth.
	recursive bool
	calls     []*typecheck.Func // plain calls in its body
}

func newPackage(info *typecheck.Info, opts Options) *pkg {
	p := emptyPackage(info, opts, map[*typecheck.Func]*plan{})
	others := p.analyseImports()
	p.analyse()
	for i, q := range others {
		p.adopt(q, opts.Imports[i].Path)
	}
	return p
}

func emptyPackage(info *typecheck.Info, opts Options, plans map[*typecheck.Func]*plan) *pkg {
	return &pkg{info: info, opts: opts, boxes: map[*typecheck.Class]bool{}, files: map[string]bool{"aeon_package.go": true, "aeon_api.go": true},
		plan: plans, setters: map[*typecheck.Var]bool{}, wanted: map[version]bool{}, used: map[generated]bool{}, tailed: map[*typecheck.Func]bool{},
		goUsed: map[string]bool{}, goCarried: map[string]bool{}}
}

// analyse plans the functions of the package, those of its imports being planned already, and names its declarations.
func (p *pkg) analyse() {
	for _, f := range p.info.Package.Files {
		p.mapped = p.mapped || p.opts.SourceName(f.Src) != ""
	}
	var all []*typecheck.Func
	p.info.Package.AllFuncs(func(f *typecheck.Func) {
		p.plan[f] = p.inspect(f)
		all = append(all, f)
	})
	for _, f := range p.info.Package.Externs { // which only compute
		p.plan[f] = &plan{}
	}
	p.findRecursion(all)
	p.spreadContext(all)
	p.spreadRunners(all)
	p.findTailed()
	p.surface = findSurface(p.info.Package)
	p.names = nameAll(p)
}

// gen returns the name of something that is generated for an object of the program.
func (p *pkg) gen(of any, kind string) string {
	name, ok := p.names.gen[generated{of, kind}]
	if !ok {
		panic("codegen: nothing generated as " + kind)
	}
	return name
}

// use returns the name of something that is generated because it is used.
func (p *pkg) use(of any, kind string) string {
	p.used[generated{of, kind}] = true
	return p.gen(of, kind)
}

// wants reports whether something is to be generated that not every program uses.
func (p *pkg) wants(of any, kind string) bool { return !p.opts.Entry || p.used[generated{of, kind}] }

// inspect collects the plain calls of f and whether its own body needs a context.
func (p *pkg) inspect(f *typecheck.Func) *plan {
	pl := &plan{}
	inner := f.Class == nil || f.Class.Kind == ast.ValueClass
	pl.context = !inner || f.Kind == typecheck.Test || f == p.info.Package.Main
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.While, *ast.For, *ast.ForUpto, *ast.ForEach: // they spend fuel
			pl.context = true
		case *ast.Require, *ast.Abort, *ast.Assert, *ast.Delete, *ast.Cancel, *ast.Await, *ast.Settle, *ast.Sleep, *ast.Advance, *ast.ActorRef:
			pl.context = true
		case *ast.InterpolatedString:
			p.inspectTexts(pl, n.Parts...)
		case *ast.New:
			p.inspectNew(pl, n)
		case *ast.Call:
			p.inspectCall(pl, n)
		}
		return true
	}
	if f.Body != nil {
		ast.Inspect(f.Body, visit)
	}
	if f.Kind == typecheck.Constructor {
		for _, field := range f.Class.Fields {
			if d := field.Field(); d != nil && d.Init != nil {
				ast.Inspect(d.Init, visit)
			}
		}
	}
	return pl
}

func (p *pkg) inspectNew(pl *plan, n *ast.New) {
	made := p.info.News[n]
	if made == nil || made.Ctor == nil {
		return
	}
	if typecheck.IsValueClass(made.Type) {
		p.addCall(pl, made.Ctor)
	} else {
		pl.context = true
	}
}

// addCall adds a plain call. What a function of another package needs is known already.
func (p *pkg) addCall(pl *plan, g *typecheck.Func) {
	if g.Pkg != p.info.Package {
		pl.context = pl.context || p.plan[g].context
		return
	}
	pl.calls = append(pl.calls, g)
}

func (p *pkg) inspectCall(pl *plan, n *ast.Call) {
	call := p.info.Calls[n]
	if call == nil {
		return
	}
	switch call.Kind {
	case typecheck.FuncCall, typecheck.SelfCall, typecheck.ValueCall:
		p.addCall(pl, call.Func)
	case typecheck.ActorCall, typecheck.ClientCall:
		pl.context = true
	case typecheck.BuiltinCall:
		switch call.Builtin {
		case typecheck.NowFunc, typecheck.RandomFunc, typecheck.EventIDFunc, typecheck.LogFunc, typecheck.PrintFunc:
			pl.context = true
		case typecheck.StrFunc:
			p.inspectTexts(pl, n.Args...)
		}
	case typecheck.ConversionCall:
		if call.Result == typecheck.String {
			p.inspectTexts(pl, n.Args...)
		}
	}
}

// inspectTexts notes that texts are made of values: of a reference, another store may have to be asked for its actor's label.
func (p *pkg) inspectTexts(pl *plan, of ...ast.Expr) {
	pl.context = pl.context || slices.ContainsFunc(of, func(x ast.Expr) bool { return holdsRefs(p.info.TypeOf(x)) })
}

// findRecursion marks the functions on cycles of the plain call graph (Tarjan's components,
// without recursion because the graph comes from an untrusted source).
func (p *pkg) findRecursion(all []*typecheck.Func) {
	type frame struct {
		f    *typecheck.Func
		next int
	}
	index, low, onStack := map[*typecheck.Func]int{}, map[*typecheck.Func]int{}, map[*typecheck.Func]bool{}
	var stack []*typecheck.Func
	for _, root := range all {
		if index[root] != 0 {
			continue
		}
		work := []frame{{f: root}}
		for len(work) > 0 {
			top := &work[len(work)-1]
			f := top.f
			if top.next == 0 {
				index[f] = len(index) + 1
				low[f] = index[f]
				stack = append(stack, f)
				onStack[f] = true
			}
			calls := p.calls(f)
			if top.next < len(calls) {
				g := calls[top.next]
				top.next++
				switch {
				case g == f:
					p.recursive(f)
				case index[g] == 0:
					work = append(work, frame{f: g})
				case onStack[g]:
					low[f] = min(low[f], index[g])
				}
				continue
			}
			if len(calls) == 0 {
				top.next = 1
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				low[work[len(work)-1].f] = min(low[work[len(work)-1].f], low[f])
			}
			if low[f] == index[f] {
				p.popComponent(&stack, onStack, f)
			}
		}
	}
}

func (p *pkg) popComponent(stack *[]*typecheck.Func, onStack map[*typecheck.Func]bool, root *typecheck.Func) {
	s := *stack
	i := len(s) - 1
	for s[i] != root {
		i--
	}
	for _, g := range s[i:] {
		onStack[g] = false
		if len(s)-i > 1 {
			p.recursive(g)
		}
	}
	*stack = s[:i]
}

func (p *pkg) calls(f *typecheck.Func) []*typecheck.Func {
	if pl := p.plan[f]; pl != nil {
		return pl.calls
	}
	return nil
}

func (p *pkg) recursive(f *typecheck.Func) {
	if pl := p.plan[f]; pl != nil {
		pl.recursive, pl.context = true, true
	}
}

// spreadContext: a function that calls one that needs a context needs one.
func (p *pkg) spreadContext(all []*typecheck.Func) {
	callers := map[*typecheck.Func][]*typecheck.Func{}
	var work []*typecheck.Func
	for _, f := range all {
		for _, g := range p.plan[f].calls {
			callers[g] = append(callers[g], f)
		}
		if p.plan[f].context {
			work = append(work, f)
		}
	}
	for len(work) > 0 {
		f := work[len(work)-1]
		work = work[:len(work)-1]
		for _, g := range callers[f] {
			if !p.plan[g].context {
				p.plan[g].context = true
				work = append(work, g)
			}
		}
	}
}

// publicRunners says whether clients or actors may run a function that other packages can call.
var publicRunners = [...]runner{typecheck.AnyContext: byActor | byClient, typecheck.ActorContext: byActor, typecheck.ClientContext: byClient}

// spreadRunners finds out whether clients or actors run each function. A function that
// nothing calls is emitted for all that could call it.
func (p *pkg) spreadRunners(all []*typecheck.Func) {
	var spread func(f *typecheck.Func, r runner)
	spread = func(f *typecheck.Func, r runner) {
		work := []*typecheck.Func{f}
		for len(work) > 0 {
			f := work[len(work)-1]
			work = work[:len(work)-1]
			pl := p.plan[f]
			if pl == nil || pl.runners&r == r {
				continue
			}
			pl.runners |= r
			work = append(work, pl.calls...)
		}
	}
	for _, f := range all {
		switch {
		case f.Kind == typecheck.Test || f == p.info.Package.Main || f.IsMethodOf(ast.ClientClass):
			spread(f, byClient)
		case f.IsMethodOf(ast.ActorClass):
			spread(f, byActor)
		case f.Public():
			spread(f, publicRunners[f.Context])
		}
	}
	for _, f := range all {
		if p.plan[f].runners != 0 {
			continue
		}
		if f.Context == typecheck.ClientContext {
			spread(f, byClient)
		} else {
			spread(f, byActor)
		}
	}
}
