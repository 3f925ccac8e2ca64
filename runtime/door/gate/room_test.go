package gate

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

// No caller, and without tokens no connection, takes the room of the arguments of all others.
func TestNoneTakesTheRoomOfAll(t *testing.T) {
	for _, c := range []struct{ bodies, each int64 }{{8000, 2}, {1500, 1}} { // one request of the largest size has room in any case
		g := New(Config{BodyMax: 1000, BodiesMax: c.bodies, Log: slog.New(slog.DiscardHandler)})
		for _, of := range [][2]*Request{
			{{By: &access.Caller{Name: "ann"}, Remote: "a:1"}, {By: &access.Caller{Name: "bob"}, Remote: "a:1"}},
			{{By: access.Anyone, Remote: "a:1"}, {By: access.Anyone, Remote: "a:2"}},
		} {
			var list []*Request
			hold := func(of *Request, n int64) error {
				q := *of
				list = append(list, &q)
				return g.Hold(&q, n)
			}
			for range c.each {
				if err := hold(of[0], 1000); err != nil {
					t.Error(err)
				}
			}
			for range 2 { // it holds what was read of it, until it is answered
				if err := hold(of[0], 200); err == nil || door.Explain(err).Code != door.Full || !strings.Contains(err.Error(), "of the caller") {
					t.Errorf("of %s: %v", of[0].By.Name, err)
				}
				g.Release(list[len(list)-1])
			}
			if err := hold(of[1], min(1000, c.bodies-1000*c.each)); err != nil {
				t.Errorf("beside it: %v", err)
			}
			if err := hold(&Request{By: &access.Caller{}}, c.bodies); err == nil || !strings.Contains(err.Error(), fmt.Sprint("other requests take ", c.bodies)) {
				t.Errorf("beyond the limit of all: %v", err)
			}
			for _, q := range list {
				g.Release(q)
			}
			if bytes, sources := g.Counts.bodies.Taken(); bytes != 0 || sources != 0 {
				t.Errorf("%d bytes of %d sources are held", bytes, sources)
			}
		}
	}
}
