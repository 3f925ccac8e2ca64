package dominator_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/dominator"
)

// placed returns n fresh nodes with numbers from 1 on, below the node of a partition.
func placed(g *dominator.Graph, n int) (partition *dominator.Node, list []dominator.Placed) {
	partition = &dominator.Node{}
	g.NewPartition(partition)
	nodes := make([]dominator.Node, n)
	list = make([]dominator.Placed, n)
	for i := range nodes {
		nodes[i].ID = uint64(i + 1)
		list[i] = dominator.Placed{Node: &nodes[i], Parent: partition}
	}
	return partition, list
}

func TestRestoreRefusesWhatIsNoGraph(t *testing.T) {
	for name, damage := range map[string]func(list []dominator.Placed) []dominator.Edit{
		"parent missing": func(list []dominator.Placed) []dominator.Edit {
			list[1].Parent = &dominator.Node{ID: 77}
			return nil
		},
		"tree with a cycle": func(list []dominator.Placed) []dominator.Edit {
			list[1].Parent, list[2].Parent = list[2].Node, list[1].Node
			return nil
		},
		"ownership cycle": func(list []dominator.Placed) []dominator.Edit {
			list[1].Parent, list[1].Units = list[0].Node, 1
			return []dominator.Edit{{Owner: list[1].Node, Child: list[2].Node, Units: 1}, {Owner: list[2].Node, Child: list[0].Node, Units: 1}}
		},
		"owner missing": func(list []dominator.Placed) []dominator.Edit {
			return []dominator.Edit{{Owner: &dominator.Node{ID: 77}, Child: list[0].Node, Units: 1}}
		},
		"no units": func(list []dominator.Placed) []dominator.Edit {
			return []dominator.Edit{{Owner: list[1].Node, Child: list[0].Node}}
		},
		"virtual owner": func(list []dominator.Placed) []dominator.Edit {
			list[0].Units = 1
			return nil
		},
	} {
		g := dominator.New()
		_, list := placed(g, 3)
		if err := g.Restore(list, damage(list)); !errors.Is(err, dominator.ErrRestore) {
			t.Errorf("%s: Restore gave %v", name, err)
		}
	}
}

// A million nodes: 1000 owners with 999 children each, of which a hundredth are shared with
// the owner before. Beside it, what building the same graph by events' calls costs.
func BenchmarkRestore(b *testing.B) {
	const owners, children = 1000, 999
	var restored, built time.Duration
	for b.Loop() {
		g := dominator.New()
		_, list := placed(g, owners*(children+1))
		var shared []dominator.Edit
		for i := range list {
			if at := i % (children + 1); at > 0 {
				list[i].Parent, list[i].Units = list[i-at].Node, 1
				if at%100 == 0 && i > children {
					list[i].Parent = list[0].Parent
					list[i].Units = 0
					shared = append(shared, dominator.Edit{Owner: list[i-at].Node, Child: list[i].Node, Units: 1},
						dominator.Edit{Owner: list[i-at-children-1].Node, Child: list[i].Node, Units: 1})
				}
			}
		}
		start := time.Now()
		if err := g.Restore(list, shared); err != nil {
			b.Fatal(err)
		}
		restored += time.Since(start)

		h := dominator.New()
		partition, list := placed(h, owners*(children+1))
		start = time.Now()
		for i := range list {
			if at := i % (children + 1); at == 0 {
				h.NewRoot(list[i].Node, partition)
			} else {
				h.NewChild(list[i-at].Node, list[i].Node)
			}
		}
		built += time.Since(start)
	}
	b.ReportMetric(restored.Seconds()*1e3/float64(b.N), "ms/restore")
	b.ReportMetric(built.Seconds()*1e3/float64(b.N), "ms/build")
}
