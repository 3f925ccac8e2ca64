package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// group is a log without other nodes: what is proposed is committed when a test says so.
type group struct {
	mu      sync.Mutex
	term    uint64
	entries []Entry       // entry i has index i+2
	came    chan struct{} // if set: is told of each proposal
}

func (g *group) propose(data []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.add(data)
	if g.came != nil {
		g.came <- struct{}{}
	}
	return nil
}

func (g *group) add(data []byte) {
	g.entries = append(g.entries, Entry{Index: uint64(len(g.entries)) + 2, Term: g.term, Data: data})
}

// until has a state take the entries up to index, in pieces of n.
func (g *group) until(t errorer, s *State, from, index uint64, n int) {
	g.mu.Lock()
	list := slices.Clone(g.entries[from-1 : index-1])
	g.mu.Unlock()
	for len(list) > 0 {
		k := min(n, len(list))
		if err := s.Apply(list[:k]); err != nil {
			t.Fatal(err)
		}
		list = list[k:]
	}
}

func (g *group) last() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return uint64(len(g.entries)) + 1
}

type errorer interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func newState(t errorer) (*State, *memengine.Engine) {
	m := memengine.New()
	s, err := OpenState(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Begin([]byte("m1")); err != nil {
		t.Fatal(err)
	}
	return s, m
}

func take(t errorer, s *State) {
	if err := s.Take(); err != nil {
		t.Fatal(err)
	}
}

// drawBatch draws changes of few keys, and makes them in two batches.
func drawBatch(t *rapid.T, to ...store.Batch) {
	key := rapid.Map(rapid.IntRange(0, 30), func(n int) []byte { return fmt.Appendf(nil, "k%02d", n) })
	for range rapid.IntRange(1, 5).Draw(t, "changes") {
		k, v, kind := key.Draw(t, "key"), rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "value"), rapid.IntRange(0, 6).Draw(t, "kind")
		end := key.Draw(t, "end")
		for _, b := range to {
			switch kind {
			case 0:
				b.DeleteRange(k, end)
			case 1, 2:
				b.Delete(k)
			default:
				b.Set(k, v)
			}
		}
	}
}

// content is what a scan finds, from the front or from the back.
func content(t errorer, r store.Reader, from, to []byte, back bool) (list []string) {
	it := r.Scan(from, to)
	next := it.Next
	if back {
		next = it.Prev
	}
	for next() {
		list = append(list, fmt.Sprintf("%s=%x", it.Key(), it.Value()))
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	if back {
		slices.Reverse(list)
	}
	return list
}

// wholeGroups returns what the groups of a log make whose last part is there, parts being of one term.
func wholeGroups(t errorer, list []Entry) []string {
	m := memengine.New()
	var parts changes
	term := uint64(0)
	for _, e := range list {
		if e.Term != term {
			parts, term = nil, e.Term
		}
		if len(e.Data) == 0 {
			continue
		}
		if parts = append(parts, e.Data[1:]...); e.Data[0] == kindLast {
			b := m.NewBatch()
			for len(parts) > 0 {
				kind, key, value, rest, err := parts.next()
				switch {
				case err != nil:
					t.Fatal(err)
				case kind == kindDelete:
					b.Delete(key)
				case kind == kindRange:
					b.DeleteRange(key, value)
				default:
					b.Set(key, value)
				}
				parts = rest
			}
			if err := m.Apply(b); err != nil {
				t.Fatal(err)
			}
			parts = nil
		}
	}
	return content(t, m, all[0], all[1], false)
}

var all = [2][]byte{{1}, {255}}

// Changes lie over rows as all of them say, however the ranges meet that were deleted.
func TestAnOverlayIsItsChanges(t *testing.T) {
	const keys = 12
	key := func(n int) []byte { return fmt.Appendf(nil, "k%02d", n) }
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := newOverlay()
		var want [keys]string // of each key what was said last
		for range 10 {
			var b batch
			switch k := r.IntN(keys); r.IntN(4) {
			case 0:
				v := fmt.Sprint(r.IntN(100))
				b.Set(key(k), []byte(v))
				want[k] = v
			case 1:
				b.Delete(key(k))
				want[k] = "deleted"
			default:
				end := r.IntN(keys + 1)
				b.DeleteRange(key(k), key(end))
				for ; k < end; k++ {
					want[k] = "deleted"
				}
			}
			if err := o.add(b.changes); err != nil {
				t.Fatal(err)
			}
			for k := range keys {
				got := ""
				if v, found, known := o.get(key(k)); found {
					got = string(v)
				} else if known {
					got = "deleted"
				}
				if got != want[k] {
					t.Fatalf("seed %d: %s is %q, wanted %q of %q", seed, key(k), got, want[k], want)
				}
			}
		}
	}
}

