package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// overrideDesk makes f the snapshot block of desks.
func overrideDesk(t *testing.T, f work) {
	t.Helper()
	classDesk.Snapshot = func(cx *Cx, self any) { f(cx, self.(*desk)) }
	t.Cleanup(func() { classDesk.Snapshot = nil })
}

func (d *desk) setText(cx *Cx, text string) {
	undo.Field(cx.UndoLog(), &d.Self, 1, &d.text)
	d.text = text
}

// namesMany is how many names a desk has whose names are stored by element.
const namesMany = 500

// largeDesk makes a desk with many names and a desk below it.
func largeDesk(t *testing.T, n *node, text string) deskRef {
	t.Helper()
	d := newDesk(t, n.cl)
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
		self.setText(cx, text)
		for i := range namesMany {
			undo.MapSet(cx.UndoLog(), &self.Self, 5, &self.names, fmt.Sprintf("name %04d", i), int64(i))
		}
		self.hire(cx).do(cx, func(cx *Cx, kid *desk) { kid.setText(cx, text+" kid") })
	}))
	return d
}

// everyRow returns the rows of the store by key, as classes want them or as they are.
func (n *node) everyRow(classes bool) map[string]string {
	n.t.Helper()
	view := n.store.Snapshot()
	var o *archive.Overrides
	if classes {
		o = n.sys.overrides(view)
	}
	var list taken
	mustNot(n.t, archive.NodeRows(view, o, list.keep))
	mustNot(n.t, view.Close())
	found := map[string]string{}
	for _, r := range list {
		found[string(r[0])] = string(r[1])
	}
	return found
}

// differences lists the keys under which two sets of rows differ.
func differences(a, b map[string]string) (keys []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for key := range all {
		if x, y := a[key], b[key]; x != y || (x == "") != (y == "") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// What a block writes takes the place of rows. Of a container that is stored by element only the written elements change.
// No row changes of actors of other classes, nor of actors that the block leaves as they are.
func TestBlockChangesWhatItWrites(t *testing.T) {
	n := startNode(t, Config{})
	openBank(t, n.sys, "one", 3)
	d := largeDesk(t, n, "secret")
	largeDesk(t, n, "open")
	runs := 0
	overrideDesk(t, func(cx *Cx, self *desk) {
		runs++
		if !strings.HasPrefix(self.text, "secret") {
			return
		}
		self.setText(cx, "")
		if self.names.Size() > 0 {
			undo.MapSet(cx.UndoLog(), &self.Self, 5, &self.names, "name 0007", -7)
			undo.MapRemove(cx.UndoLog(), &self.Self, 5, &self.names, "name 0008")
			undo.MapSet(cx.UndoLog(), &self.Self, 5, &self.names, "zero", 0)
		}
	})
	before, after := n.everyRow(false), n.everyRow(true)
	if runs != 4 {
		t.Errorf("the block has run %d times, for 4 desks", runs)
	}
	// the text of d and three of its names, as many as before; the text of its kid
	if keys := differences(before, after); len(keys) != 5 {
		var list []string
		for _, key := range keys {
			list = append(list, store.DescribeKey([]byte(key)))
		}
		t.Errorf("%d rows differ: %v", len(keys), list)
	}
	if keys := differences(before, n.everyRow(false)); len(keys) != 0 {
		t.Errorf("%d rows of the store have changed", len(keys))
	}
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) {
		if self.text != "secret" || self.names.Size() != namesMany {
			t.Errorf("the actor itself has changed: %q, %d names", self.text, self.names.Size())
		}
	}))
	n.close()
}

