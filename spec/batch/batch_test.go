package batch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/batch"
	"github.com/aeon-lang/aeon/typecheck"
)

// sources are programs that end in all the ways there are.
var sources = []struct{ name, text string }{
	{"prints", `package p

void main() {
	print("one");
	print("two");
}

test "adds" {
	print(1 + 1);
}

test "fails" {
	assert(1 > 2);
}
`},
	{"spins", `package p

void main() {
	int n = 0;
	print("before");
	while (n >= 0) {
		n = 1 - n;
	}
}
`},
	{"crashes", `package p

void main() {
}
`},
	{"aborts", `package p

actorclass A {
	int n;
	A() {
		n = 0;
	}
	void fail(int by) {
		n += by;
		require(n < 0, "n is {n}");
	}
	ro int get() {
		return n;
	}
	void later() {
		event this.fail(7) after 2h;
	}
}

void main() {
	A a = actor<A>("a");
	event a.fail(3);
	pending<void> p = event a.fail(4);
	settle();
	await event a.later();
	print(await event a.get());
	if (await event a.get() > 0) {
		await p;
	}
}
`},
	{"fails", `package p

actorclass A {
	int n = 0;
	void fail(int by) {
		n += by;
		require(n < 0, "n is {n}");
	}
	void later() {
		event this.fail(7) after 2h;
	}
}

void main() {
	A a = actor<A>("a");
	await event a.later();
	await event a.fail(5);
}
`},
	{"last", `package p

void main() {
	print("last");
}
`},
}

// crash makes the program of that name end its process from a goroutine of its own.
func crash(info *typecheck.Info, opts codegen.Options) ([]codegen.File, error) {
	files, err := codegen.Generate(info, opts)
	if strings.HasPrefix(info.Package.Files[0].Src.Name, "crashes") {
		files = append(files, codegen.File{Name: "crash.go", Content: []byte(`package p

import aeonrt "github.com/aeon-lang/aeon/runtime"

func init() {
	AeonPackage.Main = func(*aeonrt.Client) {
		go panic("thrown away")
		select {}
	}
}
`)})
	}
	return files, err
}

func parse(t *testing.T, name, text string) batch.Program {
	t.Helper()
	p, diags := batch.Parse(name, name+".aeon", []byte(text))
	if diag.HasErrors(diags) {
		t.Fatal(diags)
	}
	return p
}

func TestEveryJobHasAnOutcome(t *testing.T) {
	var programs []batch.Program
	for _, s := range sources {
		programs = append(programs, parse(t, s.name, s.text))
	}
	c := batch.Compiler{Generate: crash}
	x, err := c.Compile(t.Context(), programs)
	if err != nil {
		t.Fatal(err)
	}
	jobs := x.Jobs(0, 1, 2)
	if want := 3 * (len(sources) + 2); len(jobs) != want {
		t.Fatalf("%d jobs, want %d: main and tests with each of three seeds", len(jobs), want)
	}
	for i := range jobs {
		jobs[i].Simulated = true
		if sources[jobs[i].Program].name == "spins" {
			jobs[i].LimitMS = 200
		}
	}
	outcomes, err := x.Run(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"prints/-1":  "one\ntwo\n",
		"prints/0":   "2\n",
		"prints/1":   "failed: assertion failed: 1 > 2 at prints.aeon:13\n",
		"spins/-1":   "before\nhangs: ",
		"crashes/-1": "crashes: exit status 2\npanic: thrown away",
		"aborts/-1":  "0\ndead letter: A.fail: n is 3\ndead letter: A.fail: n is 4\ndead letter: A.fail: n is 7\n",
		"fails/-1":   "failed: n is 5 at fails.aeon:7 < fails.aeon:17\n",
		"last/-1":    "last\n",
	}
	for i, o := range outcomes {
		if o.Job != jobs[i] {
			t.Fatalf("outcome %d is of %+v, want %+v", i, o.Job, jobs[i])
		}
		name := sources[o.Job.Program].name + "/" + map[int]string{-1: "-1", 0: "0", 1: "1"}[o.Job.Entry]
		got := batch.Text(&o)
		if o.Hang != "" {
			if !strings.Contains(got, "aeonMain") {
				t.Errorf("the dump of a hang does not show the loop:\n%s", got)
			}
		}
		if w := want[name]; !strings.HasPrefix(got, w) || (o.Hang == "" && o.Crash == "" && got != w) {
			t.Errorf("%s, seed %d: got\n%s\nwant\n%s", name, o.Job.Seed, got, w)
		}
	}
}

func TestProgramsThatGoRefusesAreNamed(t *testing.T) {
	c := batch.Compiler{Generate: func(info *typecheck.Info, opts codegen.Options) ([]codegen.File, error) {
		files, err := codegen.Generate(info, opts)
		if strings.HasPrefix(info.Package.Files[0].Src.Name, "bad") {
			files[0].Content = append(files[0].Content, "\nvar _ int = \"text\"\n"...)
		}
		return files, err
	}}
	text := "package p\n\nvoid main() {\n}\n"
	_, err := c.Compile(t.Context(), []batch.Program{parse(t, "good", text), parse(t, "bad", text), parse(t, "fine", text)})
	var refused *batch.GoError
	if !errors.As(err, &refused) || len(refused.Programs) != 1 || refused.Programs[0] != 1 {
		t.Fatalf("got %v, want a GoError of program 1", err)
	}
}
