package remote

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/runtime/event"
)

// CommitPart is the far node of TwoPhaseCommit.
const CommitPart = "two-phase commit"

// The kinds of its messages, which begin with the number of the client, the kind and a key.
const (
	prepare byte = iota
	decide
)

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) { panic("pebble has failed") }

func openPebble(dir string) (*pebble.DB, error) {
	return pebble.Open(filepath.Join(dir, "pebble"), &pebble.Options{Logger: quiet{}})
}

// participant writes what it is asked to, and answers when that is durable.
type participant struct {
	*line
	db      *pebble.DB
	writing sync.WaitGroup
}

func (*participant) Up(event.NodeID)   {}
func (*participant) Down(event.NodeID) {}

// set writes a value of 100 bytes under one of the keys of accounts.
func set(db *pebble.DB, key uint64, o *pebble.WriteOptions) error {
	var k [16]byte
	var value [100]byte
	binary.BigEndian.PutUint64(k[8:], key)
	binary.LittleEndian.PutUint64(value[:], key)
	return db.Set(k[:], value[:], o)
}

func (p *participant) Message(from event.NodeID, m []byte) {
	key := binary.LittleEndian.Uint64(m[5:])
	if m[4] == decide {
		if err := set(p.db, key, pebble.NoSync); err != nil {
			panic(err)
		}
		return
	}
	answer := append([]byte(nil), m...)
	p.writing.Go(func() { // so that many share a sync
		if err := set(p.db, key, pebble.Sync); err != nil {
			panic(err)
		}
		p.Send(from, answer)
	})
}

// ServeCommit is the server.Part of CommitPart.
func ServeCommit(dir string) (address string, close func() error, err error) {
	db, err := openPebble(dir)
	if err != nil {
		return "", nil, err
	}
	p := &participant{db: db}
	if _, err = open(dir, "", func(l *line) listener {
		p.line = l
		return p
	}); err != nil {
		return "", nil, errors.Join(err, db.Close())
	}
	return p.port.Addr().String(), func() error {
		err := p.close()
		p.writing.Wait()
		return errors.Join(err, db.Close())
	}, nil
}

// TwoPhaseCommit is a limit for events over two durable nodes: no actors, no locks and nothing that a crash would need, but two-phase commit by hand over the same
// session. The other node makes a write durable and answers; then this node makes its own durable, which is the decision, and tells it.
func TwoPhaseCommit(dir string, peer Peer, clients int) (load.System, error) {
	db, err := openPebble(filepath.Join(dir, nearDir))
	if err != nil {
		return load.System{}, err
	}
	a, l, err := openAnswers(dir, peer.Address(), clients)
	if err != nil {
		return load.System{}, errors.Join(err, db.Close())
	}
	var keys atomic.Uint64
	return load.System{
		NewClient: func(i, _ int) load.Client {
			return func(*rand.Rand) error {
				key := keys.Add(1) % load.Accounts
				if !l.Send(far, newMessage(i, prepare, key)) {
					return errSession
				}
				if _, err := awaited(l, a.waiting[i]); err != nil {
					return err
				}
				if err := set(db, key, pebble.Sync); err != nil {
					return err
				}
				if !l.Send(far, newMessage(i, decide, key)) {
					return errSession
				}
				return nil
			}
		},
		Close: func() {
			_ = l.close()
			_ = db.Close()
		},
	}, nil
}
