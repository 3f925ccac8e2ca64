package image_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
	"github.com/aeon-lang/aeon/runtime/value"
)

// If any read of a map or a vector fails, below a scan or for one element, while it stays in the store or comes into
// memory, the store fails by that error, and reports no missing element.
func TestAReadThatFailsIsNoDamage(t *testing.T) {
	const size = 400
	s := newShop(t)
	a := withPrices(size)
	for i := range size {
		value.Push(&a.line, key(i))
	}
	s.save(a, true, nil, 0, 1, 2)
	acts := map[string]func(*actor){
		"keys":     func(a *actor) { a.prices.Keys() },
		"entries":  func(a *actor) { value.Each(a.prices, func(string, int64) bool { return true }) },
		"elements": func(a *actor) { a.line.Items() },
		"last": func(a *actor) {
			a.prices.At(key(size - 1))
			a.line.At(size - 1)
		},
		"some": func(a *actor) {
			for i := range size / 4 {
				a.prices.At(key(i))
				a.line.At(int64(i))
			}
		},
		"change": func(a *actor) {
			value.Push(&a.line, "new")
			value.SetEntry(&a.prices, "new", 1)
			a.prices.Keys()
			a.line.Items()
		},
	}
	for what, act := range acts {
		for _, loads := range []int64{0, 1000} {
			failures := 0
			for n := int64(0); ; n += 1 + n/20 {
				f := &memengine.Faulty{Reader: s.engine, Err: syscall.EIO}
				f.Left.Store(n)
				budget := &shelf{}
				budget.loads.Store(loads)
				err := lostBy(func() error {
					a := &actor{}
					if err := image.NewReader(f, actorID, s.layout, nil).Within(budget).Read(a); err != nil {
						return err
					}
					act(a)
					act(a)
					return nil
				})
				if f.Fails.Load() == 0 {
					break
				}
				failures++
				if err == nil {
					t.Errorf("%s, %d loads: read %d has failed, and nothing was said", what, loads, n)
				}
				for _, err := range []error{err, f.Told()} {
					if err != nil && (errors.Is(err, store.ErrCorrupt) || !errors.Is(err, syscall.EIO)) {
						t.Errorf("%s, %d loads: read %d has failed: %v", what, loads, n, err)
					}
				}
			}
			if failures < 2 {
				t.Errorf("%s, %d loads: %d reads have failed", what, loads, failures)
			}
		}
	}
}

// lostBy returns what f returns, or what it panics with because something cannot be read.
func lostBy(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(*value.Unreadable)
		}
	}()
	return f()
}
