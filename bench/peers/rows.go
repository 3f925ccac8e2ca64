package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/bench/load"
)

// pebbleRows opens a store with that many rows, each a key of 16 bytes and 100 bytes under it.
func pebbleRows(dir string, rows int) (*pebble.DB, error) {
	db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(1, 1))
	b, value := db.NewBatch(), make([]byte, valueBytes)
	for i := range rows {
		binary.BigEndian.PutUint64(value, r.Uint64())
		if err := b.Set(rowKey(i), value, nil); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		if b.Count() == 1000 || i == rows-1 {
			if err := b.Commit(pebble.NoSync); err != nil {
				return nil, errors.Join(err, db.Close())
			}
			b = db.NewBatch()
		}
	}
	return db, nil
}

func rowKey(i int) []byte {
	key := make([]byte, 16)
	binary.BigEndian.PutUint64(key[8:], uint64(i))
	return key
}

// hasRow reads a row.
func hasRow(db *pebble.DB, i int) error {
	value, closer, err := db.Get(rowKey(i))
	if err != nil {
		return err
	}
	if len(value) != valueBytes {
		err = fmt.Errorf("row %d has %d bytes", i, len(value))
	}
	return errors.Join(err, closer.Close())
}

// PebbleOpen is the limit for opening a store: nothing but opening it, reading one of its
// rows, or all in order, and closing it.
func PebbleOpen(dir string, rows int, all bool) (load.System, error) {
	db, err := pebbleRows(dir, rows)
	if err != nil {
		return load.System{}, err
	}
	if err := db.Close(); err != nil {
		return load.System{}, err
	}
	read := func(db *pebble.DB, r *rand.Rand) error { return hasRow(db, r.IntN(rows)) }
	if all {
		read = func(db *pebble.DB, _ *rand.Rand) error { return scan(db, rows) }
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				db, err := pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
				if err != nil {
					return err
				}
				return errors.Join(read(db, r), db.Close())
			}
		},
	}, nil
}

// scan reads everything in order.
func scan(db *pebble.DB, rows int) error {
	it, err := db.NewIter(nil)
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if len(it.Value()) == valueBytes {
			n++
		}
	}
	if n != rows {
		err = fmt.Errorf("there are %d rows, not %d", n, rows)
	}
	return errors.Join(err, it.Close())
}

// PebbleGet is the limit for reading one of many: a get, uniform over all rows.
func PebbleGet(dir string, rows int) (load.System, error) {
	db, err := pebbleRows(dir, rows)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error { return hasRow(db, r.IntN(rows)) }
		},
		Close: func() { db.Close() },
	}, nil
}

// PebbleSet is the limit for one insertion: a key of 16 bytes and 8 bytes under it, synced.
func PebbleSet(dir string) (load.System, error) {
	db, err := pebbleRows(dir, 0)
	if err != nil {
		return load.System{}, err
	}
	return load.System{
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				key := binary.BigEndian.AppendUint64(make([]byte, 8, 16), r.Uint64())
				return db.Set(key, key[8:], pebble.Sync)
			}
		},
		Close: func() { db.Close() },
	}, nil
}
