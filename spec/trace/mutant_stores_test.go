package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// severalStores is a trace of several stores that was recorded, and is sound.
type severalStores struct {
	recording
	store []int64                  // of each line
	part  map[string]map[int64]int // lines of parts, by event and store
	vote  map[string]map[int64]int // and of votes that write, for attempts that have committed with these parts
	home  map[string]int           // lines of homes of events over several stores
}

func recordStores(t *testing.T, data []byte) *severalStores {
	t.Helper()
	r := &severalStores{part: map[string]map[int64]int{}, vote: map[string]map[int64]int{}, home: map[string]int{}}
	number := int64(0)
	for text := range bytes.Lines(data) {
		l, i := parsed(t, text), len(r.lines)
		if l.is("trace") {
			number = l.num("number")
		}
		l.shown = string(text)
		r.lines, r.store = append(r.lines, l), append(r.store, number)
		switch event := l.str("event"); {
		case l.str("kind") == "part":
			if r.part[event] == nil {
				r.part[event] = map[int64]int{}
			}
			r.part[event][number] = i
		case l.has("parts"):
			r.home[event] = i
		}
	}
	for i, l := range r.lines {
		event := l.str("event")
		if at, ok := r.part[event][r.store[i]]; ok && l.str("kind") == "vote" && l.has("batch") && len(l.list("writes")) > 0 && l.num("try") == r.lines[at].num("try") {
			if r.vote[event] == nil {
				r.vote[event] = map[int64]int{}
			}
			r.vote[event][r.store[i]] = i
		}
	}
	return r
}

// without returns the lines but for line i.
func (r *severalStores) without(i int) []line {
	lines := slices.Clone(r.lines)
	if r.lines[i].is("order") {
		lines = counted(lines, i, -1)
	}
	return slices.Delete(lines, i, i+1)
}

// twice returns the lines with line i behind itself once more.
func (r *severalStores) twice(i int) []line {
	lines := slices.Clone(r.lines)
	if r.lines[i].is("order") {
		lines = counted(lines, i, 1)
	}
	return slices.Insert(lines, i, r.lines[i])
}

