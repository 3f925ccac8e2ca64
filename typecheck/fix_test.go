package typecheck

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/diag"
)

// fixesMin is how many fixes the goldens have at least.
const fixesMin = 200

// uncovered are errors that a fix brings to light, by golden: they stood behind the error that it mends, or were told of a name that it changes.
var uncovered = map[string][]diag.Code{
	"errors/foreign_words": {diag.MissingSemicolon},
	"errors/from_go":       {diag.NullSpelling},
	"errors/strings":       {diag.UnterminatedString},
	"calls/one_error":      {diag.TemporaryWritten},
	"go/bad":               {diag.Redeclared},
	"go/derived_bad":       {diag.UndefinedName, diag.UndefinedType, diag.Redeclared, diag.GoFunction},
	"go/types_bad":         {diag.Redeclared},
	"names/kinds":          {diag.BadConversion, diag.CannotInfer},
	"names/newcomers":      {diag.UnusedExpression},
	"names/unknown":        {diag.UnusedLocal, diag.RecursiveValue},
	"null/narrow":          {diag.NeverNull},
	"tables/broken":        {diag.TableQuery},
	"tables/declarations":  {diag.TypeMismatch},
	"types/containers":     {diag.TypeMismatch},
	"types/initialisers":   {diag.NotConstant},
	"types/switch":         {diag.MissingCases},
	"yield/rules":          {diag.YieldCalled},
}

// A fix of a golden, applied by itself, leads to a program that parses, and has all errors but the one that it mends. Where a golden
// is about syntax, only errors of syntax are compared.
func TestFixesOfGoldens(t *testing.T) {
	n := 0
	try := func(file string, errors func(*testing.T, *txtar.Archive) []diag.Diagnostic) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources := sourcesOf(txtar.Parse(data))
		name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
		before := errors(t, sources)
		for _, d := range before {
			if d.Fix == nil {
				continue
			}
			n++
			t.Run(name, func(t *testing.T) {
				left := slices.Clone(before)
				take := func(d diag.Diagnostic) bool {
					i := slices.IndexFunc(left, func(o diag.Diagnostic) bool { return o.Code == d.Code && o.Message == d.Message })
					if i >= 0 {
						left = slices.Delete(left, i, i+1)
					}
					return i >= 0
				}
				take(d)
				for _, after := range errors(t, withFix(t, sources, d)) {
					if after.Severity == diag.Error && !take(after) && !slices.Contains(uncovered[name], after.Code) {
						t.Errorf("%s\nthe fix %q leads to\n%s", d, d.Fix.Text, show([]diag.Diagnostic{after}))
					}
				}
			})
		}
	}
	for _, area := range areas {
		for _, file := range goldenFiles(t, area) {
			try(file, checked)
		}
	}
	files, err := filepath.Glob(filepath.Join("..", "testdata", "lang", "errors", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		try(file, parsed)
	}
	if n < fixesMin {
		t.Errorf("the goldens have %d fixes, and should have at least %d", n, fixesMin)
	}
}

// checked returns what the checker says of a program without errors of syntax, else these.
func checked(t *testing.T, sources *txtar.Archive) []diag.Diagnostic {
	_, diags, syntax := checkLoose(t, string(txtar.Format(sources)))
	if len(syntax) > 0 {
		return syntax
	}
	return diags
}

// parsed returns the errors of syntax.
func parsed(_ *testing.T, sources *txtar.Archive) (all []diag.Diagnostic) {
	for _, f := range sources.Files {
		_, diags := lang.Parse(f.Name, f.Data)
		all = append(all, diags...)
	}
	return all
}

func withFix(t *testing.T, sources *txtar.Archive, d diag.Diagnostic) *txtar.Archive {
	fixed := slices.Clone(sources.Files)
	for i, f := range fixed {
		if f.Name == d.Span.Src.Name {
			text, err := diag.Apply(d.Span.Src, d.Fix.Edits)
			if err != nil {
				t.Fatalf("%s\nthe fix %q: %v", d, d.Fix.Text, err)
			}
			fixed[i].Data = []byte(text)
		}
	}
	return &txtar.Archive{Files: fixed}
}
