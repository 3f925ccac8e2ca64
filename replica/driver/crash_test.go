package driver_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// filmed is a place of which an image is taken before and behind each of its steps, as a crash there would leave it: with all that was
// written, and with what was synced alone.
type filmed struct {
	*replicatest.Memory

	mu     sync.Mutex // guards images while the log and the states are written
	images []*replicatest.Memory
}

func (f *filmed) take() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.images = append(f.images,
		f.Memory.Crash(func(unsynced int) int { return unsynced }),
		f.Memory.Crash(func(int) int { return 0 }))
}

// taken returns the images since the last call.
func (f *filmed) taken() []*replicatest.Memory {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.images
	f.images = nil
	return list
}

// step does a step.
func (f *filmed) step(do func() error) error {
	f.take()
	defer f.take()
	return do()
}

// Open implements driver.Place.
func (f *filmed) Open(dir string) (e store.Engine, err error) {
	err = f.step(func() error { e, err = f.Memory.Open(dir); return err })
	return filmedEngine{e, f}, err
}

// Rename implements driver.Place.
func (f *filmed) Rename(old, new string) error {
	return f.step(func() error { return f.Memory.Rename(old, new) })
}

// Remove implements driver.Place.
func (f *filmed) Remove(dir string) error {
	return f.step(func() error { return f.Memory.Remove(dir) })
}

type filmedEngine struct {
	store.Engine
	of *filmed
}

// Apply implements store.Engine.
func (e filmedEngine) Apply(b store.Batch) error {
	return e.of.step(func() error { return e.Engine.Apply(b) })
}

// Sync implements store.Engine.
func (e filmedEngine) Sync() error { return e.of.step(e.Engine.Sync) }

