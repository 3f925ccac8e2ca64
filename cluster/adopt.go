package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// adopted is what a cluster begins with: the directory of a program that ran alone, or those of the stores of a cluster.
type adopted struct {
	list []store.Engine
}

// openAdopted opens what a cluster is to begin with; nil: it begins with nothing, or has begun. It determines how many stores the cluster has.
func openAdopted(c *aeonrt.ClusterConfig) (*adopted, error) {
	if c.Adopt == "" {
		c.Stores = cmp.Or(c.Stores, settings.StoresDefault)
		return nil, nil
	}
	id, err := identity.Load(c.State.Dir)
	if err == nil {
		var fresh bool
		if fresh, _, err = id.Fresh(); err == nil && !fresh {
			c.Log.Info("the cluster has begun: --adopt is not looked at", "adopt", c.Adopt)
			return nil, nil
		}
	}
	if err != nil && !errors.Is(err, identity.ErrNone) {
		return nil, err
	}
	if _, err := identity.Load(c.Adopt); !errors.Is(err, identity.ErrNone) {
		return nil, fmt.Errorf("--adopt: %s is the directory of a node of a cluster, and not of a program that ran alone", c.Adopt)
	}
	dirs, o := []string{c.Adopt}, c.StateOptions()
	o.MustExist = true
	switch stores, err := archive.Stores(c.Adopt); {
	case err != nil:
		return nil, fmt.Errorf("--adopt: %w", err)
	case stores == 0:
		c.Stores = cmp.Or(c.Stores, settings.StoresDefault)
	case c.Stores != 0 && c.Stores != stores:
		return nil, fmt.Errorf("--adopt: %s has %d stores, and a cluster keeps the number that it began with: leave --stores out", c.Adopt, stores)
	default:
		c.Stores, dirs, o.Part = stores, nil, true
		for i := range stores {
			dirs = append(dirs, archive.StoreDir(c.Adopt, i))
		}
	}
	a := &adopted{}
	for _, dir := range dirs {
		e, err := c.OpenEngine(dir, o)
		if err == nil {
			a.list = append(a.list, e)
			err = store.RequireFormat(e, dir)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--adopt: %w", err), a.close())
		}
	}
	was := new(archive.AdoptedError) // it is written by what has the directory open
	if err := archive.NotAdopted(c.Adopt); err != nil && (!errors.As(err, &was) || id == nil || was.Cluster != id.Cluster) {
		return nil, errors.Join(fmt.Errorf("--adopt: %w", err), a.close())
	}
	return a, nil
}

// adopts returns what a cluster is to begin with as an identity keeps it, wherever the node is started; "": with nothing.
func adopts(c *aeonrt.ClusterConfig) (string, error) {
	if c.Adopt == "" {
		return "", nil
	}
	return filepath.Abs(c.Adopt)
}

// asFormed refuses to begin a cluster with something else than its first start was told, which was ended before that: a second start without --adopt would begin
// an empty one, and what was to be adopted would seem to be lost.
func asFormed(c *aeonrt.ClusterConfig, id *identity.Identity) error {
	formed, err1 := id.Adopts()
	now, err2 := adopts(c)
	switch err := errors.Join(err1, err2); {
	case err != nil || formed == now:
		return err
	case formed == "":
		return fmt.Errorf("--adopt: the node in %s has formed a cluster that begins with nothing: start it without --adopt, or remove this directory to begin with %s", c.State.Dir, now)
	}
	return fmt.Errorf("the node in %s has begun to copy %s: start it with --adopt %[2]s, or remove this directory to begin without", c.State.Dir, formed)
}

// close closes the directories. A nil *adopted has none.
func (a *adopted) close() (err error) {
	if a == nil {
		return nil
	}
	for _, e := range a.list {
		err = errors.Join(err, e.Close())
	}
	return err
}

// rows returns what a store of the cluster begins with.
func (a *adopted) rows(id event.StoreID, stores int, counted func(rows int)) archive.RowSource {
	if len(a.list) == stores {
		return archive.RowsOf(a.list[id], counted)
	}
	return archive.Divided(a.list[0], id, placement.FirstStore(stores), counted)
}

// ranAlone reports whether a directory is one of this program, which has run there alone.
func ranAlone(c *aeonrt.ClusterConfig, dir string) bool {
	o := c.StateOptions()
	o.MustExist = true
	e, err := c.OpenEngine(dir, o)
	if err != nil {
		return false
	}
	if err := e.Close(); err != nil {
		c.Log.Warn("a directory that was looked at was not closed well", "directory", dir, "error", err)
	}
	return true
}

// rowsTold is how many rows are copied from one line of the log to the next.
const rowsTold = 1_000_000

// seed gives the stores of a cluster that begins what it is to begin with, which may be nil: then it gives them nothing. An earlier start may have
// begun to, with the same.
func (n *node) seed(ctx context.Context, disk *driver.Disk, a *adopted) error {
	switch fresh, formed, err := n.id.Fresh(); {
	case err != nil:
		return err
	case !fresh || !formed:
		return nil
	}
	if err := asFormed(n.c, n.id); err != nil {
		return err
	}
	total := 0
	for i := range n.c.Stores {
		id := event.StoreID(i)
		if a == nil {
			if err := disk.Seed(replica.Group(id), nil); err != nil {
				return err
			}
			continue
		}
		copied := 0
		rows := a.rows(id, n.c.Stores, func(rows int) {
			if copied = rows; copied%rowsTold == 0 {
				n.log.Info("rows are copied", "from", n.c.Adopt, "store", id, "rows", copied)
			}
		})
		of := store.Identity{Store: store.NewStoreID(), Program: n.c.Package.Name}
		err := disk.Seed(replica.Group(id), func(e store.Engine) error { return archive.Restore(e, of, id, untilToldToEnd(ctx, rows)) })
		if err != nil {
			return fmt.Errorf("--adopt: %w", store.In(n.c.Adopt, err))
		}
		total += copied
	}
	if a != nil {
		if err := toldToEnd(ctx); err != nil { // the last row may be long ago: what was copied is synced
			return fmt.Errorf("--adopt: %w", err)
		}
		if err := n.noteAdopted(); err != nil {
			return fmt.Errorf("--adopt: %w", err)
		}
		n.log.Info("the cluster begins with what there was", "from", n.c.Adopt, "stores", n.c.Stores, "rows", total)
	}
	return nil
}

// noteAdopted notes in the directory that is adopted that it is: before the cluster begins, as a start that is ended between the two is made again, and one
// behind them does not look there.
func (n *node) noteAdopted() error {
	dir, err := filepath.Abs(n.c.State.Dir)
	if err != nil {
		return err
	}
	return archive.Adopt(archive.AdoptedError{Dir: n.c.Adopt, Cluster: n.id.Cluster, Node: dir})
}

// untilToldToEnd returns rows, and an error among them if a signal has come: a copy may take long, and a cluster that is not wanted should not begin behind it.
func untilToldToEnd(ctx context.Context, rows archive.RowSource) archive.RowSource {
	return func(f func(key, row []byte) error) error {
		return rows(func(key, row []byte) error {
			if err := toldToEnd(ctx); err != nil {
				return err
			}
			return f(key, row)
		})
	}
}

// toldToEnd returns an error if a signal has come.
func toldToEnd(ctx context.Context) error {
	if told := context.Cause(ctx); told != nil {
		return fmt.Errorf("%w; to go on, start the node again with the same flags", told)
	}
	return nil
}