// An engine shows each batch from Apply on, whole, wherever the group is that it is in; a snapshot stays as it was; and the states of
// a leader and of a follower that lags become equal, also if a leader is deposed in the middle of a group and another one goes on.
func TestEngineIsAsOneWithoutALog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &group{term: 2}
		g.add(nil)
		leader, below := newState(t)
		follower, copied := newState(t)
		applied, lag := uint64(1), uint64(1)
		catchUp := func(index uint64) {
			g.until(t, leader, applied, index, rapid.IntRange(1, 4).Draw(t, "pieces"))
			applied = max(applied, index)
		}
		catchUp(2)
		take(t, leader)
		e := Lead(leader, 2, Log{Propose: g.propose})
		e.partMax, e.layerBytes = rapid.IntRange(1, 40).Draw(t, "part"), rapid.IntRange(1, 100).Draw(t, "layer")
		model := memengine.New()
		type pair struct{ a, b store.Snapshot }
		var views []pair
		var committed []string // what is in the log whole
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0, 1, 2:
				a, b := e.NewBatch(), model.NewBatch()
				drawBatch(t, a, b)
				if err := errors.Join(e.Apply(a), model.Apply(b)); err != nil {
					t.Fatal(err)
				}
			case 3:
				if _, err := e.launch(); err != nil {
					t.Fatal(err)
				}
				committed = content(t, model, all[0], all[1], false)
			case 4:
				catchUp(rapid.Uint64Range(applied, g.last()).Draw(t, "committed up to"))
			case 5:
				views = append(views, pair{e.Snapshot(), model.Snapshot()})
			case 6:
				up := rapid.Uint64Range(lag, applied).Draw(t, "the follower is at")
				g.until(t, follower, lag, up, rapid.IntRange(1, 4).Draw(t, "its pieces"))
				lag = up
			case 7:
				take(t, rapid.SampledFrom([]*State{leader, follower}).Draw(t, "takes"))
			default:
				from, to := fmt.Appendf(nil, "k%02d", rapid.IntRange(0, 30).Draw(t, "from")), fmt.Appendf(nil, "k%02d", rapid.IntRange(0, 31).Draw(t, "to"))
				back := rapid.Bool().Draw(t, "back")
				if got, want := content(t, e, from, to, back), content(t, model, from, to, back); !slices.Equal(got, want) {
					t.Fatalf("a scan finds %q, expected %q", got, want)
				}
				got, is, err := e.Get(from, nil)
				want, was, _ := model.Get(from, nil)
				if err != nil || is != was || !bytes.Equal(got, want) {
					t.Fatalf("%s is %x, %v (%v), expected %x, %v", from, got, is, err, want, was)
				}
			}
		}
		for _, v := range views {
			if got, want := content(t, v.a, all[0], all[1], false), content(t, v.b, all[0], all[1], false); !slices.Equal(got, want) {
				t.Fatalf("a view has %q, expected %q", got, want)
			}
			if err := v.a.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := content(t, e, nil, all[1], true), content(t, model, all[0], all[1], true); !slices.Equal(got, want) {
			t.Fatalf("all is %q, expected %q", got, want)
		}

		// The leader is deposed. Of its last group the log may have lost parts, and then all of it counts for nothing.
		e.Fail(errors.New("deposed"))
		if rapid.Bool().Draw(t, "cut") {
			n := rapid.IntRange(int(applied)-1, len(g.entries)).Draw(t, "left")
			g.entries = g.entries[:n]
			committed = nil // known by the states below
		}
		for _, entry := range g.entries {
			if len(entry.Data) > 1+e.partMax {
				t.Fatalf("an entry has %d bytes, and a part %d", len(entry.Data), e.partMax)
			}
		}
		g.term = 3
		g.add(nil)
		if rapid.Bool().Draw(t, "another leader") {
			other := &batch{}
			drawBatch(t, other)
			g.add(append([]byte{kindLast}, other.changes...))
			committed = nil
		}
		catchUp(g.last())
		g.until(t, follower, lag, g.last(), 3)
		take(t, leader)
		take(t, follower)
		if got := wholeGroups(t, g.entries); !slices.Equal(got, content(t, below, all[0], all[1], false)) {
			t.Fatalf("the state is %q, and the log has %q", content(t, below, all[0], all[1], false), got)
		}
		got, want := content(t, below, []byte{0}, all[1], false), content(t, copied, []byte{0}, all[1], false)
		if !slices.Equal(got, want) || leader.Index() != g.last() {
			t.Fatalf("the leader's state is %q at %d, the follower's %q", got, leader.Index(), want)
		}
		if committed != nil && !slices.Equal(content(t, below, all[0], all[1], false), committed) {
			t.Fatalf("the state is %q, and %q was committed", content(t, below, all[0], all[1], false), committed)
		}
		next := Lead(leader, 3, Log{Propose: g.propose})
		if got := content(t, next, nil, all[1], false); !slices.Equal(got, content(t, below, all[0], all[1], false)) {
			t.Fatalf("the next leader sees %q", got)
		}
	})
}

