package generate_test

import (
	"flag"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/spec/generate"
	"github.com/aeon-lang/aeon/typecheck"
)

var (
	programs = flag.Int("programs", 150, "how many programs of each profile are made")
	wrong    = flag.Int("wrong", 40, "how many programs are broken, each in all ways")
)

// check returns what the checker says against a program.
func check(text string) []diag.Diagnostic {
	file, diags := lang.Parse("generated.aeon", []byte(text))
	if diag.HasErrors(diags) {
		return diags
	}
	_, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{})
	return diags
}

func TestProgramsAreWellTyped(t *testing.T) {
	for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
		for seed := range uint64(*programs) {
			text := generate.Program(seed, profile)
			if diags := check(text); diag.HasErrors(diags) {
				t.Errorf("seed %d, %v: %v\n%s", seed, profile, diags, text)
			}
			again, _, err := format.Source(ast.NewSource("generated.aeon", text))
			if err != nil || again != text {
				t.Errorf("seed %d, %v: formatting changes it: %v\n%s\nbecomes\n%s", seed, profile, err, text, again)
			}
			if generate.Program(seed, profile) != text {
				t.Errorf("seed %d, %v: the second program is another one", seed, profile)
			}
		}
	}
}
