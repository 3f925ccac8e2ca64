package typecheck

import (
	"strings"

	"github.com/aeon-lang/aeon/internal/similar"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// suggestMax bounds how often one run looks for similar names, or lists the declared ones: a
// file full of unknown names must not cost the square of its length.
const suggestMax = 200

// mayList reports whether one more message may go over all that is declared.
func (c *checker) mayList() bool {
	c.suggests++
	return c.suggests <= suggestMax
}

// similar returns the candidate closest to name, or "" if none is close.
func (c *checker) similar(name string, each func(yield func(string))) string {
	if !c.mayList() {
		return ""
	}
	return similar.Nearest(name, each)
}

// behind are the edits that put text, such as `!` or `.keys()`, behind all of x. Where an operand of x, or the call that `event` decorates,
// would take it for itself, x gets parentheses.
func behind(x ast.Expr, text string) []diag.Edit {
	if isLoose(x) {
		return []diag.Edit{diag.InsertBefore(x.Span(), "("), diag.InsertAfter(x.Span(), ")"+text)}
	}
	return []diag.Edit{diag.InsertAfter(x.Span(), text)}
}

// operandText is x as it is written, to which something can be added behind.
func operandText(x ast.Expr) string {
	if isLoose(x) {
		return "(" + x.Span().Text() + ")"
	}
	return x.Span().Text()
}

// isLoose reports whether what stands behind x belongs to a part of x.
func isLoose(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Binary, *ast.Coalesce, *ast.Unary, *ast.Await:
		return true
	case *ast.Call:
		return x.Mode != ast.Sync
	}
	return false
}

// before are the edits that put a prefix, such as `await event `, before a call. What goes on behind the call, as `.f` or `[i]` do, is done
// with the result of all, which gets parentheses then.
func before(x *ast.Call, text string) []diag.Edit {
	rest := strings.TrimLeft(x.Span().Src.Text[x.Span().End:], " \t\r\n")
	for _, more := range []string{".", "?.", "[", "!"} {
		if strings.HasPrefix(rest, more) && !strings.HasPrefix(rest, "!=") {
			return []diag.Edit{diag.InsertBefore(x.Span(), "("+text), diag.InsertAfter(x.Span(), ")")}
		}
	}
	return []diag.Edit{diag.InsertBefore(x.Span(), text)}
}
