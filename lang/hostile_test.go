package lang_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// inFunc puts text into a function body.
func inFunc(text string) string { return "package p\n\nvoid f() {\n" + text + "\n}\n" }

// Input that nests every recursive construct too deep ends in exactly one
// error, at once and in bounded memory, whether its brackets are closed or not.
func TestDeepNestingIsOneError(t *testing.T) {
	const n = 100_000
	rep := strings.Repeat
	cases := map[string]struct {
		text string
		code diag.Code
	}{
		"parentheses":            {inFunc(rep("(", n)), diag.NestingTooDeep},
		"closed parentheses":     {inFunc("x = " + rep("(", n) + "1" + rep(")", n) + ";"), diag.NestingTooDeep},
		"parentheses, no func":   {"package p\n" + rep("(", n), diag.NestingTooDeep},
		"nothing but parens":     {rep("(", n), diag.MissingPackage},
		"braces":                 {inFunc(rep("{", n)), diag.NestingTooDeep},
		"closed braces":          {inFunc(rep("{", n) + rep("}", n)), diag.NestingTooDeep},
		"brackets":               {inFunc("x = " + rep("[", n)), diag.NestingTooDeep},
		"indices":                {inFunc("x = " + rep("a[", n) + "0" + rep("]", n) + ";"), diag.NestingTooDeep},
		"suffix indices":         {inFunc("x = a" + rep("[0]", n) + ";"), diag.NestingTooDeep},
		"calls":                  {inFunc(rep("f(", n) + rep(")", n) + ";"), diag.NestingTooDeep},
		"chained calls":          {inFunc("f" + rep("()", n) + ";"), diag.NestingTooDeep},
		"fields":                 {inFunc("x = a" + rep(".b", n) + ";"), diag.NestingTooDeep},
		"optional fields":        {inFunc("x = a" + rep("?.b", n) + ";"), diag.NestingTooDeep},
		"non-null":               {inFunc("x = a" + rep("!", n) + ";"), diag.NestingTooDeep},
		"unary":                  {inFunc("x = " + rep("!", n) + "a;"), diag.NestingTooDeep},
		"minus":                  {inFunc("x = " + rep("- ", n) + "a;"), diag.NestingTooDeep},
		"await":                  {inFunc(rep("await ", n) + "a;"), diag.NestingTooDeep},
		"sum":                    {inFunc("x = a" + rep(" + a", n) + ";"), diag.NestingTooDeep},
		"coalesce":               {inFunc("x = a" + rep(" ?? a", n) + ";"), diag.NestingTooDeep},
		"type arguments":         {inFunc(rep("a<", n) + "int" + rep(">", n) + " x = 1;"), diag.NestingTooDeep},
		"vector types":           {inFunc(rep("vector<", 900) + rep("vector<", 200) + "int" + rep(">", 1100) + " x = y;"), diag.NestingTooDeep},
		"suffix types":           {inFunc("int" + rep("[]", n) + " x = y;"), diag.NestingTooDeep},
		"optional types":         {inFunc("int" + rep("?[]", n) + " x = y;"), diag.NestingTooDeep},
		"field types":            {"package p\n\nclass A {\n" + rep("a<", n) + "int" + rep(">", n) + " x;\n}\n", diag.NestingTooDeep},
		"new":                    {inFunc("x = new " + rep("a<", n) + "int" + rep(">", n) + "();"), diag.NestingTooDeep},
		"else if":                {inFunc("if (a) {\n}" + rep(" else if (a) {\n}", n)), diag.NestingTooDeep},
		"if":                     {inFunc(rep("if (a) {", n) + rep("}", n)), diag.NestingTooDeep},
		"while without braces":   {inFunc(rep("while (a) ", n) + "x = 1;"), diag.NestingTooDeep},
		"switch":                 {inFunc(rep("switch (a) { case 1: ", n) + rep("}", n)), diag.NestingTooDeep},
		"interpolation":          {inFunc("x = " + rep(`"{`, n) + "a" + rep(`}"`, n) + ";"), diag.NestingTooDeep},
		"unclosed interpolation": {inFunc("x = " + rep(`"{`, 200)), diag.UnterminatedString},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			diags, took, bytes := measure(c.text)
			if len(diags) != 1 || diags[0].Code != c.code {
				t.Errorf("got %d errors: %.300v", len(diags), diags)
			}
			if took > 10*race.Slower*time.Second {
				t.Errorf("took %v", took)
			}
			if limit := uint64(400 * (len(c.text) + 1<<20)); bytes > limit {
				t.Errorf("allocated %d MB for %d kB", bytes>>20, len(c.text)>>10)
			}
		})
	}
}

// measure parses a text and returns its errors, the time and the bytes allocated.
func measure(text string) ([]diag.Diagnostic, time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	_, diags := lang.Parse("hostile.aeon", []byte(text))
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return diags, took, after.TotalAlloc - before.TotalAlloc
}