func openAlone(t *testing.T, node event.NodeID, p driver.Place) *driver.Driver {
	t.Helper()
	d, err := driver.Open(driver.Config{
		Node: node, Disk: driver.NewDisk(p), Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }, Rand: rand.New(rand.NewPCG(1, 1)),
		Send: func(event.NodeID, []byte) {}, Roles: func(replica.Role) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A group that a crash has found on its way to be begun is begun by the next process, with the rows that it was seeded with.
func TestACrashWhileAGroupIsBegun(t *testing.T) {
	f := &filmed{Memory: &replicatest.Memory{}}
	seed := func(p driver.Place) {
		t.Helper()
		if err := driver.NewDisk(p).Seed(replicatest.Group, func(e store.Engine) error { return put(e, "seed", "1") }); err != nil {
			t.Fatal(err)
		}
	}
	seed(f)
	seeded := len(f.images)
	d := openAlone(t, 1, f)
	if err := d.Begin(replicatest.Group, 1); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	begun := 0
	for i, image := range f.images {
		if i < seeded {
			seed(image)
		}
		d := openAlone(t, 1, image)
		if d.Has(replicatest.Group) {
			begun++
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		c := open(t, quick(image))
		_, e := lead(t, c)
		if v, _, err := e.Get([]byte("seed"), nil); string(v) != "1" {
			t.Errorf("image %d has %q of the seed (%v)", i, v, err)
		}
		if err := put(e, "a", "1"); err != nil {
			t.Errorf("image %d: %v", i, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if begun == 0 || begun == len(f.images) {
		t.Errorf("%d of %d images have the group", begun, len(f.images))
	}
}

// A node that a crash has found on its way out of a group starts again, in the group or not, and can take part again.
func TestACrashWhileAGroupIsLeft(t *testing.T) {
	places := three()
	film := &filmed{Memory: places[2].(*replicatest.Memory)}
	places[2] = film
	c := open(t, quick(places...))
	_, e := lead(t, c)
	for _, key := range []string{"a", "b", "c"} {
		if err := put(e, key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Node(3).Await(t.Context(), replicatest.Group, e.Index()); err != nil {
		t.Fatal(err)
	}
	film.taken()
	if err := c.Node(3).Leave(replicatest.Group, anyway); err != nil {
		t.Fatal(err)
	}
	in, images := 0, film.taken()
	for i, image := range images {
		d := openAlone(t, 3, image)
		if d.Has(replicatest.Group) {
			in++
			if err := d.Leave(replicatest.Group, anyway); err != nil {
				t.Errorf("image %d: %v", i, err)
			}
		}
		if names, _ := image.List("states"); len(names) > 0 {
			t.Errorf("image %d: the node has left, and has %v", i, names)
		}
		if err := d.Join(replicatest.Group); err != nil {
			t.Errorf("image %d: %v", i, err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if in == 0 || in == len(images) {
		t.Errorf("the node is in the group in %d of %d images", in, len(images))
	}
}

// A node that leaves a group, or is closed, before it has written of a state that has come starts again: its log does not begin behind a state that it
// does not have.
func TestACrashWhileAStateThatHasComeIsDropped(t *testing.T) {
	for _, what := range []string{"leaves", "is closed"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				places := three()
				c := open(t, quick(places...))
				id, e := lead(t, c)
				away := id%3 + 1
				if err := put(e, "a", "1"); err != nil {
					t.Fatal(err)
				}
				// So it has the term of the leader on its disk: no append of that is under way when the state comes, whose record would wait behind it.
				if err := c.Node(away).Await(t.Context(), replicatest.Group, e.Index()); err != nil {
					t.Fatal(err)
				}
				if err := c.Stop(away); err != nil {
					t.Fatal(err)
				}
				fill(t, c, id, e)
				writes := make(chan struct{})
				film := &filmed{Memory: places[away-1].(*replicatest.Memory)}
				places[away-1] = &counted{Place: film, before: func(dir string) {
					if dir == "states/2/1" {
						<-writes
					}
				}}
				c.Cut(id, away, true)
				if err := c.Start(away); err != nil {
					t.Fatal(err)
				}
				d := c.Node(away)
				go func() { _ = d.Join(2) }() // the writer waits for the disk
				synctest.Wait()
				c.Cut(id, away, false)
				<-time.After(50 * time.Millisecond)
				synctest.Wait()
				if names, _ := film.List("states/1"); fmt.Sprint(names) != "[1 2.new]" {
					t.Fatalf("no state has come: there are %v", names)
				}
				film.taken()
				ended := make(chan error, 1)
				go func() {
					if what == "leaves" {
						ended <- d.Leave(replicatest.Group, anyway)
					} else {
						ended <- c.Stop(away)
					}
				}()
				synctest.Wait()
				close(writes)
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				for _, image := range film.taken() {
					again := openAlone(t, away, image)
					if !again.Has(replicatest.Group) {
						if err := again.Join(replicatest.Group); err != nil {
							t.Error(err)
						}
					}
					if err := again.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if what == "leaves" {
					follow(t, c, id, id, 6-id-away)
					if err := d.Join(replicatest.Group); err != nil {
						t.Fatal(err)
					}
				} else if err := c.Start(away); err != nil {
					t.Fatal(err)
				}
				follow(t, c, id, 1, 2, 3)
			})
		})
	}
}

// A group that has shrunk to one member, while the others left as soon as the leader said that they are out, goes on after a crash that leaves what
// was synced: nothing has to be written behind the change for that.
func TestTheLastMemberGoesOnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := three()
		c := open(t, quick(places...))
		id, e := lead(t, c)
		if err := put(e, "a", "1"); err != nil {
			t.Fatal(err)
		}
		deadline := time.After(20 * time.Second)
		for settled := false; !settled; {
			var leads bool
			if settled, leads = c.Node(id).Follow(map[replica.Group][]event.NodeID{replicatest.Group: {id}})[replicatest.Group]; !leads {
				t.Fatalf("node %d does not lead", id)
			}
			list, asOf := c.Node(id).Progress(replicatest.Group)
			for n := event.NodeID(1); n <= 3; n++ {
				if !slices.ContainsFunc(list, func(p replica.Progress) bool { return p.Node == n }) && c.Node(n).Has(replicatest.Group) {
					if err := c.Node(n).Leave(replicatest.Group, asOf); err != nil && err != driver.ErrStays {
						t.Fatal(err)
					}
				}
			}
			select {
			case <-time.After(time.Millisecond):
			case <-deadline:
				t.Fatal("the others are not removed")
			}
		}
		image := places[id-1].(*replicatest.Memory).Crash(func(int) int { return 0 })
		leads := make(chan struct{}, 100)
		d, err := driver.Open(driver.Config{
			Node: id, Disk: driver.NewDisk(image), Logger: slog.New(slog.DiscardHandler), Fatal: func(err error) { t.Error(err) }, Rand: rand.New(rand.NewPCG(1, 1)),
			Send: func(event.NodeID, []byte) {}, Tick: time.Millisecond,
			Roles: func(r replica.Role) {
				if r.Leader == id {
					leads <- struct{}{}
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-leads:
		case <-time.After(5 * time.Second):
			t.Error("the last member does not lead")
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// torn is a place where the removal of a directory is cut short: of each directory below, half of the files are gone.
type torn struct {
	driver.Dir
	fs *vfs.MemFS
}

func (p torn) Remove(dir string) error {
	var tear func(dir string) error
	tear = func(dir string) error {
		names, _ := p.fs.List(dir)
		for i, name := range names {
			err := tear(p.fs.PathJoin(dir, name))
			if below, _ := p.fs.List(p.fs.PathJoin(dir, name)); err == nil && i%2 == 0 && len(below) == 0 {
				err = p.fs.Remove(p.fs.PathJoin(dir, name))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(tear(p.fs.PathJoin(p.Root, dir)), errors.New("the process is killed"))
}

// A node starts again, without the group, after a crash that has found it in the middle of removing the state.
func TestACrashWhileAStateIsRemoved(t *testing.T) {
	fs := vfs.NewMem()
	d := openAlone(t, 1, torn{placeOn(fs), fs})
	if err := d.Begin(replicatest.Group, 1); err != nil {
		t.Fatal(err)
	}
	if err := d.Leave(replicatest.Group, anyway); err == nil {
		t.Fatal("nothing was cut short")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = openAlone(t, 1, placeOn(fs))
	if d.Has(replicatest.Group) {
		t.Error("the node has a part in the group")
	}
	if err := d.Join(replicatest.Group); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
