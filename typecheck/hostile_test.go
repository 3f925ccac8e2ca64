package typecheck

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// hostile has programs of a size or shape that no user writes. Each is checked
// within the limit that was set for a class of 10 000 methods.
var hostile = map[string]func() string{
	"class of 10 000 methods": func() string { return manyMethods(10_000) },
	"methods that call in a chain, backwards": func() string {
		return chained(10_000, func(i int) string {
			if i == 0 {
				return "leaves[k].add();"
			}
			return fmt.Sprintf("m%d(k); leaves[\"%d\"].add();", i-1, i)
		})
	},
	"methods that call in a chain, forwards": func() string {
		return chained(10_000, func(i int) string { return fmt.Sprintf("m%d(k);", (i+1)%10_000) })
	},
	"every method calls many": func() string {
		return chained(2_000, func(i int) string {
			s := ""
			for j := range 10 {
				s += fmt.Sprintf("m%d(k); ", (i*7+j*131)%2_000)
			}
			return s
		})
	},
	"ownership chain of 600 classes": func() string {
		var b strings.Builder
		b.WriteString("package p\n")
		for i := range 600 {
			fmt.Fprintf(&b, "actorclass C%d { C%d? next; void go(int n) { if (C%d c = next) { c.go(n); } } }\n", i, i+1, i+1)
		}
		b.WriteString("actorclass C600 { int n = 0; void go(int k) { n = k; } }\n")
		return b.String()
	},
	"everything owns everything below": func() string {
		var b strings.Builder
		b.WriteString("package p\n")
		for i := range 200 {
			fmt.Fprintf(&b, "actorclass C%d {\n", i)
			for j := i + 1; j < 200; j++ {
				fmt.Fprintf(&b, "C%d? f%d;\n", j, j)
			}
			b.WriteString("}\n")
		}
		return b.String()
	},
	"20 000 unknown names": func() string {
		return "package p\nvoid f() {\n" + strings.Repeat("unknownName(otherName);\n", 20_000) + "}\n"
	},
	"20 000 locals": func() string {
		var b strings.Builder
		b.WriteString("package p\nvoid f(int a) {\n")
		for i := range 20_000 {
			fmt.Fprintf(&b, "int x%d = a + %d;\n", i, i)
		}
		return b.String() + "}\n"
	},
	"null tests without end": func() string {
		var b strings.Builder
		b.WriteString("package p\nint f(int? a, int n) {\n")
		for i := range 10_000 {
			fmt.Fprintf(&b, "int? v%d = a; if (v%d == null) { return %d; } n += v%d;\n", i, i, i, i)
		}
		return b.String() + "return n;\n}\n"
	},
	"null tests in one condition": func() string {
		return "package p\nbool f(int? a) {\nreturn a != null" + strings.Repeat(" && a > 1", 900) + ";\n}\n"
	},
	"references handed from local to local, backwards": func() string {
		var b strings.Builder
		b.WriteString("package p\nactorclass A { void f(A x) {\nA v0 = x;\n")
		for i := range 5_000 {
			fmt.Fprintf(&b, "A v%d = v%d;\n", i+1, i)
		}
		b.WriteString("v5000.f(x);\n")
		for i := range 5_000 {
			fmt.Fprintf(&b, "v%d = v%d;\n", i, i+1)
		}
		return b.String() + "} }\n"
	},
	"constants that double": func() string {
		var b strings.Builder
		b.WriteString("package p\nconst S0 = \"0123456789\";\nconst N0 = 1.5;\n")
		for i := range 200 {
			fmt.Fprintf(&b, "const S%d = S%d + S%d;\nconst N%d = N%d * N%d;\n", i+1, i, i, i+1, i, i)
		}
		return b.String()
	},
	"constants in a chain": func() string {
		var b strings.Builder
		b.WriteString("package p\n")
		for i := range 20_000 {
			fmt.Fprintf(&b, "const C%d = C%d + 1;\n", i, i+1)
		}
		return b.String() + "const C20000 = 1;\n"
	},
	"cases without end": func() string {
		var b strings.Builder
		b.WriteString("package p\nenum E { ")
		for i := range 10_000 {
			fmt.Fprintf(&b, "V%d, ", i)
		}
		b.WriteString("LAST }\nint f(E e) {\nswitch (e) {\n")
		for i := range 10_000 {
			fmt.Fprintf(&b, "case V%d: return %d;\n", i, i)
		}
		return b.String() + "case LAST: return 1;\n}\n}\n"
	},
	"else ifs without end": func() string {
		return "package p\nint f(int n) {\nif (n == 0) { return 0; }" + strings.Repeat(" else if (n == 1) { n++; }", 900) + "\nreturn n;\n}\n"
	},
	"calls that write many fields, in nested loops": func() string {
		var b strings.Builder
		b.WriteString("package p\nactorclass Leaf { }\nactorclass A {\n")
		for i := range 1_000 {
			fmt.Fprintf(&b, "Leaf? a%d;\n", i)
		}
		b.WriteString("void all() {\n")
		for i := range 1_000 {
			fmt.Fprintf(&b, "a%d = null;\n", i)
		}
		return b.String() + "}\nvoid m(bool c) {\n" + strings.Repeat("while (c) {\n", 400) + strings.Repeat("all();\n", 4_000) + strings.Repeat("}\n", 400) + "} }\n"
	},
	"loops over stores": func() string {
		return "package p\nactorclass A { vector<int> xs; void f() {\n" + strings.Repeat("for (int x : xs) { xs.push(x); }\n", 10_000) + "} }\n"
	},
}

