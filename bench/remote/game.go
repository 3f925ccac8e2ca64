package remote

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
)

// The game of the dissertation's section 4.4.5: a steakhouse for each node, ten grills in each, of which a cook uses four.
const (
	houses     = 2
	grillsEach = 10
	grillsUsed = 4
)

// Game measures requests of cooks, each of which is one client. ownership percent of them abandon a grill for another one of the house, which changes ownership; the others put a steak
// on a grill. Every other grill of a house is on the other node.
func Game(dir string, peer Peer, cooks, ownership int) (load.System, error) {
	n, err := openNear(dir, peer.Address(), false)
	if err != nil {
		return load.System{}, err
	}
	var grills [houses][]app.GrillRef
	staff := make([]app.CookRef, cooks)
	if err := n.openGame(&grills, staff); err != nil {
		return load.System{}, errors.Join(err, n.close())
	}
	var put atomic.Int64
	return load.System{
		NewClient: func(i, _ int) load.Client {
			cl := n.System.Client()
			uses := firstGrills(i)
			return func(r *rand.Rand) error {
				which := r.IntN(grillsUsed)
				if r.IntN(100) >= ownership {
					_, err := staff[i].Use(cl, int64(which))
					if err == nil {
						put.Add(1)
					}
					return err
				}
				other := r.IntN(grillsEach)
				for slices.Contains(uses, other) {
					other = r.IntN(grillsEach)
				}
				uses[which] = other
				return staff[i].Swap(cl, int64(which), grills[i%houses][other])
			}
		},
		Check: func() error {
			var sum int64
			for _, house := range grills {
				for _, g := range house {
					k, err := g.Count(n.System.Client())
					if err != nil {
						return err
					}
					sum += k
				}
			}
			if sum != put.Load() {
				return fmt.Errorf("there are %d steaks on the grills, and %d were put there", sum, put.Load())
			}
			return nil
		},
		Retries: n.withdrawn,
		Notes:   n.notes,
		Close:   func() { _ = n.close() },
	}, nil
}

// firstGrills draws which grills a cook uses at first.
func firstGrills(cook int) []int {
	return rand.New(rand.NewPCG(uint64(cook), 7)).Perm(grillsEach)[:grillsUsed]
}

// openGame makes the houses, one at each node, with their grills, and the staff, which is divided among them.
func (n *node) openGame(grills *[houses][]app.GrillRef, staff []app.CookRef) error {
	cl := n.System.Client()
	house := func(h int) app.HouseRef {
		return app.HouseRef{Ref: n.named(&app.AeonClassHouse, near+event.NodeID(h), h)}
	}
	for h := range grills {
		for i := range grillsEach {
			grills[h] = append(grills[h], app.GrillRef{Ref: n.named(&app.AeonClassGrill, near+event.NodeID((h+i)%houses), h*grillsEach+i)})
		}
		if err := house(h).Open(cl, aeonrt.VectorOf(grills[h]...)); err != nil {
			return err
		}
	}
	for i := range staff {
		h := i % houses
		staff[i] = app.CookRef{Ref: n.named(&app.AeonClassCook, near+event.NodeID(h), i)}
		var uses []app.GrillRef
		for _, g := range firstGrills(i) {
			uses = append(uses, grills[h][g])
		}
		if err := house(h).Hire(cl, staff[i], aeonrt.VectorOf(uses...)); err != nil {
			return err
		}
	}
	return nil
}
