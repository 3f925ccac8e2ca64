package typecheck

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// uselessYields reports `yield` where no reference occurs.
func (c *checker) uselessYields() {
	check := func(at ast.Span, t Type, what string) {
		if at.IsValid() && t != Invalid && !mentionsRefs(t) {
			c.report(diag.New(diag.UselessYield, at, "yield says nothing about %s: %s holds no references", what, t).
				WithFix("remove yield", diag.Replace(ast.Span{Src: at.Src, Start: at.Start, End: spaceAfter(at)}, "")))
		}
	}
	for _, class := range c.pkg.Classes {
		for _, f := range class.Fields {
			check(f.Field().Yield, f.typ, "this field")
		}
	}
	c.pkg.AllFuncs(func(f *Func) {
		for _, p := range f.Params {
			check(p.Decl.(*ast.Param).Yield, p.typ, "this parameter")
		}
		switch d := f.Decl.(type) {
		case *ast.MethodDecl:
			check(d.Yield, f.Result, "this result")
		case *ast.FuncDecl:
			check(d.Yield, f.Result, "this result")
		}
	})
}

// yieldStores reports yield references that are kept in plain places: fields,
// and parameters, whose declaration says that they are plain.
func (c *checker) yieldStores(f *Func, bf *bodyFacts) {
	for _, n := range bf.stores {
		s := c.info.Stores[n]
		if s.Root == nil || s.Root.Yield || s.Root.Kind == LocalVar || s.Root.Kind == LoopVar || throughYield(s) {
			continue
		}
		c.storedRefs(n, func(from ast.Expr) {
			if c.isYield(from) {
				c.yieldStored(from, s.Root)
			}
		})
	}
	if f.Kind == Constructor && f.Class.Kind != ast.ClientClass {
		for _, v := range f.Class.Fields {
			if init := v.Field().Init; init != nil && !v.Yield && c.isYield(init) {
				c.yieldStored(init, v)
			}
		}
	}
}

func (c *checker) yieldStored(from ast.Expr, to *Var) {
	what := "field"
	if to.Kind == ParamVar {
		what = "parameter"
	}
	d := diag.New(diag.YieldStored, from.Span(), "a yield reference cannot be kept in the plain %s %s", what, to.name).
		With(to.span, "%s is plain: what it holds is owned", to.name)
	d = c.why(d, from).WithHelp("declare the %s `yield` if it only issues events; or get the actor as a plain parameter", what)
	switch decl := to.Decl.(type) {
	case *ast.FieldDecl:
		d = d.WithFix("declare "+to.name+" yield", diag.InsertBefore(decl.Type.Span(), "yield "))
	case *ast.Param:
		d = d.WithFix("declare "+to.name+" yield", diag.InsertBefore(decl.Type.Span(), "yield "))
	}
	c.report(d)
}

// yieldArgs reports yield arguments of plain parameters, except in events.
func (c *checker) yieldArgs(bf *bodyFacts) {
	for _, x := range bf.calls {
		info := c.info.Calls[x]
		if info.Func == nil || !x.Mode.Inside() {
			continue
		}
		c.yieldArgsOf(info.Func, x.Args)
	}
	for _, x := range bf.news {
		info := c.info.News[x]
		if info.Ctor != nil && !info.Client && info.Fields == nil {
			c.yieldArgsOf(info.Ctor, x.Args)
		}
	}
}

func (c *checker) yieldArgsOf(f *Func, args []ast.Expr) {
	for i, a := range args {
		if i >= len(f.Params) || f.Params[i].Yield || !c.isYield(a) {
			continue
		}
		p := f.Params[i]
		d := diag.New(diag.YieldPassed, a.Span(), "a yield reference cannot be passed as the plain parameter %s of %s", p.name, f.FullName()).
			With(p.span, "%s is plain: it may be called within the event", p.name)
		d = c.why(d, a).WithHelp("declare the parameter `yield` if it is only used to issue events")
		if decl, ok := p.Decl.(*ast.Param); ok && f.Pkg == c.pkg {
			d = d.WithFix("declare "+p.name+" yield", diag.InsertBefore(decl.Type.Span(), "yield "))
		}
		c.report(d)
	}
}

// yieldReturns reports yield references returned as plain results.
func (c *checker) yieldReturns(f *Func) {
	if f.YieldResult || f.Body == nil || !c.holdsActors(f.Result) {
		return
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		r, ok := n.(*ast.Return)
		if !ok {
			_, isExpr := n.(ast.Expr)
			return !isExpr
		}
		if r.X == nil || !c.isYield(r.X) {
			return false
		}
		d := diag.New(diag.YieldReturned, r.X.Span(), "%s returns a yield reference, but its result is declared plain", f.FullName()).
			With(f.span, "declared here")
		d = c.why(d, r.X).WithHelp("declare the result `yield`: `yield %s %s(…)`", f.Result, f.name)
		if at := resultSpan(f); at.IsValid() {
			d = d.WithFix("declare the result yield", diag.InsertBefore(at, "yield "))
		}
		c.report(d)
		return false
	})
}

func resultSpan(f *Func) ast.Span {
	switch d := f.Decl.(type) {
	case *ast.MethodDecl:
		return d.Result.Span()
	case *ast.FuncDecl:
		return d.Result.Span()
	}
	return ast.Span{}
}
