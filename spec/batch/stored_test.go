package batch_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/typecheck"
)

// storedBugs are planted into the code that stores the actors of storedText and reads them. The states that the
// system has at its end are those that the program has seen: only the comparison with what the store gives back tells.
var storedBugs = []struct{ name, from, to, says string }{
	{"sound", "", "", ""},
	{"unwritten", "case 0:\n", "case 0:\n\t\tif self.n > 1 {\n\t\t\treturn\n\t\t}\n", "was a p.Cell in state"},
	{"unwritten-container", "case 1:\n", "case 1:\n\t\tif self.seen.Size() > 1 {\n\t\t\treturn\n\t\t}\n", "was a p.Cell in state"},
	{"misread", "self.n = d.Int()", "self.n = d.Int() + 1", "was a p.Cell in state"},
	{"unread", "self.n = d.Int()", "d.Int()", "was a p.Cell in state"},
	{"read-too-far", "self.n = d.Int()", "self.n = d.Int() + d.Int()", "damaged"},
}

const storedText = `package p

actorclass Cell {
	int n = 0;
	vector<int> seen;
	void add(int by) {
		n += by;
		seen.push(n);
	}
}

void main() {
	print("begin");
	Cell c = actor<Cell>("c");
	await event c.add(1);
	await event c.add(2);
}
`

// TestWhatTheStoreGivesBackIsCompared plants bugs whose effect is in the store alone.
func TestWhatTheStoreGivesBackIsCompared(t *testing.T) {
	c := batch.Compiler{Stored: true, Generate: func(info *typecheck.Info, opts codegen.Options) ([]codegen.File, error) {
		files, err := codegen.Generate(info, opts)
		for _, b := range storedBugs {
			if b.from == "" || info.Package.Files[0].Src.Name != b.name+".aeon" {
				continue
			}
			planted := 0
			for i, f := range files {
				planted += bytes.Count(f.Content, []byte(b.from))
				files[i].Content = bytes.ReplaceAll(f.Content, []byte(b.from), []byte(b.to))
			}
			if planted != 1 {
				t.Errorf("%s: %q occurs %d times in the generated code", b.name, b.from, planted)
			}
		}
		return files, err
	}}
	var programs []batch.Program
	for _, b := range storedBugs {
		programs = append(programs, parse(t, b.name, storedText))
	}
	x, err := c.Compile(t.Context(), programs)
	if err != nil {
		t.Fatal(err)
	}
	jobs := x.Jobs(1)
	for i := range jobs {
		jobs[i].Simulated, jobs[i].Stored, jobs[i].Scheduled = true, true, true // scheduled, and it prints nothing behind an event: nothing is read again before the end
	}
	outcomes, err := x.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range outcomes {
		b := storedBugs[i]
		if o.Output != "begin\n" || o.Failure != nil || o.Crash != "" {
			t.Errorf("%s: %s", b.name, batch.Text(&o))
		}
		if (o.Stored == "") != (b.says == "") || !strings.Contains(o.Stored, b.says) {
			t.Errorf("%s: the store is said to be %q, and not %q", b.name, o.Stored, b.says)
		}
	}
}
