package peers

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"go.etcd.io/bbolt"

	"github.com/aeon-lang/aeon/bench/load"
)

func accountKey(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }

func amount(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// Badger transfers in badger's serializable transactions, each synced. A transaction that
// conflicts is made again.
func Badger(dir string, hot bool) (load.System, error) {
	opts := badger.DefaultOptions(filepath.Join(dir, "badger")).WithSyncWrites(true).WithLogger(quiet{})
	db, err := badger.Open(opts)
	if err != nil {
		return load.System{}, err
	}
	batch := db.NewWriteBatch()
	for i := range load.Accounts {
		if err := batch.Set(accountKey(i), amount(initialBalance)); err != nil {
			return load.System{}, err
		}
	}
	if err := batch.Flush(); err != nil {
		return load.System{}, err
	}
	var retries atomic.Int64
	return load.System{
		Retries: retries.Load,
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				for {
					err := db.Update(func(tx *badger.Txn) error { return badgerTransfer(tx, from, to) })
					if !errors.Is(err, badger.ErrConflict) {
						return err
					}
					retries.Add(1)
				}
			}
		},
		Check: func() error {
			err := db.Close()
			if err != nil {
				return err
			}
			if db, err = badger.Open(opts); err != nil {
				return err
			}
			var sum int64
			return errors.Join(db.View(func(tx *badger.Txn) error {
				for i := range load.Accounts {
					balance, err := badgerBalance(tx, i)
					if err != nil {
						return err
					}
					sum += balance
				}
				return nil
			}), conserved(sum))
		},
		Close: func() { db.Close() },
	}, nil
}

func badgerBalance(tx *badger.Txn, account int) (int64, error) {
	item, err := tx.Get(accountKey(account))
	if err != nil {
		return 0, err
	}
	var balance int64
	err = item.Value(func(v []byte) error {
		balance = int64(binary.BigEndian.Uint64(v))
		return nil
	})
	return balance, err
}

func badgerTransfer(tx *badger.Txn, from, to int) error {
	a, err := badgerBalance(tx, from)
	if err != nil {
		return err
	}
	b, err := badgerBalance(tx, to)
	if err != nil {
		return err
	}
	if a < 1 {
		return errNotEnough
	}
	if err := tx.Set(accountKey(from), amount(a-1)); err != nil {
		return err
	}
	return tx.Set(accountKey(to), amount(b+1))
}

var errNotEnough = errors.New("not enough")

var boltAccounts = []byte("accounts")

// Bolt transfers in bbolt's transactions: those of concurrent clients are batched, a single
// client's are not, because a batch waits for more transactions; it goes as soon as those of
// all clients are in it.
func Bolt(dir string, callers int, hot bool) (load.System, error) {
	path := filepath.Join(dir, "bolt")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return load.System{}, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(boltAccounts)
		if err != nil {
			return err
		}
		for i := range load.Accounts {
			if err := b.Put(accountKey(i), amount(initialBalance)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return load.System{}, err
	}
	db.MaxBatchSize = min(db.MaxBatchSize, callers)
	return load.System{
		NewClient: func(int, int) load.Client {
			commit := db.Batch
			if callers == 1 {
				commit = db.Update
			}
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				return commit(func(tx *bbolt.Tx) error { return boltTransfer(tx.Bucket(boltAccounts), from, to) })
			}
		},
		Check: func() error {
			err := db.Close()
			if err != nil {
				return err
			}
			if db, err = bbolt.Open(path, 0o600, nil); err != nil {
				return err
			}
			var sum int64
			return errors.Join(db.View(func(tx *bbolt.Tx) error {
				return tx.Bucket(boltAccounts).ForEach(func(_, v []byte) error {
					sum += int64(binary.BigEndian.Uint64(v))
					return nil
				})
			}), conserved(sum))
		},
		Close: func() { db.Close() },
	}, nil
}

func boltTransfer(b *bbolt.Bucket, from, to int) error {
	a := int64(binary.BigEndian.Uint64(b.Get(accountKey(from))))
	if a < 1 {
		return fmt.Errorf("account %d: %w", from, errNotEnough)
	}
	if err := b.Put(accountKey(from), amount(a-1)); err != nil {
		return err
	}
	c := int64(binary.BigEndian.Uint64(b.Get(accountKey(to))))
	return b.Put(accountKey(to), amount(c+1))
}