// A block that writes all of a container, or makes it small, leaves nothing of it behind.
func TestBlockReplacesContainers(t *testing.T) {
	for name, write := range map[string]func(cx *Cx, self *desk){
		"cleared": func(cx *Cx, self *desk) { undo.MapClear(cx.UndoLog(), &self.Self, 5, &self.names) },
		"assigned": func(cx *Cx, self *desk) {
			undo.Field(cx.UndoLog(), &self.Self, 5, &self.names)
			self.names = value.Map[string, int64]{}
			for i := range namesMany {
				undo.MapSet(cx.UndoLog(), &self.Self, 5, &self.names, fmt.Sprintf("other %04d", i), int64(i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := startNode(t, Config{})
			largeDesk(t, n, "secret")
			overrideDesk(t, func(cx *Cx, self *desk) {
				if self.names.Size() > 0 {
					write(cx, self)
				}
			})
			var snap taken
			view := n.store.Snapshot()
			mustNot(t, archive.NodeRows(view, n.sys.overrides(view), snap.keep))
			mustNot(t, view.Close())
			n.close()
			for _, r := range snap {
				if bytes.Contains(r[0], []byte("name ")) {
					t.Fatalf("%s is still there", store.DescribeKey(r[0]))
				}
			}
			classDesk.Snapshot = nil
			back := elsewhere(t, snap)
			want := int64(0)
			if name == "assigned" {
				want = namesMany
			}
			for _, h := range desksOf(back) {
				mustNot(t, back.sys.durable.Load(h))
				if d := h.Object.(*desk); d.kids.Size() == 1 && d.names.Size() != want {
					t.Errorf("%d names are back, want %d", d.names.Size(), want)
				}
			}
			back.close()
		})
	}
}

// desksOf returns the desks that are there.
func desksOf(n *node) (list []*order.Handle) {
	all, err := n.sys.durable.AttachAll()
	mustNot(n.t, err)
	for _, h := range all {
		if h.Shape == &classDesk.Shape {
			list = append(list, h)
		}
	}
	return list
}

// Snapshots of the node and of an actor have what the block leaves. Events run meanwhile. What is unchanged is not
// sent again.
func TestSnapshotsHaveWhatBlocksLeave(t *testing.T) {
	n := startNode(t, Config{})
	d := largeDesk(t, n, "secret")
	overrideDesk(t, func(cx *Cx, self *desk) { self.setText(cx, "") })
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	whole, err := n.archive().Snapshot(ctx, to)
	mustNot(t, err)
	one, err := n.archive().SnapshotActor(ctx, to, d.Ref)
	mustNot(t, err)
	mustNot(t, d.await(n.cl, func(cx *Cx, self *desk) { self.setText(cx, "another secret") }))
	again, err := n.archive().SnapshotActor(ctx, to, d.Ref)
	mustNot(t, err)
	if one.Actors != 2 || len(one.Chunks) == 0 {
		t.Errorf("the manifest of the actor is %+v", one.Manifest)
	}
	shared := 0
	for i := range one.Chunks {
		if i < len(again.Chunks) && one.Chunks[i].SHA256 == again.Chunks[i].SHA256 {
			shared++
		}
	}
	if shared < len(one.Chunks)-1 { // the first has the number of the snapshot
		t.Errorf("%d of %d chunks are the same, though only what is left out has changed", shared, len(one.Chunks))
	}
	n.close()
	classDesk.Snapshot = nil
	for _, s := range []*snapshot.Saved{whole, one} {
		var rows taken
		mustNot(t, snapshot.Read(ctx, to, &s.Manifest, rows.keep))
		for _, r := range rows {
			if bytes.Contains(r[1], []byte("secret")) {
				t.Errorf("%s: %s has the secret", s.Name, store.DescribeKey(r[0]))
			}
		}
		back := elsewhere(t, rows)
		desks := desksOf(back)
		if len(desks) != 2 {
			t.Errorf("%s: %d desks are back", s.Name, len(desks))
		}
		for _, h := range desks {
			mustNot(t, back.sys.durable.Load(h))
			if got := h.Object.(*desk); got.text != "" || got.names.Size() != 0 && got.names.Size() != namesMany {
				t.Errorf("%s: a desk has the text %q and %d names", s.Name, got.text, got.names.Size())
			}
		}
		back.close()
	}
}

// A block that fails fails the snapshot, which names the class and the actor, and nothing is published.
func TestFailingBlockFailsTheSnapshot(t *testing.T) {
	n := startNode(t, Config{FuelMax: 1000, DepthMax: 100})
	largeDesk(t, n, "secret")
	deepest := func(cx *Cx) {}
	deepest = func(cx *Cx) { cx.Step(); defer cx.Leave(); deepest(cx) }
	for name, c := range map[string]struct {
		block work
		want  string
	}{
		"abort": {func(cx *Cx, self *desk) { Abort(cx, "not now") }, "not now"},
		"fault": {func(cx *Cx, self *desk) { self.setN(cx, value.Div(1, self.tags.Size())) }, "division by zero"},
		"loop": {func(cx *Cx, self *desk) {
			for {
				cx.Spend()
			}
		}, "too many loop iterations"},
		"depth":    {func(cx *Cx, self *desk) { deepest(cx) }, "too many nested calls"},
		"Go panic": {func(cx *Cx, self *desk) { panic(errors.New("in Go")) }, "in Go"},
	} {
		t.Run(name, func(t *testing.T) {
			overrideDesk(t, c.block)
			dir := t.TempDir()
			_, err := n.archive().Snapshot(context.Background(), snapshot.Dir(dir))
			var failed *archive.OverrideError
			if !errors.As(err, &failed) || failed.Class != "t.Desk" || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Snapshot: %v", err)
			}
			var abort *event.AbortError
			if !errors.As(err, &abort) || abort.Pos().Line == 0 {
				t.Errorf("the place is not known: %+v", abort)
			}
			list, _, err := snapshot.List(context.Background(), snapshot.Dir(dir), "")
			if len(list) > 0 || err != nil {
				t.Errorf("%d snapshots were published, %v", len(list), err)
			}
		})
	}
	overrideDesk(t, func(cx *Cx, self *desk) {})
	if _, err := n.archive().Snapshot(context.Background(), snapshot.Dir(t.TempDir())); err != nil {
		t.Errorf("a later snapshot: %v", err)
	}
	n.close()
}

// A snapshot of a store that no system uses is taken with the classes of the program version that has written the store
// last. The schema says which classes count.
func TestStoppedStore(t *testing.T) {
	overrideDesk(t, func(cx *Cx, self *desk) { self.setText(cx, "") })
	n := startNode(t, Config{})
	root := largeDesk(t, n, "secret")
	n.close()
	engine := n.engine.Reopen()
	schema, err := store.ReadSchema(engine)
	mustNot(t, err)
	for _, c := range schema.Classes() {
		if c.Overrides != (c.Name == "t.Desk") {
			t.Errorf("class %s: overrides is %v", c.Name, c.Overrides)
		}
	}
	applied := engine.Applied()
	o, err := StoppedOverrides(engine, testClasses, quiet)
	mustNot(t, err)
	to := snapshot.Dir(t.TempDir())
	s := archive.Stopped{View: engine, Identity: store.Identity{Store: "x", Program: "t"}, Overrides: o}
	saved, err := s.Snapshot(context.Background(), to, event.ActorID{})
	mustNot(t, err)
	mustNot(t, snapshot.Read(context.Background(), to, &saved.Manifest, func(key, row []byte) error {
		if bytes.Contains(row, []byte("secret")) {
			t.Errorf("%s has the secret", store.DescribeKey(key))
		}
		return nil
	}))
	one, err := s.Snapshot(context.Background(), to, root.ID())
	mustNot(t, err)
	if want := "Desk:" + root.ID().String(); string(one.Actor) != want || one.Actors != 2 {
		t.Errorf("the snapshot is of %s, %d actors, want %s", one.Actor, one.Actors, want)
	}
	var missing *archive.NoActorError
	if _, err := s.Snapshot(context.Background(), to, event.ActorID{Serial: 1 << 40}); !errors.As(err, &missing) {
		t.Errorf("a snapshot of a missing actor: %v", err)
	}
	classDesk.Snapshot = nil
	if _, err := StoppedOverrides(engine, testClasses, quiet); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("another version: %v", err)
	}
	if engine.Applied() != applied {
		t.Error("the store was written")
	}
}

