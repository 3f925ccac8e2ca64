package memengine_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

func content(t rapid.TB, r store.Reader) map[string]string {
	t.Helper()
	m := map[string]string{}
	it := r.Scan(nil, []byte{0xff})
	last := ""
	for it.Next() {
		k := string(it.Key())
		if k <= last && last != "" {
			t.Fatalf("key %q comes after %q", k, last)
		}
		m[k], last = string(it.Value()), k
		if v, ok, err := r.Get(it.Key(), nil); !ok || err != nil || string(v) != m[k] {
			t.Fatalf("Get(%q) = %q, %v, %v; the scan has %q", k, v, ok, err, m[k])
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	back := r.Scan(nil, []byte{0xff})
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m))) {
		if !back.Prev() || string(back.Key()) != k || string(back.Value()) != m[k] {
			t.Fatalf("a scan from the end does not have %q", k)
		}
	}
	if back.Prev() || back.Close() != nil {
		t.Fatal("a scan from the end does not end")
	}
	return m
}

// Random batches, syncs, snapshots and crashes, beside a list of what the content was.
func TestEngineIsWhatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, crashes := memengine.New(), rapid.Bool().Draw(t, "crashes")
		if !crashes {
			e = memengine.NewVolatile()
		}
		history := []map[string]string{{}} // after each batch
		synced := 0
		type kept struct {
			s  store.Snapshot
			at int
		}
		var snapshots []kept
		key := rapid.StringMatching(`[abc]{1,2}`)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if err := e.Sync(); err != nil {
					t.Fatal(err)
				}
				synced = len(history) - 1
			case 1:
				snapshots = append(snapshots, kept{e.Snapshot(), len(history) - 1})
			case 2:
				if !crashes {
					break
				}
				lost := 0
				c := e.Crash(func(n int) int {
					if n != len(history)-1-synced {
						t.Fatalf("%d batches can be lost, want %d", n, len(history)-1-synced)
					}
					lost = rapid.IntRange(0, n).Draw(t, "lost")
					return n - lost
				})
				if got := content(t, c); !maps.Equal(got, history[len(history)-1-lost]) {
					t.Fatalf("a crash that loses %d batches leaves %v", lost, got)
				}
			default:
				b, next := e.NewBatch(), maps.Clone(history[len(history)-1])
				for range rapid.IntRange(0, 4).Draw(t, "changes") {
					k := key.Draw(t, "key")
					switch rapid.IntRange(0, 4).Draw(t, "change") {
					case 0:
						b.Delete([]byte(k))
						delete(next, k)
					case 1:
						to := key.Draw(t, "to")
						b.DeleteRange([]byte(k), []byte(to))
						maps.DeleteFunc(next, func(o, _ string) bool { return k <= o && o < to })
					default:
						v := fmt.Sprint(len(history))
						b.Set([]byte(k), []byte(v))
						next[k] = v
					}
				}
				if err := e.Apply(b); err != nil {
					t.Fatal(err)
				}
				history = append(history, next)
			}
			if got := content(t, e); !maps.Equal(got, history[len(history)-1]) {
				t.Fatalf("the content is %v, want %v", got, history[len(history)-1])
			}
		}
		for _, k := range snapshots {
			if got := content(t, k.s); !maps.Equal(got, history[k.at]) {
				t.Fatalf("the snapshot after batch %d has %v, want %v", k.at, got, history[k.at])
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, e.Reopen()); !maps.Equal(got, history[len(history)-1]) {
			t.Fatalf("reopened: %v", got)
		}
	})
}

func TestFailedEngineStaysFailed(t *testing.T) {
	e := memengine.New()
	broken := errors.New("broken")
	e.Fail(broken)
	for range 2 {
		if err := e.Apply(e.NewBatch()); !errors.Is(err, broken) {
			t.Errorf("Apply: %v", err)
		}
		if err := e.Sync(); !errors.Is(err, broken) {
			t.Errorf("Sync: %v", err)
		}
	}
	if e.Applied() != 0 {
		t.Errorf("%d batches were applied", e.Applied())
	}
}
