// Package lang is the front end's facade: it parses and formats .aeon files.
// Other packages use it together with lang/ast and lang/diag, and nothing
// below it.
package lang

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// Parse reads a file. The tree is never nil: where the source is wrong it
// holds Bad nodes, and the diagnostics, in source order, say why. Without
// errors there are no Bad nodes. Parse may be called from any goroutine.
func Parse(filename string, src []byte) (*ast.File, []diag.Diagnostic) {
	return grammar.Parse(ast.NewSource(filename, string(src)))
}

// Format prints a file in the canonical layout. If the file has syntax errors
// they are returned and the text is nil. What Format returns has been parsed
// again and is the same program; should it not be, the only diagnostic is
// AE0000 and the text is nil too.
func Format(filename string, src []byte) ([]byte, []diag.Diagnostic) {
	source := ast.NewSource(filename, string(src))
	out, diags, err := format.Source(source)
	if err != nil {
		return nil, []diag.Diagnostic{diag.New(diag.Internal, ast.Span{Src: source}, "%v", err)}
	}
	if diag.HasErrors(diags) {
		return nil, diags
	}
	return []byte(out), diags
}