// scribble changes a desk at random, in containers of few and of many elements.
func (d *desk) scribble(cx *Cx, r *rand.Rand) {
	for range []int{1, 10, 300}[r.IntN(3)] {
		name := fmt.Sprint("n", r.IntN(400))
		switch n := r.IntN(2000); {
		case n < 900:
			undo.MapSet(cx.UndoLog(), &d.Self, 5, &d.names, name, r.Int64())
		case n < 1200:
			undo.MapRemove(cx.UndoLog(), &d.Self, 5, &d.names, name)
		case n < 1201:
			undo.MapClear(cx.UndoLog(), &d.Self, 5, &d.names)
		case n < 1700:
			undo.SetAdd(cx.UndoLog(), &d.Self, 6, &d.tags, r.Int64N(2000))
		case n < 1990:
			undo.SetRemove(cx.UndoLog(), &d.Self, 6, &d.tags, r.Int64N(2000))
		case n < 1991:
			undo.SetClear(cx.UndoLog(), &d.Self, 6, &d.tags)
		case n < 1992:
			undo.Field(cx.UndoLog(), &d.Self, 5, &d.names)
			d.names = value.Map[string, int64]{}
		default:
			d.setText(cx, name)
		}
	}
}

// redirect changes rows of a table, and the entries of their index.
func (h *hangar) redirect(cx *Cx, r *rand.Rand) {
	for range 1 + r.IntN(30) {
		if id := r.Int64N(400); h.planes.Has(id) {
			to := towns[r.IntN(len(towns))]
			undo.TableUpdate(cx.UndoLog(), &h.Self, 0, &h.planes, id, func(p *plane) { p.to = to })
		}
	}
}

