package trace

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

func transfer(order int64) *Event {
	return &Event{
		ID: event.EventID{Origin: 2, Seq: 0x1f}, Attempt: 3, Origin: Origin{Kind: Client, Client: 2},
		Label: `bank.Account/"eve"`, Method: "Account.pay", Start: order - 1, Order: order,
		Reads:  []Access{{Label: "bank.Account:1:2", Version: 4, State: 0xab}},
		Writes: []Access{{Label: "bank.Account:1:2", Version: 5, State: 0xcd}, {Label: "x", Version: 1, Deleted: true}},
		Subs:   2, Callbacks: []event.ClientID{4},
	}
}

func write(t *testing.T, name string, toAppend bool, use func(w *Writer)) []string {
	t.Helper()
	w, err := Create(name, Memory, toAppend)
	if err != nil {
		t.Fatal(err)
	}
	use(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestWriterWritesTheDocumentedFormat(t *testing.T) {
	lines := write(t, t.TempDir()+"/t", false, func(w *Writer) {
		w.Ended(transfer(1)) // before any section: dropped
		w.Begin(Header{Program: "bank", Test: "t\u2028", Seed: 7, States: true})
		e := transfer(9)
		w.Prepare(e)
		w.Ended(e)
		w.Called(&Callback{Origin: Origin{Client: 4, Parent: e.ID, Index: 1, Issuer: "bank.Bank/b"}, Method: "Guest.hear", Start: 10})
		e.End = 11
		w.Answered(e)
		f := transfer(13)
		f.Err, f.Reads, f.Writes, f.Subs, f.Callbacks, f.Position = errors.New("no\xff"), nil, nil, 0, nil, 6
		f.Origin = Origin{Kind: Sub, Parent: e.ID, Index: 2, Issuer: "bank.Bank/b"}
		w.Prepare(f)
		w.Ended(f)
		w.Dropped()
		w.Gone(4)
		w.End("closed")
		w.End("interrupted") // the section has ended
		w.Answered(f)
	})
	want := []string{
		`{"order":9,"subs":2,"callbacks":[4],"event":"2-1f","attempt":3,"kind":"client","client":2,"target":"bank.Account/\"eve\"","method":"Account.pay","start":8,"reads":[["bank.Account:1:2",4,"ab"]],"writes":[["bank.Account:1:2",5,"cd"],["x",1,"deleted"]]}`,
		`{"callback":"Guest.hear","client":4,"parent":"2-1f","index":1,"issuer":"bank.Bank/b","start":10}`,
		`{"order":13,"event":"2-1f","attempt":3,"kind":"sub","parent":"2-1f","index":2,"issuer":"bank.Bank/b","target":"bank.Account/\"eve\"","method":"Account.pay","abort":"no\udcff","position":6,"start":12}`,
		`{"gone":4}`,
		`{"answers":[[9,11]]}`,
		`{"end":"closed","events":2,"dropped":1}`,
	}
	if !strings.HasPrefix(lines[0], `{"trace":4,"program":"bank","test":"t\u2028","seed":7,"states":true,"started":"2`) {
		t.Errorf("header %s", lines[0])
	}
	if got := strings.Join(lines[1:], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestWriterGoesOnBehindATornLine(t *testing.T) {
	name := t.TempDir() + "/t"
	if err := os.WriteFile(name, []byte("{\"trace\":1}\n{\"ord"), 0o666); err != nil {
		t.Fatal(err)
	}
	lines := write(t, name, true, func(w *Writer) { w.Begin(Header{Program: "p"}) })
	if len(lines) != 3 || lines[1] != `{"ord` || !strings.HasPrefix(lines[2], `{"trace":4,"program":"p"`) {
		t.Errorf("%q", lines)
	}
	if lines := write(t, name, false, func(*Writer) {}); len(lines) != 1 || lines[0] != "" {
		t.Errorf("a new trace begins with what was there: %q", lines)
	}
}

// What was not written before a crash is lost, and so is what comes.
func TestWriterLosesInACrash(t *testing.T) {
	name := t.TempDir() + "/t"
	lines := write(t, name, false, func(w *Writer) {
		w.Begin(Header{Program: "p"})
		record := func(order int64) {
			e := &Event{Order: order}
			w.Prepare(e)
			w.Ended(e)
			w.Answered(e)
		}
		record(1)
		w.Flush()
		record(2)
		w.Crash()
		record(3)
		w.End("closed")
	})
	if len(lines) != 2 || !strings.HasPrefix(lines[1], `{"order":1,`) {
		t.Errorf("%q", lines)
	}
}

// A file that is not the writer's to change is refused, and as it was.
func TestWriterRefusesOtherFiles(t *testing.T) {
	const memory, stored = `{"trace":2,"program":"p","started":"x"}` + "\n", `{"trace":2,"program":"p","store":"ab","run":1}` + "\n"
	name := t.TempDir() + "/t"
	for _, c := range []struct {
		text string
		kind SystemKind
		want string // "": accepted
	}{
		{"", Memory, ""},
		{memory, Memory, ""},
		{memory + "{\"order\":1}\n", Memory, ""},
		{`{"trace":2,"prog`, Memory, ""},
		{`{"trace":2,"prog`, Stored, ""},
		{`{"trace":2,"prog` + "\n" + stored, Stored, ""},
		{stored, Stored, ""},
		{stored, Memory, "t is the trace of programs that keep their state on disk, with --data, and this is one of those that keep their state in memory; name another file, or delete it"},
		{`{"trace":2,"prog` + "\n" + stored, Memory, "is the trace of programs that keep their state on disk"},
		{memory, Stored, "t is the trace of programs that keep their state in memory"},
		{"package bank\n", Memory, "t is no trace, and is left as it is; name another file"},
		{"package bank\n", Stored, "t is no trace, and is left as it is"},
		{"\n" + memory, Memory, "is no trace"},
		{`{"trace":"off"}`, Memory, ""}, // as torn
		{`{"trace":0}`, Memory, "is no trace"},
		{`{"trace":99}`, Memory, "t is the trace of a newer version"},
		{`{"trace":` + strings.Repeat(" ", headerBytesMax), Memory, "is no trace"},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		w, err := Create(name, c.kind, c.kind == Stored)
		if err == nil {
			err = w.Close()
		}
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%.60q, %s: %v", c.text, c.kind, err)
			}
			continue
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%.60q, %s: %v, want %q", c.text, c.kind, err, c.want)
		}
		if data, err := os.ReadFile(name); err != nil || string(data) != c.text {
			t.Errorf("%.60q has become %.60q, %v", c.text, data, err)
		}
	}
}

// A writer that was never used leaves no file, and one to a device leaves the device.
func TestAnUnusedWriterLeavesNothing(t *testing.T) {
	name := t.TempDir() + "/t"
	for _, name := range []string{name, os.DevNull} {
		w, err := Create(name, Memory, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	if _, err := os.Stat(os.DevNull); err != nil {
		t.Error(err)
	}
}

func TestWriterReportsAFullDisk(t *testing.T) {
	w, err := Create(t.TempDir()+"/t", Memory, false)
	if err != nil {
		t.Fatal(err)
	}
	w.Begin(Header{Program: "p"})
	if err := w.file.Close(); err != nil { // as if the disk had gone
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close returns %v", err)
	}
	if _, err := Create(t.TempDir()+"/no/t", Memory, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Create returns %v", err)
	}
}

func TestFlushOpenWritesBeforeTheEnd(t *testing.T) {
	name := t.TempDir() + "/t"
	w, err := Create(name, Memory, false)
	if err != nil {
		t.Fatal(err)
	}
	w.Begin(Header{Program: "p"})
	w.mu.Lock()
	FlushOpen() // another goroutine holds the writer: FlushOpen must not hang
	w.mu.Unlock()
	FlushOpen()
	data, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(data), `{"trace":4,"program":"p"`) {
		t.Errorf("%q, %v", data, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if FlushOpen(); len(open.writers) > 0 {
		t.Errorf("%d writers are open", len(open.writers))
	}
}

func BenchmarkRecord(b *testing.B) {
	w, err := Create(b.TempDir()+"/t", Memory, false)
	if err != nil {
		b.Fatal(err)
	}
	w.Begin(Header{Program: "p"})
	e := transfer(9)
	b.ReportAllocs()
	for b.Loop() {
		w.Prepare(e)
		w.Ended(e)
		w.Answered(e)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
