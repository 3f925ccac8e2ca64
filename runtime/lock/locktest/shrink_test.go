package locktest

import (
	"testing"

	"github.com/aeon-lang/aeon/runtime/lock/locktest/scene"
)

// TestShrink plants a bug, and wants it explained in a few moves.
func TestShrink(t *testing.T) {
	viewFaults.releaseEarly = true
	defer func() { viewFaults.releaseEarly = false }()
	s := &search{limit: 5000}
	_, f := s.explore(scene.Seeded(scene.Graphs(), 11, scene.Options{Still: true}))
	if f == nil {
		t.Fatal("the planted bug was not found")
	}
	g := s.shrink(f)
	t.Logf("from %d moves to %d\n%v%s", len(f.moves), len(g.moves), g.c, g.replay())
	if len(g.moves) > 4 || g.class() != f.class() {
		t.Errorf("%d moves are left, of %d", len(g.moves), len(f.moves))
	}
}
