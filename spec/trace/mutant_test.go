package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// line is a record of a recorded trace, as the mutators handle it. The member that tells what it is stands first.
type line struct {
	first   string
	members map[string]any
	shown   string // as it stands in the file; "" if it is to be made
}

func (l line) text() string {
	if l.shown != "" {
		return l.shown
	}
	keys := slices.Sorted(maps.Keys(l.members))
	if i := slices.Index(keys, l.first); i >= 0 {
		keys = slices.Insert(slices.Delete(keys, i, i+1), 0, l.first)
	}
	var b strings.Builder
	for i, k := range keys {
		value, err := json.Marshal(l.members[k])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "%c%q:%s", "{,"[min(i, 1)], k, value)
	}
	if len(keys) == 0 {
		b.WriteByte('{')
	}
	return b.String() + "}\n"
}

func (l line) clone() line {
	var deep func(v any) any
	deep = func(v any) any {
		switch v := v.(type) {
		case []any:
			v = slices.Clone(v)
			for i := range v {
				v[i] = deep(v[i])
			}
			return v
		case map[string]any:
			v = maps.Clone(v)
			for k := range v {
				v[k] = deep(v[k])
			}
			return v
		}
		return v
	}
	return line{first: l.first, members: deep(l.members).(map[string]any)}
}

func (l line) is(kind string) bool { return l.first == kind }
func (l line) str(key string) string {
	s, _ := l.members[key].(string)
	return s
}
func (l line) num(key string) int64 { return number(l.members[key]) }
func (l line) list(key string) []any {
	list, _ := l.members[key].([]any)
	return list
}
func (l line) has(key string) bool   { _, ok := l.members[key]; return ok }
func (l line) set(key string, n any) { l.members[key] = n }

// number reads what is a number, or nothing. Ids of timers go up to 2^63.
func number(v any) int64 {
	n, ok := v.(json.Number)
	if !ok {
		return 0
	}
	i, err := n.Int64()
	if err != nil {
		panic(err)
	}
	return i
}

func numeral[T ~int | ~int64 | ~uint64](n T) json.Number { return json.Number(fmt.Sprint(n)) }

// finer is how many ticks the mutators make of one: so that there is room between two.
const finer = 1000

// recording is a trace that was recorded, and is sound.
type recording struct {
	lines []line
	// What the reasons why a mutant is harmless refer to.
	byID     map[string]int         // lines of events
	children map[string][]int       // lines of what has this event as its parent
	firings  map[json.Number][]int  // of a timer
	access   map[string][]int       // lines of events that touch an actor
	gone     map[json.Number]bool   // clients
	ran      map[string]bool        // callbacks that have run, by parent and index
	answers  map[json.Number]answer // by order
	sections int
}

type answer struct{ line, at int }

func record(t *testing.T, data []byte) *recording {
	t.Helper()
	r := &recording{byID: map[string]int{}, children: map[string][]int{}, firings: map[json.Number][]int{}, access: map[string][]int{},
		gone: map[json.Number]bool{}, ran: map[string]bool{}, answers: map[json.Number]answer{}}
	for text := range bytes.Lines(data) {
		l, i := parsed(t, text), len(r.lines)
		for _, key := range []string{"order", "start", "recovered"} {
			if l.has(key) {
				l.set(key, numeral(l.num(key)*finer))
			}
		}
		for at, pair := range l.list("answers") {
			p := pair.([]any)
			p[0], p[1] = numeral(number(p[0])*finer), numeral(number(p[1])*finer)
			r.answers[p[0].(json.Number)] = answer{i, at}
		}
		switch {
		case l.is("trace"):
			r.sections++
		case l.is("gone"):
			r.gone[l.members["gone"].(json.Number)] = true
		case l.is("order"):
			r.byID[l.str("event")] = i
			for _, key := range []string{"reads", "writes"} {
				for _, a := range l.list(key) {
					actor := a.([]any)[0].(string)
					if at := r.access[actor]; len(at) == 0 || at[len(at)-1] != i {
						r.access[actor] = append(at, i)
					}
				}
			}
			if n, ok := l.members["timer"].(json.Number); ok {
				r.firings[n] = append(r.firings[n], i)
			}
		}
		if l.is("callback") {
			r.ran[l.str("parent")+fmt.Sprint(l.num("index"))] = true
		}
		if l.has("parent") {
			r.children[l.str("parent")] = append(r.children[l.str("parent")], i)
		}
		l.shown = l.text()
		r.lines = append(r.lines, l)
	}
	return r
}

