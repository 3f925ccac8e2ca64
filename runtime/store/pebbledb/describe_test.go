package pebbledb

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/runtime/store"
)

// The first fault of the file system explains an error of pebble's that explains nothing, and what pebble takes for
// damage while it opens the store. Damage that pebble finds later is damage.
func TestTheFirstFaultIsTold(t *testing.T) {
	fault := error(&os.PathError{Op: "read", Path: "data/db/000004.sst", Err: syscall.EIO})
	unexplained := errors.New("pebble: element has outstanding references")
	for _, c := range []struct {
		name    string
		err     error
		opening bool
		damage  bool
	}{
		{"unexplained, as it opens", unexplained, true, false},
		{"unexplained, later", unexplained, false, false},
		{"damage, as it opens", pebble.ErrCorruption, true, false},
		{"damage, later", pebble.ErrCorruption, false, true},
	} {
		d := &DB{dir: "data"}
		d.opening.Store(c.opening)
		if before := d.describe(c.err); errors.Is(before, syscall.EIO) {
			t.Errorf("%s, without a fault: %v", c.name, before)
		}
		d.fault.Store(&fault)
		err := d.describe(c.err)
		if errors.As(err, new(*DiskError)) == c.damage || errors.Is(err, fault) == c.damage || errors.Is(err, store.ErrCorrupt) != c.damage {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
