package differ

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/typecheck"
)

// Shrinking tries shrinkWidth smaller programs at once, since they are compiled together, and stops after shrinkRounds.
const (
	shrinkWidth  = 24
	shrinkRounds = 40
)

// Shrink returns the smallest case it finds that shows the same kind of difference, by leaving out declarations, members and
// statements and by putting the inside of statements in their place.
func (c *Comparer) Shrink(ctx context.Context, r Result) (Result, error) {
	tried := map[string]bool{}
	if one := r.Case; r.Split != 0 {
		one.Split = 0 // a program of one package is easier to read
		results, err := c.Compare(ctx, []Case{one})
		if err != nil {
			return r, err
		}
		if results[0].Kind == r.Kind {
			r = results[0]
		}
	}
	for range shrinkRounds {
		candidates := smaller(r.Text, r.Kind == Rejected, tried)
		if len(candidates) == 0 {
			break
		}
		cases := make([]Case, len(candidates))
		for i, text := range candidates {
			cases[i] = Case{Name: fmt.Sprintf("shrink-%s-%d", r.Name, i), Text: text, Single: r.Single, StatesMax: r.StatesMax, Split: r.Split}
		}
		results, err := c.Compare(ctx, cases)
		if err != nil {
			return r, err
		}
		for _, s := range results {
			if s.Kind == r.Kind && len(s.Text) < len(r.Text) {
				s.Name, s.Case.Name = r.Name, r.Name
				r = s
			}
		}
	}
	return r, nil
}

// smaller returns programs that are made from text by one step and that the checker accepts, those that lose most first. It
// does not return one that was tried before.
func smaller(text string, rejected bool, tried map[string]bool) (list []string) {
	file, _ := lang.Parse("generated.aeon", []byte(text))
	for _, e := range cuts(file) {
		next, err := diag.Apply(file.Src, []diag.Edit{e})
		if err != nil {
			continue
		}
		next, ok := repair(next)
		if (!ok && !rejected) || tried[next] || len(next) >= len(text) {
			continue
		}
		tried[next] = true
		if list = append(list, next); len(list) == shrinkWidth {
			break
		}
	}
	return list
}

// cuts returns the edits that make a program smaller, the largest first.
func cuts(file *ast.File) (list []diag.Edit) {
	cut := func(n ast.Node, with ...ast.Node) {
		var parts []string
		for _, w := range with {
			parts = append(parts, strings.Trim(w.Span().Text(), "{}"))
		}
		list = append(list, diag.Replace(n.Span(), strings.Join(parts, "\n")))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Block:
			list = append(list, halves(n.Stmts)...)
		case ast.Decl, ast.Member:
			cut(n)
		case *ast.If:
			cut(n)
			cut(n, n.Then)
			if n.Else != nil {
				cut(n, n.Else)
			}
		case *ast.TryCatch:
			cut(n)
			cut(n, n.Body)
		case *ast.ForEach, *ast.ForUpto, *ast.For, *ast.While, ast.Stmt:
			cut(n)
		}
		return true
	})
	gain := func(e diag.Edit) int { return int(e.Span.End-e.Span.Start) - len(e.New) }
	slices.SortStableFunc(list, func(a, b diag.Edit) int { return cmp.Compare(gain(b), gain(a)) })
	return list
}

// halves leaves out the first or the last half of long blocks.
func halves(stmts []ast.Stmt) (list []diag.Edit) {
	if len(stmts) < 4 {
		return nil
	}
	middle := len(stmts) / 2
	for _, part := range [][]ast.Stmt{stmts[:middle], stmts[middle:]} {
		first, last := part[0].Span(), part[len(part)-1].Span()
		list = append(list, diag.Replace(ast.Span{Src: first.Src, Start: first.Start, End: last.End}, ""))
	}
	return list
}

// repair applies the fixes for what a cut leaves behind, such as locals that nothing uses, and formats. It reports whether the checker
// accepts the result.
func repair(text string) (string, bool) {
	for range 5 {
		file, diags := lang.Parse("generated.aeon", []byte(text))
		if diag.HasErrors(diags) {
			return text, false
		}
		_, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{})
		if !diag.HasErrors(diags) {
			canonical, _, err := format.Source(file.Src)
			return canonical, err == nil
		}
		fixed, n := diag.ApplyFixes(file.Src, slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Code != diag.UnusedLocal }))
		if n == 0 {
			canonical, _, _ := format.Source(file.Src)
			return canonical, false
		}
		text = fixed
	}
	return text, false
}
