// Package format prints .aeon files in their one canonical layout.
//
// The printer goes over the token table, comments included, and decides about
// the white space between each two tokens; the tree tells it what a token is
// part of. So no token and no comment can get lost, and what is printed is
// checked all the same: it is parsed again and compared with the original.
//
// Lines are broken where the grammar says so, and within a statement where the
// author has broken them behind an operator, a comma or a bracket. Nothing is
// reflowed to a width. At most one empty line is kept. Trailing comments of
// neighbouring lines are aligned, and nothing else is. The code within strings
// is spaced as elsewhere.
package format

import (
	"fmt"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/grammar"
)

// Source formats a file. If the file has syntax errors they are returned and
// there is no text. An error means that the result would not have been the
// same program, which is a bug of this package; there is no text then either.
func Source(src *ast.Source) (string, []diag.Diagnostic, error) {
	file, toks, diags := grammar.ParseWithTokens(src)
	if diag.HasErrors(diags) {
		return "", diags, nil
	}
	out := newPrinter(src, file, toks).print()
	if err := verify(src, file, toks, out); err != nil {
		return "", nil, fmt.Errorf("formatting %s: %w", src.Name, err)
	}
	return out, nil, nil
}

// verify checks that out is the same program as file: the same tokens and
// comments in the same order, and the same tree.
func verify(src *ast.Source, file *ast.File, toks []grammar.Token, out string) error {
	outSrc := ast.NewSource(src.Name, out)
	outFile, outToks, diags := grammar.ParseWithTokens(outSrc)
	if len(diags) > 0 {
		return fmt.Errorf("the result does not parse: %v", diags[0])
	}
	if len(toks) != len(outToks) {
		return fmt.Errorf("the result has %d tokens instead of %d", len(outToks), len(toks))
	}
	for i := range toks {
		if a, b := canonical(src, toks[i]), canonical(outSrc, outToks[i]); toks[i].Kind != outToks[i].Kind || a != b {
			return fmt.Errorf("token %d was %q and is %q", i, a, b)
		}
	}
	if !ast.Equal(file, outFile) {
		return fmt.Errorf("the result has another syntax tree")
	}
	return nil
}
