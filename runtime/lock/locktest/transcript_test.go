package locktest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock"
	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

// TestTranscripts replays the scenarios of the folder testdata: each command is followed by what the
// core answered. They read as documentation of the protocol. A file has
//
//	actor NAME below PARENT [owns A B] [slot A] [host N]
//	event NAME at TARGET [writes A B] [lazy A B] [does X.call(Y) X.add(Y) …]
//
// and then commands (start, deliver, need, commit, queues), each with its answer below
// ----. Top is the virtual root; events are called e0, e1, … in order. With -update the answers are rewritten.
func TestTranscripts(t *testing.T) {
	for _, f := range transcripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { scene.NodeNames = [scene.NodeCount]string{} }()
			p := newPlayer(t)
			got := p.play(string(data))
			if p.w.bad != "" {
				t.Errorf("the scenario violates the protocol: %s", p.w.bad)
			}
			if got == string(data) {
				return
			}
			if !*update {
				t.Fatalf("%s differs; run with -update. Got:\n%s", f, got)
			}
			if err := os.WriteFile(f, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// transcripts returns the files.
func transcripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	return files
}

// TestTranscriptsInAnyOrder explores every order in which the scenarios could have gone, with
// each choice of nodes that are lazy.
func TestTranscriptsInAnyOrder(t *testing.T) {
	defer func() { scene.NodeNames = [scene.NodeCount]string{} }()
	s := &search{limit: 1_000_000}
	for _, f := range transcripts(t) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlayer(t)
		p.declare(string(data))
		states := 0
		for lazy := range 8 {
			for e := range p.c.Events {
				p.c.Lazy[e] = 0
				if lazy>>min(e, 2)&1 == 1 {
					p.c.Lazy[e] = p.c.Actors
				}
			}
			all, found := s.explore(p.c)
			if found != nil {
				found = s.shrink(found)
				t.Fatalf("%s, lazy %b:\n%v%s", f, lazy, found.c, found.replay())
			}
			if !all {
				t.Errorf("%s: not exhausted in %d states", f, s.states)
			}
			states += s.states
		}
		t.Logf("%s: %d states", filepath.Base(f), states)
	}
}

// declare reads the actors and events of a transcript.
func (p *player) declare(text string) {
	for line := range strings.Lines(text) {
		switch f := strings.Fields(line); {
		case len(f) > 0 && f[0] == "actor":
			p.actor(f[1:])
		case len(f) > 0 && f[0] == "event":
			p.event(f[1:])
		}
	}
}

// player runs a transcript.
type player struct {
	t       *testing.T
	c       *scene.Config
	w       *world
	answer  strings.Builder
	started bool
}

func newPlayer(t *testing.T) *player {
	p := &player{t: t, c: &scene.Config{Hosts: 1, Name: t.Name()}}
	scene.NodeNames = [scene.NodeCount]string{scene.NodeTop: "top"}
	// Each message is a step of its own, also one that the search would deliver at once.
	p.w = &world{allOrders: true, log: func(format string, args ...any) { fmt.Fprintf(&p.answer, format+"\n", args...) }}
	return p
}

// play returns the text with the answers of this run.
func (p *player) play(text string) string {
	var out strings.Builder
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		f := strings.Fields(line)
		if i == len(lines)-1 && line == "" {
			break
		}
		out.WriteString(line + "\n")
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		switch f[0] {
		case "actor":
			p.actor(f[1:])
			continue
		case "event":
			p.event(f[1:])
			continue
		}
		if !p.started {
			p.started = true
			p.w.reset(p.c)
		}
		p.answer.Reset()
		p.command(f)
		out.WriteString("----\n" + p.answer.String())
		for i+1 < len(lines) && lines[i+1] != "" { // the former answer
			i++
		}
	}
	return out.String()
}

func (p *player) node(name string) scene.Node {
	i := slices.Index(scene.NodeNames[:], name)
	if i < 0 {
		p.t.Fatalf("no actor %q", name)
	}
	return scene.Node(i)
}

// clauses splits "k a b k2 c" at the given keywords.
func clauses(f []string, keys ...string) map[string][]string {
	m := map[string][]string{}
	key := ""
	for _, s := range f {
		if slices.Contains(keys, s) {
			key = s
			m[key] = []string{}
			continue
		}
		m[key] = append(m[key], s)
	}
	return m
}

