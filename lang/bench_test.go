package lang_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
)

// program returns a file of about 5000 lines made of the steakhouse's classes.
func program(tb testing.TB) []byte {
	text, err := os.ReadFile("../testdata/lang/steakhouse.aeon")
	if err != nil {
		tb.Fatal(err)
	}
	head, classes, _ := strings.Cut(string(text), "\n")
	return []byte(head + strings.Repeat(classes, 1+5000/strings.Count(classes, "\n")))
}

// goProgram is Go of about the same shape and length, for go/parser in the same run.
func goProgram() []byte {
	unit := `
type Cook struct {
	grills    []*Grill
	customers []*Customer
	ckid      int
}

func (c *Cook) cook(orderSize, cuid int) {
	cu := c.customers[cuid]
	for i := 0; i < orderSize; i++ {
		s := NewSteak(cu)
		for j := i; j < len(c.grills); j++ {
			if !c.grills[j].isUsed() {
				// one comment
				c.grills[j].put(s, c.ckid)
				break
			}
		}
	}
}
`
	return []byte("package p\n" + strings.Repeat(unit, 5000/strings.Count(unit, "\n")))
}

// BenchmarkParse reports MB/s and lines per minute; go/parser, written by hand
// and without error recovery to speak of, is the peer in the same run.
func BenchmarkParse(b *testing.B) {
	run := func(name string, text []byte, parse func([]byte)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				parse(text)
			}
			b.ReportMetric(float64(bytes.Count(text, []byte("\n")))*float64(b.N)/b.Elapsed().Minutes(), "lines/min")
		})
	}
	run("aeon", program(b), func(text []byte) {
		if _, diags := lang.Parse("b.aeon", text); len(diags) > 0 {
			b.Fatal(diags[0])
		}
	})
	run("format", program(b), func(text []byte) {
		if _, diags := lang.Format("b.aeon", text); len(diags) > 0 {
			b.Fatal(diags[0])
		}
	})
	run("go", goProgram(), func(text []byte) {
		if _, err := parser.ParseFile(token.NewFileSet(), "b.go", text, parser.ParseComments); err != nil {
			b.Fatal(err)
		}
	})
}