// What is nested as deep as it may be can be walked, formatted and compared.
func TestDeepestAllowedNestingWorks(t *testing.T) {
	const n = 480 // two levels each in some passes
	for _, text := range []string{
		inFunc("x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + ";"),
		inFunc(strings.Repeat("if (a) {\n", n) + strings.Repeat("}\n", n)),
		inFunc("x = a" + strings.Repeat(" + a", 900) + ";"),
		inFunc("if (a) {\n}" + strings.Repeat(" else if (a) {\n}", n)),
	} {
		file, diags := lang.Parse("deep.aeon", []byte(text))
		if len(diags) > 0 {
			t.Fatalf("%.80q: %v", text, diags[0])
		}
		if _, diags := lang.Format("deep.aeon", []byte(text)); len(diags) > 0 {
			t.Fatal(diags[0])
		}
		nodes := 0
		ast.Inspect(file, func(ast.Node) bool { nodes++; return true })
		if nodes < n {
			t.Fatalf("%d nodes", nodes)
		}
	}
}

// Repetition of anything takes time in proportion to its size, and the errors
// stay bounded.
func TestRepetitionEnds(t *testing.T) {
	unit := []string{
		";", "}", "{", "a", "a ", "1,", "a<", "a<b,", "a b;", "# ", "\"", "\"{", "`", "'", "/*", "//\n", "class A {\n", "a : b ? c ;", "x = ;\n",
		"if (a) {", "void f() {\n", "f(a, b);", "int x = 1;\n", "void f() { return; }\n", "class A { int x; void f() { x = 1; } }\n", "\n\t  ", "else ", "case ", "\x00", "“",
	}
	for _, head := range []string{"", "package p\n\nvoid f() {\n", "package p\nclass A {\n", "package p\nvoid f() { x = "} {
		for _, u := range unit {
			const size = 1 << 15
			text := head + strings.Repeat(u, (size-len(head))/len(u))
			diags, took, _ := measure(text)
			if took > 10*race.Slower*time.Second || len(diags) > 21_000 {
				t.Errorf("%q after %q: %v, %d errors", u, head, took, len(diags))
			}
			for _, d := range diags {
				if d.Code == diag.Internal {
					t.Errorf("%q after %q: %v", u, head, d)
				}
			}
		}
	}
}

// Formatting comments takes time in proportion to their number, too.
func TestManyCommentsAreFormatted(t *testing.T) {
	text := "package p\n\n" + strings.Repeat("// of many\n", 200_000) + "const A = 1;\n"
	start := time.Now()
	out, diags := lang.Format("many.aeon", []byte(text))
	if took := time.Since(start); len(diags) > 0 || string(out) != text || took > 10*race.Slower*time.Second {
		t.Errorf("%v in %v, unchanged: %v", diags, took, string(out) == text)
	}
}

func TestTooLargeFileIsRefused(t *testing.T) {
	text := "package p\n" + strings.Repeat("// x\n", 1<<20)
	diags, took, bytes := measure(text)
	if len(diags) != 1 || diags[0].Code != diag.FileTooLarge || took > race.Slower*time.Second || bytes > 64<<20 {
		t.Errorf("%v in %v with %d bytes", diags, took, bytes)
	}
}

func TestTooLargeDeclarationIsRefused(t *testing.T) {
	text := "package p\n\nconst A = [" + strings.Repeat("1,", 600_000) + "];\n\nconst B = ;\n"
	diags, took, bytes := measure(text)
	if len(diags) != 2 || diags[0].Code != diag.FileTooLarge || diags[1].Span.Pos().Line() != 5 || took > 5*race.Slower*time.Second || bytes > 256<<20 {
		t.Errorf("%v in %v with %d bytes", diags, took, bytes)
	}
}

// Files as other systems write them: with a byte order mark and CR LF.
func TestForeignLineEnds(t *testing.T) {
	text := "\ufeffpackage p\r\n\r\n// c\r\nvoid f() {\r\n\tg(); // d \r\n}\r\n"
	file, diags := lang.Parse("crlf.aeon", []byte(text))
	if len(diags) > 0 || len(file.Comments) != 2 || file.Comments[0].Text != "// c" {
		t.Fatalf("%v %v", diags, file.Comments)
	}
	out, diags := lang.Format("crlf.aeon", []byte(text))
	if want := "package p\n\n// c\nvoid f() {\n\tg(); // d\n}\n"; len(diags) > 0 || string(out) != want {
		t.Errorf("%v %q", diags, out)
	}
}

func TestClassWithTenThousandMethods(t *testing.T) {
	var b strings.Builder
	b.WriteString("package p\n\nactorclass Big {\n\tint n = 0;\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "\tint m%d(int x) {\n\t\tif (x > n) {\n\t\t\tn += x * 2;\n\t\t}\n\t\treturn n;\n\t}\n", i)
	}
	b.WriteString("}\n")
	diags, took, _ := measure(b.String())
	if len(diags) > 0 || took > 3*race.Slower*time.Second {
		t.Errorf("%v in %v", diags, took)
	}
}