func (p *player) actor(f []string) {
	// actors are declared before they are owned, so from the leaves upwards or not
	m := clauses(f, "below", "owns", "slot", "host")
	declare := func(name string) scene.Node {
		if i := slices.Index(scene.NodeNames[:], name); i >= 0 {
			return scene.Node(i)
		}
		for x := scene.NodeActor; x < scene.NodeCount; x++ {
			if scene.NodeNames[x] == "" {
				scene.NodeNames[x] = name
				p.c.Actors |= scene.Bit(x)
				return x
			}
		}
		p.t.Fatal("too many actors")
		return 0
	}
	x := declare(m[""][0])
	p.c.Parents[x] = declare(m["below"][0])
	for _, c := range m["owns"] {
		p.c.Edges[x] |= scene.Bit(declare(c))
	}
	for _, c := range m["slot"] {
		p.c.Slots[x] = declare(c)
	}
	for _, h := range m["host"] {
		p.c.Host[x] = h[0] - '0'
		p.c.Hosts = max(p.c.Hosts, int(p.c.Host[x])+1)
	}
}

func (p *player) event(f []string) {
	m := clauses(f, "at", "writes", "lazy", "does")
	var e scene.Program
	e.Target = p.node(m["at"][0])
	for _, y := range m["writes"] {
		e.Writes |= scene.Bit(p.node(y))
	}
	for _, y := range m["lazy"] {
		p.c.Lazy[len(p.c.Events)] |= scene.Bit(p.node(y))
	}
	for _, s := range m["does"] {
		at, rest, _ := strings.Cut(s, ".")
		what, to, _ := strings.Cut(strings.TrimSuffix(rest, ")"), "(")
		o := scene.Op{}
		what, o.Async = strings.TrimPrefix(what, "async-"), strings.HasPrefix(what, "async-")
		k := slices.Index([]string{"call", "callArg", "callSlot", "setSlot", "add", "remove"}, what)
		if k < 0 {
			p.t.Fatalf("unknown step %q", s)
		}
		o.Kind = scene.OpKind(k)
		if to != "" {
			o.To = p.node(to)
		}
		x := p.node(at)
		e.Ops[x] = append(e.Ops[x], o)
	}
	p.c.Events = append(p.c.Events, e)
}

// command makes the one move that f describes.
func (p *player) command(f []string) {
	if f[0] == "queues" {
		p.queues()
		return
	}
	want := strings.Join(f, " ")
	var have []string
	for _, m := range p.w.moves(nil) {
		d, _, _ := strings.Cut(p.w.describe(m), " #")
		d, _, _ = strings.Cut(d, ":")
		have = append(have, d)
		if d == want {
			log := p.w.log
			p.w.log = nil
			detail := p.w.describe(m)
			p.w.log = log
			p.w.apply(m)
			s := strings.TrimPrefix(p.answer.String(), detail+"\n")
			if s == "" {
				s = "    (nothing yet)\n"
			}
			if _, act, ok := strings.Cut(detail, ": "); ok {
				s = "    " + act + "\n" + s
			}
			p.answer.Reset()
			p.answer.WriteString(s)
			return
		}
	}
	p.t.Errorf("%q cannot happen now; possible are\n%s", want, strings.Join(have, "\n"))
}

// queues dumps the holders of each node, and what waits for what.
func (p *player) queues() {
	for x := range p.w.queues {
		q := &p.w.queues[x]
		if h, n := q.Len(); h+n == 0 {
			continue
		}
		fmt.Fprintf(&p.answer, "    %v:", scene.Node(x))
		q.Holders(func(h lock.Holder[scene.Event]) bool {
			s := "settled"
			if h.Lazy {
				s = "lazy"
			}
			fmt.Fprintf(&p.answer, " e%d.%d holds %v %s;", h.ID.Event, h.ID.Attempt, h.Mode, s)
			return true
		})
		q.Waits(func(d lock.WaitEdge[scene.Event]) bool {
			fmt.Fprintf(&p.answer, " e%d.%d waits for e%d: %v;", d.Waiter.Event, d.Waiter.Attempt, d.For.Event, d.Why)
			return true
		})
		p.answer.WriteString("\n")
	}
	if p.answer.Len() == 0 {
		p.answer.WriteString("    all idle\n")
	}
}