// A state that is opened again is applied from where its engine was durable, in the middle of no group, and with the members of that
// time.
func TestStateGoesOnAfterACrash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &group{term: 2}
		for range rapid.IntRange(1, 30).Draw(t, "entries") {
			add := func(data []byte) {
				g.add(data)
				if rapid.IntRange(0, 3).Draw(t, "members") == 0 { // also between two parts
					g.add(nil)
					g.entries[len(g.entries)-1].Members = fmt.Appendf(nil, "m%d", g.last())
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "entry") == 0 {
				g.term++
				add(nil)
				continue
			}
			var c changes
			c = c.add(kindSet, fmt.Appendf(nil, "k%d", rapid.IntRange(0, 5).Draw(t, "key")), fmt.Appendf(nil, "%d", g.last()))
			if cut := rapid.IntRange(0, len(c)).Draw(t, "cut"); cut < len(c) {
				add(append([]byte{kindPart}, c[:cut]...))
				c = c[cut:]
				if rapid.IntRange(0, 3).Draw(t, "deposed") == 0 {
					g.term++
					add(nil)
					continue
				}
			}
			add(append([]byte{kindLast}, c...))
		}
		s, disk := newState(t)
		at := uint64(1)
		for at < g.last() {
			up := rapid.Uint64Range(at, g.last()).Draw(t, "up to")
			g.until(t, s, at, up, 3)
			at = up
			if rapid.Bool().Draw(t, "take") {
				take(t, s)
			}
			if rapid.Bool().Draw(t, "sync") {
				if err := s.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			if synced := s.Synced(); rapid.IntRange(0, 2).Draw(t, "crash") == 0 {
				disk = disk.Crash(func(n int) int { return rapid.IntRange(0, n).Draw(t, "kept") })
				var err error
				if s, err = OpenState(disk); err != nil {
					t.Fatal(err)
				}
				if s.Index() < synced {
					t.Fatalf("the state is at %d, and was synced up to %d", s.Index(), synced)
				}
				want := []byte("m1")
				for _, e := range g.entries[:s.Index()-1] {
					if e.Members != nil {
						want = e.Members
					}
				}
				if got, err := s.Members(); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("at %d the members are %q (%v), expected %q", s.Index(), got, err, want)
				}
				at = s.Index()
			}
		}
		take(t, s)
		if got, want := content(t, disk, all[0], all[1], false), wholeGroups(t, g.entries); !slices.Equal(got, want) {
			t.Fatalf("the state is %q, expected %q", got, want)
		}
	})
}

// busy is an engine to whose state something happens when it has synced or taken something.
type busy struct {
	store.Engine
	synced, taken func()
}

func (b *busy) Sync() error {
	err := b.Engine.Sync()
	b.synced()
	return err
}

func (b *busy) Apply(batch store.Batch) error {
	err := b.Engine.Apply(batch)
	b.taken()
	return err
}

