//go:build linux

package cluster

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/aeon-lang/aeon/cluster/status"
)

// figures returns what a node counts, by name and labels as "name{label=value,…}".
func (w *world) figures(i int) map[string]float64 {
	w.t.Helper()
	answer, err := http.Get("http://" + w.http[i] + "/metrics")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s (%v)", answer.Status, text, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		w.t.Fatal(err)
	}
	found := make(map[string]float64)
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				if l.GetName() != "cluster" {
					labels = append(labels, l.GetName()+"="+l.GetValue())
				}
			}
			found[name+"{"+strings.Join(labels, ",")+"}"] = m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return found
}

// A cluster of one store: what it shows, and whom it answers, as long as it has a majority.
func TestOneStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.part("figures", func(t *testing.T) { figuresOfNodes(t, w) })
	w.part("unheard", func(t *testing.T) { aNodeThatAnotherOneHearsIsNotLost(t, w) })
	w.part("asked", func(t *testing.T) { operatorsAskAnyNode(t, w) })
	w.part("majority", func(t *testing.T) { clientsWithoutAMajority(t, w) })
}

// Each node shows what it counts itself, and the one that runs the actors alone what its system counts. Any node says how all are.
func figuresOfNodes(t *testing.T, w *world) {
	c := w.begin("figures")
	c.rest.Store(int64(10 * thinks)) // some calls are measured at any time
	c.goesOn(50)
	leader := w.leader()
	eventually(t, "calls are measured", func() (bool, any) {
		for i := range nodes {
			s, err := w.status(i)
			if err != nil {
				return false, err
			}
			for _, n := range s.Nodes {
				if leads := n.Listen == w.http[leader]; leads != (n.P99 > 0) || leads != (n.Events > 0) || n.Sync == 0 || n.State != status.Serving || n.About {
					return false, n
				}
			}
		}
		return true, nil
	})
	s, err := w.status(leader)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		f := w.figures(i)
		own := s.Nodes[slices.IndexFunc(s.Nodes, func(n status.Node) bool { return n.Listen == w.http[i] })]
		up, sent := 0.0, 0.0
		for _, peer := range []string{"1", "2", "3"} {
			up += f["aeon_transport_up{peer="+peer+"}"]
			sent += f["aeon_transport_messages_sent_total{peer="+peer+"}"]
		}
		_, runs := f["aeon_events_committed_total{}"]
		switch {
		case runs != (i == leader):
			t.Errorf("node %d shows what the system counts: %v", i, runs)
		case up != 2 || sent == 0 || f[fmt.Sprintf("aeon_node_info{node=%d,name=%s}", own.ID, own.Name)] != 1:
			t.Errorf("node %d: sessions with %v nodes, %v messages sent", i, up, sent)
		case f["aeon_store_leader{store=0}"] != float64(s.Stores[0].Leader) || f["aeon_store_term{store=0}"] < 1 || f["aeon_store_log_entries{store=0}"] < 1 || f["aeon_store_replicas{store=0}"] != 3:
			t.Errorf("node %d: the store has the leader %v, the term %v, %v entries, %v replicas", i, f["aeon_store_leader{store=0}"], f["aeon_store_term{store=0}"], f["aeon_store_log_entries{store=0}"], f["aeon_store_replicas{store=0}"])
		case f["aeon_placement_members{}"] != 3 || f["aeon_placement_voters{}"] != 3 || f["aeon_placement_leader{}"] == 0 || f["aeon_placement_version{}"] == 0 || f["aeon_log_sync_seconds{}"] == 0:
			t.Errorf("node %d: of the placement it has %v members, %v voters, the leader %v, the version %v, and %v syncs of its log", i,
				f["aeon_placement_members{}"], f["aeon_placement_voters{}"], f["aeon_placement_leader{}"], f["aeon_placement_version{}"], f["aeon_log_sync_seconds{}"])
		}
	}
	// What a node that does not answer had to do is known from its last answer, and marked as such.
	other := w.follower()
	w.signal(leader, syscall.SIGSTOP)
	w.await("the last figures of the silent node are shown", func(s *status.Status) bool {
		i := slices.IndexFunc(s.Nodes, func(n status.Node) bool { return n.Listen == w.http[leader] })
		n := s.Nodes[i]
		return n.State == status.Silent && n.About && n.Actors > 0 && strings.Contains(s.String(), "~")
	}, other)
	w.signal(leader, syscall.SIGCONT)
	w.well()
	c.end()
}