// parsed returns a record from its text.
func parsed(t *testing.T, text []byte) (l line) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&l.members); err != nil {
		t.Fatal(err)
	}
	l.first = strings.Split(string(text), `"`)[1]
	return l
}

func text(lines []line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l.text())
	}
	return b.Bytes()
}

// touched says whether any event behind line i touches the actor.
func (r *recording) touched(actor string, i int) bool {
	at := r.access[actor]
	return len(at) > 0 && at[len(at)-1] > i
}

// mutant is a trace with one mistake.
type mutant struct {
	class string
	// harmless says why the mutant is the trace of a sound run, if it is: it may be accepted.
	harmless string
	make     func() []line
}

// edited returns the lines with line i replaced.
func (r *recording) edited(i int, edit func(l line)) func() []line {
	return func() []line {
		lines := slices.Clone(r.lines)
		lines[i] = lines[i].clone()
		edit(lines[i])
		return lines
	}
}

// counted adds n to the number of events at the end of the section that line i lies in.
func counted(lines []line, i, n int) []line {
	for ; i < len(lines); i++ {
		if lines[i].is("end") {
			lines[i] = lines[i].clone()
			lines[i].set("events", numeral(lines[i].num("events")+int64(n)))
			break
		}
	}
	return lines
}

// mutants returns all mutants of whole records: those of single members are in mutant_field_test.go.
func (r *recording) mutants() (list []mutant) {
	add := func(class, harmless string, make func() []line) { list = append(list, mutant{class, harmless, make}) }
	for i, l := range r.lines {
		kind := l.first
		if l.is("order") {
			kind = l.str("kind")
		}
		add("drop "+kind, r.mayMiss(i), func() []line { return r.dropped(i) })
		harmless := ""
		if l.is("gone") || l.is("callback") && !l.has("parent") {
			harmless = "a client may go after it has gone, and call itself twice"
		}
		if l.is("trace") {
			harmless = "the first of the two is the section of a run that was killed at once"
		}
		add("double "+kind, harmless, func() []line { return slices.Insert(slices.Clone(r.lines), i+1, l) })
		if l.is("order") {
			list = append(list, r.ofEvent(i)...)
		}
		if l.is("callback") && l.has("parent") {
			add("invent a callback", "", func() []line {
				c := l.clone()
				c.set("index", numeral(len(r.lines[r.byID[l.str("parent")]].list("callbacks"))+1))
				return slices.Insert(slices.Clone(r.lines), i+1, c)
			})
			add("move a callback before its event", "", func() []line {
				lines := slices.Delete(slices.Clone(r.lines), i, i+1)
				return slices.Insert(lines, r.byID[l.str("parent")], l)
			})
			for j := i + 1; j < len(r.lines); j++ {
				if o := r.lines[j]; o.is("callback") && o.num("client") == l.num("client") && o.has("parent") {
					add("swap callbacks of a client", "", func() []line { return r.swapped(i, j) })
					break
				}
			}
		}
	}
	return list
}

func (r *recording) swapped(i, j int) []line {
	lines := slices.Clone(r.lines)
	lines[i], lines[j] = lines[j], lines[i]
	return lines
}

