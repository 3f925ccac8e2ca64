// Package lang is the front end's facade: it parses and formats .aeon files.
// Other packages use it together with lang/ast and lang/diag, and nothing
// below it.
package lang

import (
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// Parse reads a file. The tree is never nil: where the source is wrong it
// holds Bad nodes, and the diagnostics, in source order, say why. Without
// errors there are no Bad nodes. Parse may be called from any goroutine.
func Parse(filename string, src []byte) (*ast.File, []diag.Diagnostic) {
	return grammar.Parse(ast.NewSource(filename, string(src)))
}
