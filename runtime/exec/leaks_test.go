package exec

import (
	"runtime"
	"testing"
)

// Of actors that were deleted nothing stays in memory, also where no limit on memory is set, so that no hand comes by.
func TestDeletedActorsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	const rounds, each = 20, 200
	for range rounds {
		for range each {
			mustNot(t, n.cl.Delete(n.fresh().Ref))
		}
		if got := n.sys.durable.resident.count(); got > 2*each {
			t.Fatalf("the states of %d actors are kept, all of which were deleted", got)
		}
	}
	collected(func() bool {
		live, loose := n.sys.durable.actors.count()
		return live == 0 && loose <= n.sys.durable.resident.count()
	})
	n.close()
}

// Of client objects that were stored and have gone hardly anything stays once nobody refers to them.
func TestGoneClientsLeaveNothing(t *testing.T) {
	n := startNode(t, Config{})
	c := &n.sys.objects
	for range 20 * pruneMin {
		cl := n.sys.Client()
		number := NewClientObject(cl, &ClientObject{}, nil).Stored()
		cl.Close()
		NewClientObject(cl, &ClientObject{}, nil).Stored() // later than that
		if n.sys.ResolveClient(number).IsNull() {
			t.Error("it is null")
		}
		if len(c.live) > 0 {
			t.Fatalf("%d objects are taken to be there", len(c.live))
		}
	}
	for i := range 60 * pruneMin { // others, who are not there any more either
		if i%pruneMin == 0 {
			runtime.GC()
		}
		c.last++
		n.sys.ResolveClient(c.last)
	}
	if got := len(c.gone); got > 20*pruneMin {
		t.Errorf("%d objects are remembered", got)
	}
	n.close()
}
