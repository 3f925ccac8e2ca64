package codegen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// largeProgram returns a program of n actor classes.
func largeProgram(n int) string {
	var sb strings.Builder
	sb.WriteString("package large\n")
	for i := range n {
		fmt.Fprintf(&sb, `
class Entry%[1]d {
	string what;
	int amount;
	vector<string> tags;
	int weight() { return amount * 2 + tags.size(); }
}

actorclass Account%[1]d {
	int balance = 0;
	map<string, Entry%[1]d> entries;
	vector<int> history;

	int deposit(string key, int amount) {
		require(amount > 0, "amount must be positive, not {amount}");
		balance += amount;
		history.push(balance);
		entries[key] = new Entry%[1]d("deposit", amount, [key]);
		entries[key].tags.push("new");
		for (int i = 0 upto history.size()) {
			if (history[i] > balance && i %% 2 == 0) { history[i] -= 1; }
		}
		return balance + entries[key].weight();
	}
	ro int total() {
		int sum = 0;
		for (string k : entries.keys()) { sum += entries[k].amount; }
		return sum;
	}
}
`, i)
	}
	return sb.String()
}

// BenchmarkGenerate reports how long generating takes, as a multiple of parsing and checking the same program.
func BenchmarkGenerate(b *testing.B) {
	text := largeProgram(200)
	lines := float64(strings.Count(text, "\n"))
	front := func() *typecheck.Info {
		file, diags := lang.Parse("large.aeon", []byte(text))
		if failed(diags) {
			b.Fatal(diags[0])
		}
		info, diags := typecheck.Check([]*ast.File{file}, typecheck.Options{})
		if failed(diags) {
			b.Fatal(diags[0])
		}
		return info
	}
	var check, generate float64
	b.Run("check", func(b *testing.B) {
		for range b.N {
			front()
		}
		check = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
		b.ReportMetric(lines/check*1e9, "lines/s")
	})
	run := func(opts codegen.Options) func(b *testing.B) {
		return func(b *testing.B) {
			info := front()
			b.ResetTimer()
			for range b.N {
				if _, err := codegen.Generate(info, opts); err != nil {
					b.Fatal(err)
				}
			}
			generate = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(lines/generate*1e9, "lines/s")
			b.ReportMetric(generate/check, "x-check")
		}
	}
	b.Run("formatted", run(codegen.Options{}))
	b.Run("mapped", run(codegen.Options{SourceName: func(src *ast.Source) string { return "/aeon/" + src.Name }}))
}
