package lang_test

import (
	"slices"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

func codes(list []diag.Diagnostic) []diag.Code {
	var out []diag.Code
	for _, d := range list {
		out = append(out, d.Code)
	}
	return out
}

// Every syntax code is shown by its example, exactly once and alone, the
// corrected example has no error, and a fix that an example gets leads to a
// program that parses.
func TestSyntaxCodesHaveTestedExamples(t *testing.T) {
	infos := diag.Phase("syntax")
	if len(infos) == 0 {
		t.Fatal("no syntax codes are documented")
	}
	for _, info := range infos {
		t.Run(string(info.Code), func(t *testing.T) {
			text := info.BadProgram()
			_, diags := lang.Parse("bad.aeon", []byte(text))
			if got := codes(diags); !slices.Equal(got, []diag.Code{info.Code}) {
				t.Errorf("the example gets %v\n%s", diags, info.Bad)
			}
			if _, diags := lang.Parse("good.aeon", []byte(info.Good)); len(diags) > 0 {
				t.Errorf("the corrected example gets %v", diags)
			}
			if len(diags) == 1 && diags[0].Fix != nil {
				fixed, n := diag.ApplyFixes(diags[0].Span.Src, diags)
				if _, again := lang.Parse("fixed.aeon", []byte(fixed)); n != 1 || len(again) > 0 {
					t.Errorf("the fix %q leads to\n%s\nwhich gets %v", diags[0].Fix.Text, fixed, again)
				}
			}
		})
	}
}

// The positions of a diagnostic lie within its source.
func TestSpansLieInTheSource(t *testing.T) {
	for _, info := range diag.Phase("syntax") {
		_, diags := lang.Parse("bad.aeon", []byte(info.BadProgram()))
		for _, d := range diags {
			spans := []ast.Span{d.Span}
			for _, l := range d.Secondary {
				spans = append(spans, l.Span)
			}
			for _, s := range spans {
				if s.Src == nil || s.Start < 0 || s.End < s.Start || int(s.End) > len(s.Src.Text) {
					t.Errorf("%s: span %d-%d lies outside of the source", info.Code, s.Start, s.End)
				}
			}
		}
	}
}