// dropped leaves line i out, and what else would tell that it was there: its answer, and that it counts.
func (r *recording) dropped(i int) []line {
	lines, l := slices.Clone(r.lines), r.lines[i]
	if l.is("order") {
		lines = counted(lines, i, -1)
		if a, ok := r.answers[l.members["order"].(json.Number)]; ok {
			lines[a.line] = lines[a.line].clone()
			pairs := lines[a.line].list("answers")
			lines[a.line].set("answers", slices.Delete(pairs, a.at, a.at+1))
		}
	}
	return slices.Delete(lines, i, i+1)
}

// mayMiss says why line i may be missing, "" if it may not.
func (r *recording) mayMiss(i int) string {
	l := r.lines[i]
	switch l.first {
	case "end":
		return "the process was killed"
	case "answers":
		return "answers had not left yet, which forbids less"
	case "gone":
		return "no callback was dropped, or it is told by the count of those that are missing"
	case "trace":
		return ""
	case "callback":
		if !l.has("parent") {
			return "the client has not called itself"
		}
		if r.gone[l.members["client"].(json.Number)] {
			return "callbacks of a client that has gone are dropped"
		}
		return ""
	}
	for _, w := range l.list("writes") {
		if r.touched(w.([]any)[0].(string), i) {
			return ""
		}
	}
	for _, o := range l.list("timers") {
		if n, ok := o.(map[string]any)["set"].(json.Number); ok && len(r.firings[n]) > 0 {
			return ""
		}
		if _, ok := o.(map[string]any)["cancel"]; ok {
			return "" // ticks that find it cancelled do nothing; there may be none, then see ofEvent
		}
	}
	all := r.firings[json.Number(fmt.Sprint(l.members["timer"]))]
	switch {
	case l.str("kind") == "sub", l.str("kind") == "tail", len(r.children[l.str("event")]) > 0, len(all) > 0 && all[len(all)-1] != i:
		return ""
	case l.str("kind") == "timer":
		return "the last tick of a timer, which has done nothing"
	}
	return "the client has not issued it"
}

