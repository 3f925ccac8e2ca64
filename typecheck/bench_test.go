package typecheck

import (
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
)

// BenchmarkParseAndCheck reports lines a minute on one core beside the parser
// alone, on a class of ordinary methods.
func BenchmarkParseAndCheck(b *testing.B) {
	text := manyMethods(2_000)
	lines := float64(strings.Count(text, "\n"))
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			lang.Parse("bench.aeon", []byte(text))
		}
		b.ReportMetric(lines*float64(b.N)/b.Elapsed().Minutes(), "lines/min")
	})
	b.Run("check", func(b *testing.B) {
		f, _ := lang.Parse("bench.aeon", []byte(text))
		for b.Loop() {
			Check([]*ast.File{f}, Options{})
		}
		b.ReportMetric(lines*float64(b.N)/b.Elapsed().Minutes(), "lines/min")
	})
	b.Run("both", func(b *testing.B) {
		for b.Loop() {
			f, _ := lang.Parse("bench.aeon", []byte(text))
			Check([]*ast.File{f}, Options{})
		}
		b.ReportMetric(lines*float64(b.N)/b.Elapsed().Minutes(), "lines/min")
	})
}