func manyMethods(n int) string {
	var b strings.Builder
	b.WriteString("package p\nactorclass Leaf { int n = 0; void add() { n++; } }\nactorclass Big {\nmap<string, Leaf> leaves;\nint total = 0;\n")
	for i := range n {
		fmt.Fprintf(&b, "int m%d(string k, int n) {\nif (n > %d) {\nleaves[k].add();\ntotal += n * 2 + %d;\n}\nreturn total;\n}\n", i, i, i)
	}
	return b.String() + "}\n"
}

func chained(n int, body func(i int) string) string {
	var b strings.Builder
	b.WriteString("package p\nactorclass Leaf { int n = 0; void add() { n++; } }\nactorclass Big {\nmap<string, Leaf> leaves;\n")
	for i := range n {
		fmt.Fprintf(&b, "void m%d(string k) { %s }\n", i, body(i))
	}
	return b.String() + "}\n"
}

const checkMax = 3 * race.Slower * time.Second

func TestHostilePrograms(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // the time that is measured has collecting in it
	for name, make := range hostile {
		t.Run(name, func(t *testing.T) {
			f, syntax := lang.Parse("hostile.aeon", []byte(make()))
			if len(syntax) > 0 {
				t.Fatalf("syntax errors: %v", syntax[:1])
			}
			start := cpuTime()
			_, diags := Check([]*ast.File{f}, Options{})
			took := cpuTime() - start
			t.Logf("%d bytes, %d diagnostics in %v", len(f.Src.Text), len(diags), took)
			if took > checkMax {
				t.Errorf("took %v of processor time", took)
			}
		})
	}
}

// Deep types end in an error, and a long chain of constants too.
func TestDepthEndsInAnError(t *testing.T) {
	for _, text := range []string{
		"void f(" + strings.Repeat("vector<", 300) + "int" + strings.Repeat(">", 300) + " x) {}",
		"void f(int" + strings.Repeat("[]", 300) + " x) {}",
	} {
		_, diags := checkProgram(t, "package p\n"+text+"\n")
		if len(diags) != 1 || diags[0].Code != diag.TooDeep {
			t.Errorf("%s… gets\n%s", text[:30], show(diags))
		}
	}
}

// The checker has no state of its own: run concurrently on one tree it gives
// the same diagnostics and effects every time.
func TestConcurrentChecksAgree(t *testing.T) {
	var all []string
	for _, area := range areas {
		all = append(all, goldenFiles(t, area)...)
	}
	for _, file := range all {
		files := goldenSources(t, file)
		const runs = 4
		var wg sync.WaitGroup
		results := make([]string, runs)
		for i := range runs {
			wg.Go(func() {
				info, diags := Check(files, Options{Import: importer(t)})
				var b strings.Builder
				if err := PrintEffects(&b, info); err != nil {
					b.WriteString(err.Error())
				}
				results[i] = show(diags) + b.String()
			})
		}
		wg.Wait()
		for _, r := range results[1:] {
			if r != results[0] {
				t.Errorf("%s: two runs gave\n%s\nand\n%s", file, results[0], r)
				break
			}
		}
	}
}