// The rows in a snapshot equal, to the byte, those that an event leaves that does what the block does.
func TestBlockWritesWhatAnEventWouldWrite(t *testing.T) {
	n := startNode(t, Config{})
	d := newDesk(t, n.cl)
	hangars := func() order.Ref { return Named(n.cl, &classHangar, "main") }
	mustNot(t, n.cl.Await(hangars(), &methodFly, &hangarArgs{seed: 1, steps: 600}))
	t.Cleanup(func() { classDesk.Snapshot, classHangar.Snapshot = nil, nil })
	written := 0
	for round := range uint64(60) {
		n.reopen() // so that the event reads from the store what it changes, as the block does
		d = deskRef{n.sys.Resolve(d.ID())}
		scribble := func(cx *Cx, self *desk) { self.scribble(cx, rand.New(rand.NewPCG(round, 1))) }
		redirect := func(cx *Cx, self *hangar) { self.redirect(cx, rand.New(rand.NewPCG(round, 2))) }
		classDesk.Snapshot = func(cx *Cx, self any) { scribble(cx, self.(*desk)) }
		classHangar.Snapshot = func(cx *Cx, self any) { redirect(cx, self.(*hangar)) }
		before, promised := n.everyRow(false), n.everyRow(true)
		classDesk.Snapshot, classHangar.Snapshot = nil, nil
		mustNot(t, d.await(n.cl, scribble))
		mustNot(t, n.cl.Await(hangars(), &methodRedirect, redirecting(redirect)))
		now := n.everyRow(false)
		for _, key := range differences(promised, now) {
			if _, section, ok := store.SectionOf([]byte(key)); ok && section == store.Fields {
				t.Fatalf("round %d: %s is %q in the snapshot, and an event writes %q", round, store.DescribeKey([]byte(key)), promised[key], now[key])
			}
		}
		written += len(differences(before, promised))
	}
	if written < 1000 {
		t.Errorf("only %d rows were written", written)
	}
	n.close()
}

// redirecting is the argument of methodRedirect: the code to run.
type redirecting func(cx *Cx, self *hangar)

var methodRedirect = Method{Class: &classHangar, Name: "redirect", Index: 3, Effects: order.Effects{Self: order.Write, Below: order.None},
	NewArgs: func() order.Args { return redirecting(nil) },
	Run:     func(cx *Cx, self any, args order.Args) { args.(redirecting)(cx, self.(*hangar)) }}
