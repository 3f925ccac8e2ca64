package typecheck

import (
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/diag"
)

// Every code is shown by its example, exactly once and alone. The corrected example
// has no diagnostic, and a fix that an example gets leads to a program without
// errors.
func TestCodesHaveTestedExamples(t *testing.T) {
	infos := diag.Phase("check")
	if len(infos) < 60 {
		t.Fatalf("only %d codes are documented", len(infos))
	}
	for _, info := range infos {
		t.Run(string(info.Code), func(t *testing.T) {
			_, diags := checkProgram(t, info.BadProgram())
			if got := codesOf(diags); !slices.Equal(got, []diag.Code{info.Code}) {
				t.Errorf("the example gets\n%s", show(diags))
			}
			if _, diags := checkProgram(t, info.Good); len(diags) > 0 {
				t.Errorf("the corrected example gets\n%s", show(diags))
			}
			if len(diags) == 1 && diags[0].Fix != nil && !strings.Contains(info.Bad, "-- ") {
				fixed, n := diag.ApplyFixes(diags[0].Span.Src, diags)
				if n != 1 {
					t.Fatalf("the fix %q cannot be applied", diags[0].Fix.Text)
				}
				if _, again := checkProgram(t, fixed); diag.HasErrors(again) {
					t.Errorf("the fix %q leads to\n%s\nwhich gets\n%s", diags[0].Fix.Text, fixed, show(again))
				}
			}
		})
	}
}

// Spans of diagnostics lie within their sources, and messages are one line
// without a final stop.
func TestDiagnosticsAreWellFormed(t *testing.T) {
	for _, info := range diag.Phase("check") {
		_, diags := checkProgram(t, info.BadProgram())
		for _, d := range diags {
			spans := []diag.Label{{Span: d.Span}}
			spans = append(spans, d.Secondary...)
			for _, s := range spans {
				if s.Span.Src == nil || s.Span.Start < 0 || s.Span.End < s.Span.Start || int(s.Span.End) > len(s.Span.Src.Text) {
					t.Errorf("%s: span %d-%d lies outside of the source", info.Code, s.Span.Start, s.Span.End)
				}
			}
			if strings.Contains(d.Message, "\n") || strings.HasSuffix(d.Message, ".") {
				t.Errorf("%s: message %q", info.Code, d.Message)
			}
		}
	}
}
