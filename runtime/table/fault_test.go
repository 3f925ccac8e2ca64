package table_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/table"
	"github.com/aeon-lang/aeon/runtime/value"
)

// If any read of a table fails, below a scan or for one row, while it stays in the store or comes into memory, the
// store fails by that error, and reports no missing row.
func TestAReadThatFailsIsNoDamage(t *testing.T) {
	const rows = 300
	e, shape := large(t, rows)
	acts := map[string]func(flights){
		"some by index": func(f flights) {
			f.Select(table.Range(byPriceTo, number(2), number(4), nil)).Size()
		},
		"equal": func(f flights) { f.Select(table.Equal(byPriceTo, number(3))).Size() },
		"change": func(f flights) {
			table.Update(f, "k000003", func(r *flight) { r.price = 99 })
			table.Remove(f, "k000004")
			f.Select(table.Range(byTo, nil, nil, nil)).Size()
			f.Values().Size()
		},
	}
	for what, query := range everyQuery {
		acts[what] = func(f flights) { query(f) }
	}
	for what, act := range acts {
		for budget, bytes := range map[string]int64{"stored": 0, "loaded": plenty} {
			failures := 0
			for n := int64(0); ; n += 1 + n/20 {
				f := &memengine.Faulty{Reader: e, Err: syscall.EIO}
				f.Left.Store(n)
				err := unreadable(func() error {
					a := newAirline(shape)
					if err := image.NewReader(f, id, layout, nil).Within(newRoom(bytes)).Read(a); err != nil {
						return err
					}
					act(a.flights)
					act(a.flights)
					return nil
				})
				if f.Fails.Load() == 0 {
					break
				}
				failures++
				if err == nil {
					t.Errorf("%s, %s: read %d has failed, and nothing was said", what, budget, n)
				}
				for _, err := range []error{err, f.Told()} {
					if err != nil && (errors.Is(err, store.ErrCorrupt) || !errors.Is(err, syscall.EIO)) {
						t.Errorf("%s, %s: read %d has failed: %v", what, budget, n, err)
					}
				}
			}
			if failures < 2 {
				t.Errorf("%s, %s: %d reads have failed", what, budget, failures)
			}
		}
	}
}

// unreadable returns what f returns, or what it panics with because something cannot be read.
func unreadable(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *value.Unreadable:
			err = p
		default:
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
