package pebbledb_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/internal/race"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// pair is the engine and what it is compared with.
type pair struct{ engine, model store.Engine }

// apply applies a batch of random changes to both.
func (p pair) apply(rng *rand.Rand) error {
	mine, models := p.engine.NewBatch(), p.model.NewBatch()
	size := rng.IntN(100)
	if rng.IntN(200) == 0 {
		size = 30 << 10 // three of them are taken alone
	}
	for range 1 + rng.IntN(4) {
		switch key := groupKey(rng.IntN(100), 0); rng.IntN(10) {
		case 0:
			mine.Delete(key)
			models.Delete(key)
		case 1:
			to := groupKey(rng.IntN(100), 0)
			if bytes.Compare(key, to) > 0 {
				key, to = to, key
			}
			mine.DeleteRange(key, to)
			models.DeleteRange(key, to)
		default:
			value := bytes.Repeat([]byte{byte(rng.Uint32())}, size)
			mine.Set(key, value)
			models.Set(key, value)
		}
	}
	if err := p.engine.Apply(mine); err != nil {
		return err
	}
	return p.model.Apply(models)
}

// compare reads the same from both.
func compare(rng *rand.Rand, mine, model store.Reader) error {
	key := groupKey(rng.IntN(100), 0)
	got, ok, err := mine.Get(key, nil)
	want, there, _ := model.Get(key, nil)
	if err != nil || ok != there || !bytes.Equal(got, want) {
		return fmt.Errorf("Get of %x: %d bytes, %v, %v, want %d bytes, %v", key, len(got), ok, err, len(want), there)
	}
	from := rng.IntN(100)
	to := from + rng.IntN(100-from)
	rows, err := scanned(mine, groupKey(from, 0), groupKey(to, 0))
	wanted, _ := scanned(model, groupKey(from, 0), groupKey(to, 0))
	if err != nil || !slices.Equal(rows, wanted) {
		return fmt.Errorf("Scan from %d to %d: %d rows, %v, want %d", from, to, len(rows), err, len(wanted))
	}
	return nil
}

// scanned returns the rows of a range. It goes over them in either direction.
func scanned(r store.Reader, from, to []byte) (rows []string, err error) {
	for _, move := range []func(store.Iterator) bool{store.Iterator.Prev, store.Iterator.Next} {
		it := r.Scan(from, to)
		back := slices.Clone(rows)
		for rows = nil; move(it); {
			rows = append(rows, string(it.Key())+"="+string(it.Value()))
		}
		if err = it.Close(); err != nil {
			return nil, err
		}
		if slices.Reverse(back); back != nil && !slices.Equal(back, rows) {
			return nil, fmt.Errorf("the scan from the end has %v, the other one %v", back, rows)
		}
	}
	return rows, nil
}

// A reader sees what was applied before, whether pebble has taken it, is taking it or not, and a snapshot never
// changes, whatever is synced meanwhile.
func TestReadersSeeWhatIsApplied(t *testing.T) {
	engine, err := pebbledb.OpenSmall(vfs.NewMem(), dataDir, store.EngineOptions{Program: "bank", Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	p := pair{engine, memengine.New()}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := engine.Sync(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	rng := rand.New(rand.NewPCG(1, 2))
	taken := p.snapshots()
	for i := 0; i < 8000/race.Slower && err == nil; i++ {
		if i%1000 == 0 {
			taken.close(t)
			taken = p.snapshots()
		}
		if err = p.apply(rng); err == nil && rng.IntN(3) == 0 {
			err = compare(rng, p.engine, p.model)
		}
		if err == nil && rng.IntN(20) == 0 {
			err = compare(rng, taken.mine, taken.model)
		}
		if err != nil {
			t.Errorf("step %d: %v", i, err)
		}
	}
	close(stop)
	<-stopped
	taken.close(t)
	for _, e := range []store.Engine{p.engine, p.model} {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

type snapshots struct{ mine, model store.Snapshot }

// snapshots returns one of each.
func (p pair) snapshots() snapshots {
	return snapshots{p.engine.Snapshot(), p.model.Snapshot()}
}

func (s snapshots) close(t *testing.T) {
	for _, c := range []store.Snapshot{s.mine, s.model} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