// ofEvent returns mutants of the event of line i.
func (r *recording) ofEvent(i int) (list []mutant) {
	l := r.lines[i]
	add := func(class, harmless string, make func() []line) { list = append(list, mutant{class, harmless, make}) }
	kind, order := l.str("kind"), l.num("order")
	followed := len(r.children[l.str("event")]) > 0 || l.has("subs") || l.has("callbacks")
	// again inserts the event under another id, directly behind itself or before line at.
	again := func(at int, edit func(c line)) []line {
		c := l.clone()
		c.set("event", "1-ffff")
		before := order
		for j := at - 1; j >= 0; j-- {
			if r.lines[j].is("order") {
				before = r.lines[j].num("order")
				break
			}
		}
		c.set("start", numeral(before+1))
		c.set("order", numeral(before+2))
		if edit != nil {
			edit(c)
		}
		return counted(slices.Insert(slices.Clone(r.lines), at, c), at, 1)
	}
	harmless := ""
	if kind == "client" && len(l.list("writes")) == 0 && !followed && !l.has("timers") {
		harmless = "a client may ask twice"
	}
	add("double "+kind+" under another id", harmless, func() []line { return again(i+1, nil) })
	switch kind {
	case "sub", "tail":
		p := r.lines[r.byID[l.str("parent")]]
		add("invent a "+kind, "", func() []line { return again(i+1, func(c line) { c.set("index", numeral(p.num("subs")+1)) }) })
		add("invent a "+kind+" of no event", "", func() []line { return again(i+1, func(c line) { c.set("parent", "1-eeee") }) })
		add("move a "+kind+" before its event", "", func() []line {
			c := l.clone()
			at := r.byID[l.str("parent")]
			c.set("order", numeral(p.num("order")-1))
			c.set("start", numeral(p.num("order")-2))
			lines := slices.Delete(slices.Clone(r.lines), i, i+1)
			lines = slices.Insert(lines, at, c)
			for a := range lines { // its answer goes with it
				for k, pair := range lines[a].list("answers") {
					if number(pair.([]any)[0]) == order {
						lines[a] = lines[a].clone()
						lines[a].list("answers")[k].([]any)[0] = c.members["order"]
					}
				}
			}
			return lines
		})
	case "timer":
		// ticks once more, with all that belongs to a tick
		tick := func(at int, n int64) []line {
			var child line
			lines := again(at, func(c line) { c.set("index", numeral(n)); child = c })
			if l.has("callbacks") {
				call := line{first: "callback", members: map[string]any{"callback": "Guest.hear", "client": l.list("callbacks")[0], "parent": "1-ffff", "index": numeral(1),
					"issuer": l.str("issuer"), "start": numeral(child.num("order") + 1)}}
				return slices.Insert(lines, at+1, call)
			}
			target := l.str("target")
			var version any = numeral(0)
			for _, o := range r.lines[:at] {
				for _, w := range o.list("writes") {
					if w.([]any)[0] == target {
						version = w.([]any)[1]
					}
				}
			}
			child.set("reads", []any{[]any{target, version}})
			sub := line{first: "order", members: map[string]any{"order": numeral(child.num("order") + 2), "start": numeral(child.num("order") + 1), "event": "1-fffe", "kind": "sub",
				"parent": "1-ffff", "index": numeral(1), "issuer": l.str("issuer"), "target": target, "method": "Tree.look", "reads": child.list("reads")}}
			return counted(slices.Insert(lines, at+1, sub), at, 1)
		}
		all := r.firings[l.members["timer"].(json.Number)]
		if l.has("subs") || l.has("callbacks") {
			add("invent a tick that was there", "", func() []line { return tick(i+1, l.num("index")) })
			add("invent a tick that leaves one out", "", func() []line { return tick(len(r.lines)-1, int64(len(all)+2)) })
			set := r.setter(l.members["timer"])
			if !set["every"].(bool) {
				add("fire a one-shot timer twice", "", func() []line { return tick(i+1, 2) })
			} else if at := r.ended(l.str("issuer"), set["name"].(string), all[len(all)-1]); at > 0 {
				add("tick behind a cancel", "", func() []line { return tick(at+1, int64(len(all)+1)) })
			}
			add("invent a firing of no timer", "", func() []line { return again(i+1, func(c line) { c.set("timer", numeral(1<<40)) }) })
		}
	}
	// Two events that meet, the later one first.
	for j := i + 1; j < len(r.lines); j++ {
		o := r.lines[j]
		if !o.is("order") {
			continue
		}
		for _, w := range l.list("writes") {
			if actor := w.([]any)[0].(string); slices.Contains(r.access[actor], j) {
				add("swap events that meet", "", func() []line {
					lines := r.swapped(i, j)
					lines[i], lines[j] = lines[i].clone(), lines[j].clone()
					lines[i].set("order", l.members["order"])
					lines[j].set("order", o.members["order"])
					return lines
				})
				break
			}
		}
		break
	}
	return list
}

// setter returns what the commit that has set a timer says of it.
func (r *recording) setter(timer any) map[string]any {
	for _, l := range r.lines {
		for _, o := range l.list("timers") {
			if m := o.(map[string]any); m["set"] == timer {
				every, _ := m["every"].(bool)
				name, _ := m["name"].(string)
				return map[string]any{"every": every, "name": name}
			}
		}
	}
	panic(fmt.Sprint("no timer ", timer))
}

// ended returns the line of the event that has cancelled or replaced a timer of that name, and did not come before line i; 0 if there is none.
func (r *recording) ended(issuer, name string, i int) int {
	for ; i < len(r.lines); i++ {
		for _, o := range r.lines[i].list("timers") {
			m := o.(map[string]any)
			if m["issuer"] == issuer && (m["name"] == name || m["cancel"] == name) {
				return i
			}
		}
	}
	return 0
}