// mutants returns mutants of what records tell of several stores.
func (r *severalStores) mutants() (list []mutant) {
	add := func(class, harmless string, make func() []line) { list = append(list, mutant{class, harmless, make}) }
	for i, l := range r.lines {
		event, kind := l.str("event"), l.str("kind")
		edit := func(class, harmless string, change func(l line)) { add(class, harmless, r.edited(i, change)) }
		switch {
		case kind == "vote":
			harmless := "a vote that writes nothing, or for an attempt that has not committed, counts for nothing"
			if r.vote[event][r.store[i]] == i {
				harmless = ""
				edit("a vote for more", "", func(l line) { l.set("writes", append(l.list("writes"), []any{"p.A:1:1", numeral(1)})) })
				edit("a vote for less", "", func(l line) { l.set("writes", l.list("writes")[1:]) })
				edit("a vote for another version", "", func(l line) { w := l.list("writes")[0].([]any); w[1] = numeral(number(w[1]) + 1) })
			}
			add("drop a vote", harmless, func() []line { return r.without(i) })
			add("double a vote", "", func() []line { return r.twice(i) })
			edit("a vote for another attempt", harmless, func(l line) { l.set("try", numeral(l.num("try")+1)) })
			if len(l.list("reads")) > 0 {
				edit("a vote that has read another version", "", func(l line) { a := l.list("reads")[0].([]any); a[1] = numeral(number(a[1]) + 1) })
			}
		case kind == "part":
			add("drop a part", "", func() []line { return r.without(i) })
			add("double a part", "", func() []line { return r.twice(i) })
			edit("a part of another attempt", "", func(l line) { l.set("try", numeral(l.num("try")+1)) })
			edit("a part of another home", "", func(l line) { l.set("home", numeral((l.num("home")+1)%3)) })
			harmless := "it has issued something, or deleted what it had made"
			if _, voted := r.vote[event][r.store[i]]; voted {
				harmless = ""
				edit("a part that writes more", "", func(l line) { l.set("writes", append(l.list("writes"), []any{"p.A:1:1", numeral(1)})) })
				edit("a part that writes less", "", func(l line) { l.set("writes", l.list("writes")[1:]) })
				edit("a part that writes another version", "", func(l line) { w := l.list("writes")[0].([]any); w[1] = numeral(number(w[1]) + 1) })
				if w := l.list("writes")[0].([]any); len(w) > 2 && w[2] != "deleted" {
					edit("a part that leaves another state", "", func(l line) { l.list("writes")[0].([]any)[2] = "ff" })
				}
			}
			add("forget a part", harmless, func() []line {
				at := r.home[event]
				lines := slices.Clone(r.lines)
				lines[at] = lines[at].clone()
				lines[at].set("parts", slices.DeleteFunc(lines[at].list("parts"), func(n any) bool { return number(n) == r.store[i] }))
				return slices.Delete(counted(lines, i, -1), i, i+1)
			})
		case l.has("parts"):
			edit("a home of another attempt", "", func(l line) { l.set("try", numeral(l.num("try")+1)) })
			edit("a place behind the commit", "", func(l line) { l.set("at", numeral(l.num("order")+1)) })
			edit("a place before the issue", "", func(l line) { l.set("at", l.members["start"]) })
			edit("a home that leaves out a part", "", func(l line) { l.set("parts", l.list("parts")[1:]) })
			for store := range int64(3) {
				if store != r.store[i] && !slices.ContainsFunc(l.list("parts"), func(n any) bool { return number(n) == store }) {
					edit("a home with one part more", "", func(l line) { l.set("parts", append(l.list("parts"), numeral(store))) })
				}
			}
		case l.is("callback") && l.has("home"):
			add("drop a callback", "", func() []line { return r.without(i) })
			add("double a callback", "", func() []line { return r.twice(i) })
			edit("a callback of another number", "", func(l line) { l.set("index", numeral(l.num("index")+1)) })
			edit("a callback of another home", "", func(l line) { l.set("home", numeral((l.num("home")+1)%3)) })
			for j := i + 1; j < len(r.lines) && r.store[j] == r.store[i]; j++ {
				if o := r.lines[j]; o.is("callback") && o.has("home") && o.num("client") == l.num("client") {
					harmless := "callbacks of events that have nothing in common may come in any order"
					if o.str("parent") == l.str("parent") {
						harmless = ""
					}
					add("swap callbacks", harmless, func() []line { return r.swapped(i, j) })
				}
			}
		}
		if slices.Contains(l.list("callbacks"), any(json.Number("0"))) {
			edit("a callback that was not issued", "", func(l line) { l.set("callbacks", l.list("callbacks")[1:]) })
			edit("a callback more is issued", "", func(l line) { l.set("callbacks", append(l.list("callbacks"), numeral(0))) })
		}
	}
	return list
}

// TestMutantsOfSeveralStoresAreRefused is TestMutantsAreRefused for what only traces of several stores have.
func TestMutantsOfSeveralStoresAreRefused(t *testing.T) {
	dir := t.TempDir()
	if out, err := tryCompiler(t)("test", "--nodes", "3", "--seed", "1", "--trace-states", "--trace", dir+"/stores", "testdata/everything.aeon"); err == nil || !strings.Contains(out, "Leaf was deleted") {
		t.Fatalf("aeonc test: %v\n%s", err, out)
	}
	names, err := filepath.Glob(dir + "/stores/*.jsonl")
	if err != nil || len(names) != 3 {
		t.Fatalf("%v: %v", names, err)
	}
	var data []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, text...)
	}
	r := recordStores(t, data)
	if rep, err := Check(bytes.NewReader(text(r.lines))); err != nil || rep.Violated() > 0 {
		t.Fatalf("the trace itself: %v\n%s", err, said(t, rep))
	}
	perClass := 2
	if *long {
		perClass = 100_000
	}
	classes := map[string]bool{}
	list := r.mutants()
	for _, m := range list {
		classes[m.class] = true
	}
	refused := refuse(t, list, perClass)
	if len(classes) < 25 {
		t.Errorf("there are %d classes of mutants", len(classes))
	}
	for class := range classes {
		if refused[class] == 0 {
			t.Errorf("no mutant of this class was refused: %s", class)
		}
	}
}
