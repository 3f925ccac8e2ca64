package nodes_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// A talk is a cluster whose stores crash and whose sessions end, with clients outside at a door of each store: some say something in shops that are in any
// of them, and others hear it.
type talk struct {
	*faulty
	doors map[*exec.System]*door.Door
	last  bool // what is said now reaches all ears that have listened before
	over  bool // all has been said
	heard int
	ended int // clients, as a callback may be missing
}

const (
	shops      = 6
	sayings    = 10          // of each store at least
	lastSaying = ", at last" // is behind the name of a shop in its last saying
)

func shopName(i int) string { return fmt.Sprint("shop", i) }

// door returns the door of a system.
func (f *talk) door(s *exec.System) *door.Door {
	d := f.doors[s]
	if d == nil {
		p, err := door.ProgramOf(aeonrt.AllClasses(&shop.AeonPackage), aeonrt.AllClientClasses(&shop.AeonPackage))
		if err != nil {
			f.fail("%v", err)
		}
		d = door.Open(door.Config{System: s, Program: p})
		f.doors[s] = d
	}
	return d
}

// call calls a method of a shop by the door of a store, with a key until it has an answer.
func (f *talk) call(id event.StoreID, name, method string, args map[string]any, key string) error {
	body, err := json.Marshal(args)
	if err != nil {
		f.fail("%v", err)
	}
	return f.at(id, key != "", func(s *exec.System) error {
		d := f.door(s)
		class, err := d.Class("Shop")
		if err != nil {
			return err
		}
		m, err := class.Method(method)
		if err != nil {
			return err
		}
		c := &door.Call{Method: m, Key: key}
		if c.Args, err = m.Params.Read(body, d.Names(context.Background(), "")); err == nil {
			c.Target, err = d.Actor(context.Background(), class, name)
		}
		if err == nil {
			_, err = d.Call(context.Background(), c)
		}
		return err
	})
}

// speak is a client at a store that says something in shops.
func (f *talk) speak(id event.StoreID) {
	for i := 0; i < sayings || !f.calm; i++ {
		name := shopName(f.r.IntN(shops))
		if err := f.call(id, name, "say", map[string]any{"text": name, "times": 1 + f.r.IntN(2)}, fmt.Sprintf("%d-%d", id, i)); err != nil {
			f.fail("%s: saying %d of store %d ends with %v", name, i, id, err)
		}
		f.pause(30)
	}
	f.asking--
}

// listen is a client at a store that hears what is said in all shops, again and again until all has been said.
func (f *talk) listen(id event.StoreID) {
	for !f.over {
		s := f.c.System(id)
		if s == nil {
			f.s.Yield()
			continue
		}
		d := f.door(s)
		ear, err := d.ClientClass("Ear")
		if err != nil {
			f.fail("%v", err)
		}
		client, err := d.Remotes.Begin("", []*door.ClientClass{ear})
		if err != nil {
			f.fail("%v", err)
		}
		stream, err := client.Stream(0)
		if err != nil {
			f.fail("%v", err)
		}
		f.hear(id, s, client, stream)
		client.End()
	}
}

// hear hears what a client is told, until the client has ended, with its store or before.
func (f *talk) hear(id event.StoreID, s *exec.System, client *door.Remote, stream *door.Stream) {
	certain := make(map[string]bool) // shops that it has begun to listen to before the last saying
	for i := range shops {
		name := shopName(i)
		// By the door of another store, as any node may take the request.
		by := event.StoreID(f.r.IntN(faultStores))
		err := f.call(by, name, "listen", map[string]any{"ear": client.References[0]}, "")
		var gone *door.NoClientError
		var unknown *event.UnknownError
		switch {
		case err == nil:
			certain[name] = !f.last
		case errors.As(err, &gone):
			if _, err := stream.Take(); err == nil && f.c.System(id) == s {
				f.fail("store %d does not find client %s of store %d, which is there", by, client.References[0], id)
			}
			return
		case !errors.As(err, &unknown):
			f.fail("listening by store %d ends with %v", by, err)
		}
	}
	numbers, last, whole := uint64(0), make(map[string]int64), make(map[string]bool)
	for f.c.System(id) == s {
		over := f.over
		list, err := stream.Take()
		if err != nil {
			f.note("store %d: client %s ends: %v", id, client.References[0], err)
			f.ended++
			return
		}
		for _, c := range list {
			text, err := c.Method.Params.Append(nil, c.Args, nil)
			if err != nil {
				f.fail("%v", err)
			}
			var said struct {
				Number int64
				Text   string
			}
			if err := json.Unmarshal(text, &said); err != nil {
				f.fail("%v", err)
			}
			name, _, isLast := strings.Cut(said.Text, lastSaying)
			before, known := last[name]
			if c.Number != numbers+1 || known && said.Number != before+1 {
				f.fail("client %s of store %d has heard %d callbacks, saying %d of %s as the last of that, and hears callback %d: %s", client.References[0], id, numbers, before, name, c.Number, text)
			}
			numbers, last[name], whole[name] = c.Number, said.Number, isLast
			f.heard++
		}
		if over {
			for name := range certain {
				if certain[name] && !whole[name] {
					f.fail("client %s of store %d has not heard the last saying of %s", client.References[0], id, name)
				}
			}
			return
		}
		f.s.Yield()
	}
}

// Whatever crashes or is cut off, a client outside hears what actors of any store tell it, once and in order, from the first time until it ends; and it ends
// if something may be missing.
func TestCallbacksThroughFaults(t *testing.T) {
	// As TestFaults.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	heard, ended := 0, 0
	for seed := *faultSeed; seed < *faultSeed+uint64(*faultSeeds); seed++ {
		f := &talk{faulty: newFaulty("TestCallbacksThroughFaults", t.TempDir(), &shop.AeonPackage, seed), doors: make(map[*exec.System]*door.Door)}
		f.asking = faultStores
		for i := range event.StoreID(faultStores) {
			f.task(func() { f.speak(i) })
			f.task(func() { f.listen(i) })
		}
		f.task(f.trouble)
		f.s.Until(func() bool { return f.calm && f.asking == 0 })
		f.last = true
		for i := range shops {
			if err := f.call(0, shopName(i), "say", map[string]any{"text": shopName(i) + lastSaying, "times": 1}, fmt.Sprint("last ", i)); err != nil {
				f.fail("%v", err)
			}
		}
		f.c.Settle()
		f.over = true
		f.s.Until(func() bool { return f.live == 0 })
		f.tasks.Wait()
		f.c.Settle()
		if err := f.c.Close(); err != nil {
			f.fail("%v", err)
		}
		f.traces.check()
		heard, ended = heard+f.heard, ended+f.ended
	}
	t.Logf("%d callbacks were heard, and %d clients have ended as one may be missing", heard, ended)
	if *faultSeeds >= 30 && (heard == 0 || ended == 0) {
		t.Error("something never happens")
	}
}