// TestMutantsAreRefused makes one mistake at a time in traces of real runs, in each way and at each place that there
// is. The checker must refuse the result, unless it is the trace of another sound run.
func TestMutantsAreRefused(t *testing.T) {
	aeonc := tryCompiler(t)
	dir := t.TempDir()
	perClass := 2
	if *long {
		perClass = 100_000
	}
	const source = "testdata/everything.aeon"
	// Events to what was deleted are in the trace, and fail the test, as no client awaits them.
	if out, err := aeonc("test", "--seed", "1", "--trace-states", "--trace", dir+"/memory", source); err == nil || !strings.Contains(out, "Leaf was deleted") {
		t.Fatalf("aeonc test: %v\n%s", err, out)
	}
	for range 2 {
		if out, err := aeonc("run", "-q", "--data", dir+"/d", "--trace-states", "--trace", dir+"/stored", source); err != nil {
			t.Fatalf("aeonc run: %v\n%s", err, out)
		}
	}
	refused := map[string]int{}
	for _, name := range []string{"memory", "stored"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(dir + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			r := record(t, data)
			if rep, err := Check(bytes.NewReader(text(r.lines))); err != nil || rep.Violated() > 0 {
				t.Fatalf("the trace itself: %v\n%s", err, said(t, rep))
			}
			for class, n := range refuse(t, append(r.mutants(), r.fieldMutants()...), perClass) {
				refused[class] += n
			}
		})
	}
	for _, class := range mustRefuse {
		if refused[class] == 0 {
			t.Errorf("no mutant of this class was refused: %s", class)
		}
	}
}

// mustRefuse are classes of which a mutant has to be refused: without them the suite proves little. The seed gives the recording
// in memory all of them; a run on a store goes by the real clock, and some mutants of it are sound runs by chance.
var mustRefuse = []string{
	"drop client", "drop sub", "drop tail", "drop timer", "drop callback", "double client", "double sub", "double tail", "double timer", "double callback",
	"double answers", "double client under another id", "double sub under another id", "double tail under another id", "double timer under another id",
	"invent a sub", "invent a sub of no event", "invent a tail", "invent a callback", "invent a firing of no timer", "invent a tick that was there",
	"invent a tick that leaves one out", "fire a one-shot timer twice", "tick behind a cancel", "move a sub before its event", "move a tail before its event",
	"move a callback before its event", "swap callbacks of a client", "swap events that meet", "take another: event parent of a sub",
	"raise: event index of a sub", "lower: event index of a timer", "raise: event timer of a timer", "rename: event issuer of a sub", "rename: event target of a client",
	"raise: event subs of a client", "leave out: event timers of a client", "leave out: event callbacks of a client", "flip: event keeps of a client", "raise: end events",
}

// refuse checks some mutants of each class, and returns how many of each were refused.
func refuse(t *testing.T, list []mutant, perClass int) (refused map[string]int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	tried, excused := map[string]int{}, map[string]int{}
	refused = map[string]int{}
	for _, m := range list {
		key := m.class
		if m.harmless != "" {
			key += ": " + m.harmless
		}
		if tried[key]++; tried[key] > perClass {
			continue
		}
		lines := m.make()
		rep, err := Check(bytes.NewReader(text(lines)))
		switch {
		case err != nil || rep.Violated() > 0:
			refused[m.class]++
		case m.harmless != "":
			excused[key]++
		default:
			t.Errorf("%s: accepted", m.class)
			for i, l := range lines {
				if l.shown == "" {
					t.Logf("line %d: %s", i+1, l.text())
				}
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(refused)) {
		t.Log(strconv.Itoa(refused[class]) + " refused: " + class)
	}
	for _, class := range slices.Sorted(maps.Keys(excused)) {
		t.Log(strconv.Itoa(excused[class]) + " accepted: " + class)
	}
	return refused
}
