package peers

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/bench/load"
)

// quiet is a logger of pebble and badger that says nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)    {}
func (quiet) Debugf(string, ...any)   {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Errorf(string, ...any)   {}
func (quiet) Fatalf(f string, a ...any) {
	panic(fmt.Sprintf(f, a...))
}

// AppendAndSync is the limit for one durable operation of one client: 4 KiB appended to a
// file in dir and synced, one after the other.
func AppendAndSync(dir string) (load.System, error) {
	f, err := os.Create(filepath.Join(dir, "append"))
	if err != nil {
		return load.System{}, err
	}
	block := make([]byte, 4096)
	return load.System{
		NewClient: func(int, int) load.Client {
			return func(*rand.Rand) error {
				if _, err := f.Write(block); err != nil {
					return err
				}
				return fdatasync(f)
			}
		},
		Close: func() { f.Close() },
	}, nil
}

// valueBytes is the size of what the limit writes under each key.
const valueBytes = 100

// PebbleBatch is the limit for a durable transfer: no actors and nothing read, a batch of
// two keys of 16 bytes committed with a sync.
func PebbleBatch(dir string, hot bool) (load.System, error) {
	dir = filepath.Join(dir, "pebble")
	open := func() (*pebble.DB, error) {
		return pebble.Open(dir, &pebble.Options{Logger: quiet{}, FS: vfs.Default})
	}
	db, err := open()
	if err != nil {
		return load.System{}, err
	}
	last := []*[2]int{} // what each client has written last
	return load.System{
		NewClient: func(int, int) load.Client {
			mine := new([2]int)
			last = append(last, mine)
			var key [16]byte
			value := make([]byte, valueBytes)
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				*mine = [2]int{from, to}
				b := db.NewBatch()
				for _, account := range mine {
					binary.BigEndian.PutUint64(key[8:], uint64(account))
					binary.BigEndian.PutUint64(value, r.Uint64()) // or it would compress to nothing
					if err := b.Set(key[:], value, nil); err != nil {
						return err
					}
				}
				return b.Commit(pebble.Sync)
			}
		},
		Check: func() error {
			err := db.Close()
			if err != nil {
				return err
			}
			if db, err = open(); err != nil {
				return err
			}
			for _, pair := range last {
				for _, account := range pair {
					var key [16]byte
					binary.BigEndian.PutUint64(key[8:], uint64(account))
					value, closer, err := db.Get(key[:])
					if err != nil {
						return fmt.Errorf("account %d: %w", account, err)
					}
					if len(value) != valueBytes {
						return fmt.Errorf("account %d has %d bytes", account, len(value))
					}
					closer.Close()
				}
			}
			return nil
		},
		Close: func() { db.Close() },
	}, nil
}