// What is taken while the state is synced may be lost: the log keeps it.
func TestWhatIsTakenDuringASyncIsNotSynced(t *testing.T) {
	m := &busy{memengine.New(), func() {}, func() {}}
	s, err := OpenState(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(nil); err != nil {
		t.Fatal(err)
	}
	m.synced = func() {
		if err := s.Apply([]Entry{{Index: 2, Term: 1}}); err != nil {
			t.Fatal(err)
		}
		take(t, s)
	}
	if err := s.Sync(); err != nil || s.Synced() != 1 || s.Index() != 2 {
		t.Errorf("synced up to %d, at %d (%v)", s.Synced(), s.Index(), err)
	}
}

// What is handed to a state while its engine takes what was before waits: a leader shows it, and the next time it is taken.
func TestWhatIsHandedDuringATakeIsNotTaken(t *testing.T) {
	m := &busy{memengine.New(), func() {}, func() {}}
	s, err := OpenState(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(nil); err != nil {
		t.Fatal(err)
	}
	g := &group{term: 2}
	g.add(nil)
	g.until(t, s, 1, 2, 1)
	take(t, s)
	e := Lead(s, 2, Log{Propose: g.propose})
	e.layerBytes = 1
	put := func(key string) {
		t.Helper()
		b := e.NewBatch()
		b.Set([]byte(key), []byte(key))
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
		if _, err := e.launch(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(index, whole uint64, below ...string) {
		t.Helper()
		if s.Index() != index || s.Whole() != whole {
			t.Errorf("the state has taken all up to %d of %d, not %d of %d", s.Index(), s.Whole(), index, whole)
		}
		if got := content(t, m, all[0], all[1], false); !slices.Equal(got, below) {
			t.Errorf("the state has %q, not %q", got, below)
		}
		if got := content(t, e, nil, all[1], false); !slices.Equal(got, []string{"a=61", "b=62"}) {
			t.Errorf("the leader has %q", got)
		}
	}
	put("a")
	g.until(t, s, 2, 3, 1)
	m.taken = func() {
		put("b")
		g.until(t, s, 3, 4, 1)
	}
	take(t, s)
	check(3, 4, "a=61")
	m.taken = func() {}
	take(t, s)
	check(4, 4, "a=61", "b=62")
}

// Sync returns when the group is committed, and with the error of an engine that has failed; Close fails what comes later.
func TestSyncAwaitsTheCommit(t *testing.T) {
	g := &group{term: 2, came: make(chan struct{}, 9)}
	g.add(nil)
	s, _ := newState(t)
	g.until(t, s, 1, 2, 1)
	e := Lead(s, 2, Log{Propose: g.propose})
	put := func(key string) {
		t.Helper()
		b := e.NewBatch()
		b.Set([]byte(key), nil)
		if err := e.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Sync(); err != nil {
		t.Fatal(err) // nothing is under way
	}
	put("a")
	done := make(chan error)
	go func() { done <- e.Sync() }()
	<-g.came
	put("b")
	go func() { done <- e.Sync() }()
	<-g.came
	select {
	case err := <-done:
		t.Fatalf("Sync has returned %v before the commit", err)
	default:
	}
	g.until(t, s, 2, 3, 1)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	cause := errors.New("deposed")
	var told error
	e.OnFailure(func(err error) { told = err })
	e.Fail(cause)
	if err := <-done; err != cause || told != cause {
		t.Fatalf("%v, told %v", err, told)
	}
	if err := e.Apply(&batch{}); err != cause {
		t.Error(err)
	}
	g.until(t, s, 3, 4, 1) // it was committed after all
	if _, _, err := e.Get([]byte("b"), nil); err != cause {
		t.Error(err)
	}
	if it := e.Scan(nil, []byte("z")); it.Next() || !errors.Is(it.Close(), cause) {
		t.Error("an engine that has failed is scanned")
	}
	g.term++
	take(t, s)
	e = Lead(s, 3, Log{Propose: g.propose})
	if _, found, err := e.Get([]byte("b"), nil); err != nil || !found {
		t.Error(found, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Get([]byte("b"), nil); err != ErrClosed {
		t.Error(err)
	}
	if err := e.Sync(); err != ErrClosed {
		t.Error(err)
	}
}

// What is applied is announced before it is proposed, once for all of a group, and an empty group is not.
func TestWritesAreAnnounced(t *testing.T) {
	var told []string
	s, _ := newState(t)
	e := Lead(s, 2, Log{Propose: func(data []byte) error {
		told = append(told, "proposed")
		return ErrClosed // so that Sync does not wait
	}})
	e.partMax = 4
	e.BeforeWrite(func() { told = append(told, "announced") })
	if err := e.Sync(); err != nil || len(told) > 0 {
		t.Fatal(told, err)
	}
	b := e.NewBatch()
	b.Set([]byte("key"), []byte("value"))
	if err := errors.Join(e.Apply(b), e.Sync()); !errors.Is(err, ErrClosed) || !slices.Equal(told, []string{"announced", "proposed"}) {
		t.Errorf("%v (%v)", told, err)
	}
}

// Each group has the time of its leader when it was proposed, which the next leader knows, whatever it leads; readers do not see it.
func TestGroupsTellTheTime(t *testing.T) {
	g := &group{term: 2}
	g.add(nil)
	s, _ := newState(t)
	g.until(t, s, 1, 2, 1)
	clock := sched.NewSimClock(time.Unix(5000, 7))
	e := Lead(s, 2, Log{Clock: clock, Propose: g.propose})
	e.partMax = 8 // the time travels in parts, too
	if told, err := e.Told(); !told.IsZero() || err != nil {
		t.Fatal(told, err)
	}
	b := e.NewBatch()
	b.Set([]byte("key"), []byte("value"))
	if err := e.Apply(b); err != nil {
		t.Fatal(err)
	}
	clock.Set(time.Unix(6000, 7)) // events of the group may have seen any time up to this one
	if _, err := e.launch(); err != nil {
		t.Fatal(err)
	}
	e.Fail(errors.New("deposed"))
	for _, follower := range []bool{false, true} {
		if follower {
			s, _ = newState(t)
		}
		g.until(t, s, 1, g.last(), 1)
		take(t, s)
		next := Lead(s, 3, Log{Propose: g.propose})
		if told, err := next.Told(); !told.Equal(time.Unix(6000, 7)) || err != nil {
			t.Errorf("follower %v: the time is %v (%v)", follower, told, err)
		}
		if got := content(t, next, []byte{}, all[1], false); len(got) != 1 {
			t.Errorf("readers see %q", got)
		}
	}
}

// A state that came from another member replaces the old one, which is closed when its last reader has gone.
func TestReplace(t *testing.T) {
	g := &group{term: 2}
	g.add(nil)
	s, old := newState(t)
	g.until(t, s, 1, 2, 1)
	e := Lead(s, 2, Log{Propose: g.propose})
	view := e.Snapshot()
	e.Fail(errors.New("deposed"))

	other, m := newState(t)
	g.term++
	g.add([]byte(changes{kindLast}.add(kindSet, []byte("k"), []byte("v"))))
	g.until(t, other, 1, 3, 1)
	take(t, other)
	gone := false
	if err := s.Replace(m, func() { gone = true }); err != nil || s.Index() != 3 || s.Synced() != 3 {
		t.Fatalf("the state is at %d, synced up to %d (%v)", s.Index(), s.Synced(), err)
	}
	if _, found, err := view.Get([]byte("k"), nil); found || err != nil {
		t.Errorf("a view of the old state has the new one's (%v)", err)
	}
	if gone {
		t.Error("the old engine was closed under a view")
	}
	if err := view.Close(); err != nil || !gone {
		t.Fatal(gone, err)
	}
	if err := old.Apply(old.NewBatch()); err == nil {
		t.Error("the old engine is not closed")
	}
	e = Lead(s, 3, Log{Propose: g.propose})
	if v, _, err := e.Get([]byte("k"), nil); string(v) != "v" {
		t.Errorf("the new state has %q (%v)", v, err)
	}
}

// Whatever is in the log, a state takes it or says which entry is wrong.
func FuzzChanges(f *testing.F) {
	f.Add([]byte(changes(nil).add(kindSet, []byte("k"), []byte("v")).add(kindRange, []byte("a"), []byte("b")).add(kindDelete, []byte("x"), nil)))
	f.Add([]byte{kindSet, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _ := newState(t)
		err := s.Apply([]Entry{{Index: 2, Term: 1, Data: append([]byte{kindLast}, b...)}})
		if err == nil {
			err = s.Take()
		}
		o := newOverlay()
		if other := o.add(b); (err == nil) != (other == nil) {
			t.Errorf("the state says %v, the overlay %v", err, other)
		}
	})
}
