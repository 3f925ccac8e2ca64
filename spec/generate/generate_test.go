package generate_test

import (
	"flag"
	"path"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
	"github.com/aeon-lang/aeon/spec/generate"
	"github.com/aeon-lang/aeon/typecheck"
)

var (
	programs = flag.Int("programs", 40, "how many programs of each profile are made")
	wrong    = flag.Int("wrong", 8, "how many programs are broken, each in all ways")
)

// made has the programs of the profiles by seed: several tests look at them.
var made = map[generate.Profile]map[uint64]string{generate.Sequential: {}, generate.Concurrent: {}}

// program is generate.Program, which makes a program once.
func program(seed uint64, profile generate.Profile) string {
	text, is := made[profile][seed]
	if !is {
		text = generate.Program(seed, profile)
		made[profile][seed] = text
	}
	return text
}

// check returns what the checker says against a program.
func check(text string) []diag.Diagnostic {
	file, diags := lang.Parse("generated.aeon", []byte(text))
	if diag.HasErrors(diags) {
		return diags
	}
	_, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{})
	return diags
}

// checkPackages returns the errors of a program of several packages.
func checkPackages(list []generate.Package) (errors []diag.Diagnostic) {
	known := map[string]*typecheck.Package{}
	for _, p := range list {
		file, diags := p.Parse()
		if !diag.HasErrors(diags) {
			var info *typecheck.Info
			info, diags = typecheck.Check([]*ast.File{file}, typecheck.Options{Path: p.Name, Import: func(name string) (*typecheck.Package, error) {
				return known[path.Base(name)], nil
			}})
			known[p.Name] = info.Package
		}
		for _, d := range diags {
			if d.Severity == diag.Error {
				errors = append(errors, d)
			}
		}
	}
	return errors
}

func TestProgramsAreWellTyped(t *testing.T) {
	for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
		for seed := range uint64(*programs) {
			text := program(seed, profile)
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
	for seed := range uint64(*programs) {
		if diags := check(generate.Hoards(seed)); diag.HasErrors(diags) {
			t.Errorf("seed %d, with large containers: %v\n%s", seed, diags, generate.Hoards(seed))
		}
	}
}
