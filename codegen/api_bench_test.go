package codegen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang/ast"
)

// BenchmarkAPI reports how long a call by the API takes, as a multiple of the call that it makes; in memory, as nothing
// hides the difference there. A context that can be cancelled costs an entry in a list.
func BenchmarkAPI(b *testing.B) {
	const text = `package NAME
actorclass Counter {
	int n = 0;
	int add(int k, int j) { n += k + j; return n; }
	ro int get() { return n; }
}
`
	m := newModule(b)
	for name, opts := range map[string]codegen.Options{
		"raw":   {},
		"plain": {API: true, MemoryOnly: true, Entry: true, SourceName: func(*ast.Source) string { return "plain.aeon" }},
	} {
		info := check(b, name+".aeon", strings.Replace(text, "NAME", name, 1))
		if info == nil {
			b.FailNow()
		}
		files, err := codegen.Generate(info, opts)
		if err != nil {
			b.Fatal(err)
		}
		m.add(b, name, files)
	}
	driver, err := os.ReadFile(filepath.Join("testdata", "apibench", "driver.go"))
	if err != nil {
		b.Fatal(err)
	}
	m.write(b, "driver/driver.go", string(driver))
	m.optimised = true
	for b.Loop() {
		ratios, times := make(map[string]float64), make(map[string]float64)
		for layout := range layouts {
			for line := range strings.Lines(m.run(b, "run", fmt.Sprint("-ldflags=-randlayout=", layout+1), "./driver")) {
				var name string
				var direct, stub float64
				if _, err := fmt.Sscan(line, &name, &direct, &stub); err != nil {
					b.Fatal(line, err)
				}
				b.Logf("layout %d: %s: %v ns, %v ns by the stub: %.3f", layout+1, name, direct, stub, stub/direct)
				ratios[name] += stub / direct / layouts
				times[name] += stub / layouts
			}
		}
		for name := range ratios {
			b.ReportMetric(ratios[name], name+"-x")
			b.ReportMetric(times[name], name+"-ns")
		}
	}
}

// layouts is how many orders of functions in the executable are measured: where the linker puts a function changes what a call of it takes by more
// than a stub does.
const layouts = 8
