package nodes_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/nodes"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// A vote that has gone with an answer does not count if a queue has let the event have another actor since: the event which had that before may have written what the vote is for,
// if the store that has voted has lost its leader. So that store is asked once more.
func TestAVoteDoesNotCountBeforeALockIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, all := gauges(t, func(*nodes.Config) {})
		// both has an event at store 2 read the other two, of which held, if it is one of them, is held by another event when the first one comes there.
		both := func(held int) (messages int64) {
			c.Settle()
			before := c.Counts()
			gaugeHeld = make(chan struct{})
			if held >= 0 {
				_ = c.System(event.StoreID(held)).Client().Issue(all[held], &gaugeHold, &gaugeArgs{})
				synctest.Wait()
			}
			s := c.System(2)
			f := s.Client().Issue(all[2], &gaugeBoth, &gaugeArgs{s.Resolve(all[1].ID()), s.Resolve(all[0].ID())})
			synctest.Wait()
			close(gaugeHeld)
			if err := f.Wait(); err != nil {
				t.Fatal(err)
			}
			c.Settle()
			return c.Counts().Messages - before.Messages
		}
		both(1) // from now on it enters by TOP, and store 1 votes with its answer
		free := both(-1)
		if waits := both(0); waits != free+2 {
			t.Errorf("%d messages if it waits for a lock after a vote, %d if it does not", waits, free)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Nor does it count if the event finds an actor deleted later, though it has no lock of that: what was deleted may be so because of an event that has written what the vote is for.
func TestAVoteDoesNotCountBeforeADeletionIsFound(t *testing.T) {
	for where, late := range map[string]event.StoreID{"in another store": 0, "at home": 2} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, all := gauges(t, func(*nodes.Config) {})
				home := c.System(2)
				second := home.Resolve(all[0].ID())
				if late == 2 {
					var err error
					if second, err = home.Client().New(&gaugeClass, &gaugeNew, &gaugeArgs{}); err != nil {
						t.Fatal(err)
					}
				}
				// both has an event at home read a gauge of store 1, which is held at first, and then the second one.
				both := func(held bool) (n across.Counts, err error) {
					c.Settle()
					before := c.Counts()
					gaugeHeld = make(chan struct{})
					if held {
						_ = c.System(1).Client().Issue(all[1], &gaugeHold, &gaugeArgs{})
						synctest.Wait()
					}
					f := home.Client().Issue(all[2], &gaugeBoth, &gaugeArgs{home.Resolve(all[1].ID()), second})
					synctest.Wait()
					close(gaugeHeld)
					err = f.Wait()
					c.Settle()
					n = c.Counts()
					n.Messages, n.Early = n.Messages-before.Messages, n.Early-before.Early
					return n, err
				}
				if _, err := both(true); err != nil { // from now on it enters by TOP, and store 1 votes with its answer
					t.Fatal(err)
				}
				found, err := both(false)
				if err != nil || found.Early == 0 {
					t.Fatalf("%d votes go with answers (%v)", found.Early, err)
				}
				s := c.System(late)
				if err := s.Client().Await(s.Resolve(second.ID()), &gaugeDrop, &gaugeArgs{first: s.Resolve(second.ID())}); err != nil {
					t.Fatal(err)
				}
				deleted, err := both(false)
				if err == nil || !strings.Contains(err.Error(), "was deleted") || deleted.Early == 0 {
					t.Errorf("%d votes go with answers (%v)", deleted.Early, err)
				}
				if deleted.Messages < found.Messages+2 { // that ask store 1 once more
					t.Errorf("%d messages if it finds an actor deleted after a vote, %d if it reads that", deleted.Messages, found.Messages)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A vote with an answer, of a store in which an event has only read, does not count if another thread of the event has taken a lock since that call was sent: the vote may be
// older than that lock.
func TestAVoteDoesNotCountBesideALockOfAnotherThread(t *testing.T) {
	const ms = time.Millisecond
	defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
	synctest.Test(t, func(t *testing.T) {
		tillWait = time.Sleep
		c, in, cl := tills(t, 1, 10*ms, func() store.Engine { return memengine.New() })
		look := func(by int64) (messages int64) {
			c.Settle()
			before := c.Counts().Messages
			if err := cl.Await(in[0][0], &tillLook, &tillArgs{of: []aeonrt.Ref{in[1][0], in[2][0]}, after: 5 * ms, by: by}); err != nil {
				t.Error(err)
			}
			c.Settle()
			return c.Counts().Messages - before
		}
		for range 3 { // it is learned that the first call is worth a vote
			look(-1)
		}
		messages := look(0)
		// Two calls and their answers, the last one with a vote; both stores are asked, and vote; and the store that has voted twice is told the end. Two fewer if the first vote counts.
		if messages != 9 {
			t.Errorf("%d messages", messages)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A store is over with an event that has only read there, when it is learned that the event needs no lock after that. An event that does all the same is withdrawn once, and that is
// learned.
func TestAnEventThatNeedsALockIsWithdrawnIfAStoreIsOverWithIt(t *testing.T) {
	const ms = time.Millisecond
	defer func(wait func(time.Duration)) { tillWait = wait }(tillWait)
	for name, e := range map[string]struct {
		store  int // of the second call
		beat   time.Duration
		either bool // the store votes at the moment in which the second call comes, and may be before it or behind it
	}{
		"of another store, by another thread":  {2, 5 * ms, false},
		"of another store, behind the answer":  {2, 30 * ms, false},
		"of the same store, behind the vote":   {1, 8 * ms, false},
		"of the same store, behind the answer": {1, 30 * ms, false},
		"of the same store, as that votes":     {1, 5 * ms, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tillWait = time.Sleep
				c, in, cl := tills(t, 2, 10*ms, func() store.Engine { return memengine.New() })
				look := func(by int64) (withdrawn, over, messages int64) {
					c.Settle()
					before := c.Counts()
					if err := cl.Await(in[0][0], &tillLook, &tillArgs{of: []aeonrt.Ref{in[1][0], in[e.store][1]}, after: 5 * ms, beat: e.beat, by: by}); err != nil {
						t.Error(err)
					}
					c.Settle()
					after := c.Counts()
					return after.Withdrawn - before.Withdrawn, after.Over - before.Over, after.Messages - before.Messages
				}
				for range 4 {
					look(-1)
				}
				if withdrawn, over, messages := look(-1); withdrawn != 0 || over != 1 || messages != 2 {
					t.Errorf("%d messages, and the store is over with %d attempts (%d withdrawn)", messages, over, withdrawn)
				}
				var all int64
				for i := range int64(4) {
					withdrawn, over, _ := look(0)
					all += withdrawn
					switch {
					case e.either:
						if withdrawn > over || all > 1 {
							t.Errorf("an event takes another lock: the store is over with %d attempts, %d are withdrawn, and %d of all such events", over, withdrawn, all)
						}
					case i == 0 && (withdrawn != 1 || over != 1):
						t.Errorf("an event takes another lock: the store is over with %d attempts, and %d are withdrawn", over, withdrawn)
					case i > 0 && (withdrawn != 0 || over != 0):
						t.Errorf("an event takes another lock, as others before: the store is over with %d attempts, and %d are withdrawn", over, withdrawn)
					}
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A store is not over with an event that has written there, though those before have only read. One that asks for the time when a store is over with it is withdrawn, as the time
// may depend on events that have followed it there.
func TestAStoreIsOverWithAnEventThatReads(t *testing.T) {
	c, in, cl := tills(t, 1, 0, func() store.Engine { return memengine.New() })
	for i, e := range []struct{ by, over, withdrawn int64 }{{}, {}, {}, {}, {0, 1, 0}, {0, 1, 0}, {-1, 1, 1}, {-1, 0, 0}, {1000, 0, 0}, {0, 0, 0}, {1000, 0, 0}} { // below 0: it asks for the time
		before := c.Counts()
		if err := cl.Await(in[0][0], &tillAsk, &tillArgs{of: in[1], by: e.by}); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		after := c.Counts()
		if over, withdrawn := after.Over-before.Over, after.Withdrawn-before.Withdrawn; over != e.over || withdrawn != e.withdrawn {
			t.Errorf("event %d, %d: the store is over with %d attempts, and %d are withdrawn; want %d and %d", i, e.by, over, withdrawn, e.over, e.withdrawn)
		}
	}
	for range 12 + 4 { // and then one that writes
		if err := cl.Await(in[0][0], &tillAsk, &tillArgs{of: in[1]}); err != nil {
			t.Fatal(err)
		}
	}
	before := c.Counts().Over
	if err := cl.Await(in[0][0], &tillAsk, &tillArgs{of: in[1], by: 1000}); err != nil || c.Counts().Over != before {
		t.Errorf("a store is over with an event that has written there (%v)", err)
	}
	args := &tillArgs{}
	if err := cl.Await(in[1][0], &tillSee, args); err != nil || args.ret != 3000 {
		t.Errorf("the till has %d (%v), and not 3000", args.ret, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A laggard is an engine whose disk takes long.
type laggard struct {
	store.Engine
	takes time.Duration
}

func (e laggard) Sync() error {
	<-time.After(e.takes)
	return e.Engine.Sync()
}

// An event that tells something has read an actor of a store, which votes, and starts anew before the event is decided. What writes that actor then comes after it, and
// tells what it has to tell after it.
func TestWhatATellerHasReadIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip, late = 10 * time.Millisecond, 500 * time.Millisecond
		out := &lines{}
		c, all := gauges(t, func(cfg *nodes.Config) {
			cfg.System.Stdout, cfg.Delay = out, under(trip)
			cfg.Open = func(s event.StoreID) (store.Engine, error) {
				if s == 2 {
					return laggard{memengine.New(), late}, nil
				}
				return memengine.New(), nil
			}
		})
		for round := range 3 { // in the later ones store 1 votes with its answer
			c.Settle()
			before := c.Counts()
			s := c.System(0)
			teller := s.Client().Issue(all[0], &gaugeTell, &gaugeArgs{s.Resolve(all[2].ID()), s.Resolve(all[1].ID())})
			for c.Counts().Prepared+c.Counts().Early < before.Prepared+before.Early+2 { // by stores 1 and 2
				<-time.After(time.Millisecond)
			}
			if early := c.Counts().Early - before.Early; early != int64(min(round, 1)) {
				t.Errorf("round %d: %d votes go with answers", round, early)
			}
			<-time.After(trip + trip/2) // the vote of store 1 arrives, that of store 2 does not
			if err := c.Crash(1, losing(func(unsynced int) int { return unsynced })); err != nil {
				t.Fatal(err)
			}
			if err := c.Restart(1); err != nil {
				t.Fatal(err)
			}
			s = c.System(1)
			all[1] = s.Resolve(all[1].ID())
			writer := s.Client().Issue(all[1], &gaugeMark, &gaugeArgs{})
			if err := errors.Join(teller.Wait(), writer.Wait()); err != nil {
				t.Fatal(err)
			}
			if n := c.Counts().Withdrawn - before.Withdrawn; n > 0 {
				t.Errorf("round %d: the event is withdrawn %d times, and was voted for", round, n)
			}
			if got, want := out.take(), "told\nmarked\n"; got != want {
				t.Errorf("round %d: %q is told, want %q", round, got, want)
			}
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// lines are what several systems print.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

// take returns them, and forgets them.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.b.Reset()
	return l.b.String()
}

// Of several calls of one store that an event makes the last one has the vote, and few others have if events end now with one call and now with another: a vote in vain is a row
// for nothing.
func TestTheLastCallHasTheVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, in, cl := tills(t, 3, 0, func() store.Engine { return memengine.New() })
		each := func(n int) (votes int64) {
			c.Settle()
			before := c.Counts().Early
			if err := cl.Await(in[0][0], &tillEach, &tillArgs{by: 1000, of: in[1][:n]}); err != nil {
				t.Fatal(err)
			}
			return c.Counts().Early - before
		}
		each(3)
		for range 3 {
			if votes := each(3); votes != 1 {
				t.Errorf("%d votes go with answers", votes)
			}
		}
		var votes int64
		for range 20 {
			votes += each(1) + each(3)
		}
		if votes > 20+10 { // one of each three; of the first call half of those that it may be the last one of
			t.Errorf("%d votes go with answers of events that end now with one call and now with another", votes)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A store that has voted for an event which has written many of its actors starts anew, and holds each until the event is decided.
func TestARowOfManyActors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trip, many = 10 * time.Millisecond, 40
		opened := 0
		c, in, cl := tills(t, many+1, trip, func() store.Engine {
			if opened++; opened == 3 {
				return laggard{memengine.New(), 50 * trip}
			}
			return memengine.New()
		})
		before := c.Counts().Prepared
		ended := cl.Issue(in[0][0], &tillEach, &tillArgs{by: 1000, of: append(in[1][:many:many], in[2][0])})
		for c.Counts().Prepared < before+2 { // by stores 1 and 2
			<-time.After(time.Millisecond)
		}
		<-time.After(trip + trip/2) // the vote of store 1 arrives, that of store 2 does not
		if err := c.Crash(1, losing(func(unsynced int) int { return unsynced })); err != nil {
			t.Fatal(err)
		}
		if err := c.Restart(1); err != nil {
			t.Fatal(err)
		}
		s := c.System(1)
		var group sync.WaitGroup
		for i, r := range in[1] { // before anything is decided
			group.Go(func() {
				args, want := &tillArgs{}, int64(1000)
				if i == many {
					want = 0
				}
				if err := s.Client().Await(s.Resolve(r.ID()), &tillSee, args); err != nil || args.ret != want {
					t.Errorf("till %d has %d (%v), and not %d", i, args.ret, err, want)
				}
			})
		}
		group.Wait()
		if err := ended.Wait(); err != nil {
			t.Fatal(err)
		}
		c.Settle()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
