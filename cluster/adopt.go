package cluster

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// openAlone opens the directory of a program that ran alone, with whose actors the cluster is to begin; nil: it begins with none, or has begun.
func openAlone(c *aeonrt.ClusterConfig) (store.Engine, error) {
	if c.Adopt == "" {
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
	o := c.StateOptions()
	o.MustExist = true
	e, err := c.OpenEngine(c.Adopt, o)
	if err != nil {
		return nil, fmt.Errorf("--adopt: %w", err)
	}
	if err := store.RequireFormat(e, c.Adopt); err != nil {
		return nil, errors.Join(fmt.Errorf("--adopt: %w", err), e.Close())
	}
	return e, nil
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

// seed gives the stores of a cluster that begins what is in alone, which may be nil: then it gives it nothing. An earlier start may have begun to.
func (n *node) seed(disk *driver.Disk, alone store.Engine) error {
	switch fresh, formed, err := n.id.Fresh(); {
	case err != nil:
		return err
	case !fresh || !formed:
		return nil
	case alone == nil:
		for id := range n.c.NewStores() {
			if err := disk.Seed(replica.Group(id), nil); err != nil {
				return err
			}
		}
		return nil
	}
	copied := 0
	rows := archive.RowsOf(alone, func(rows int) {
		if copied = rows; copied%rowsTold == 0 {
			n.log.Info("rows are copied", "from", n.c.Adopt, "rows", copied)
		}
	})
	id := store.Identity{Store: store.NewStoreID(), Program: n.c.Package.Name}
	err := disk.Seed(replica.Group(firstStore), func(e store.Engine) error { return archive.Restore(e, id, rows) })
	if err != nil {
		return fmt.Errorf("--adopt: %w", store.In(n.c.Adopt, err))
	}
	n.log.Info("the cluster begins with what a program had that ran alone", "from", n.c.Adopt, "rows", copied)
	return nil
}
