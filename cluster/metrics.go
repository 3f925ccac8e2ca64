package cluster

import (
	"cmp"
	"strconv"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/transport/grpc"
)

const metricsPath = "/metrics"

// writeMetrics writes what the node counts, with its systems: it implements httpdoor.Config.Metrics for these, too. Each node is asked for its own.
func (n *node) writeMetrics(m *metrics.Writer) {
	n.writeSystems(m)
	m.Process()
	n.writePlacement(m)
	n.writeStores(m)
	if every := n.c.Snapshots.Every(); every > 0 {
		writeSnapshots(m, every, n.clock.Now(), n.c.Snapshots.Last(), n.c.Snapshots.Began())
	}
	m.Histogram("aeon_log_sync_seconds", "Syncs of the log of this node, which all its stores share.", n.driver.Syncs())
	writeTransport(m, n.transport.Metrics())
	n.spans.WriteMetrics(m, "aeon_front_spans")
}

// writeSystems writes what the systems count that the node runs. Of several stores each sample that is of one has its number, also if the node leads no other one.
func (n *node) writeSystems(m *metrics.Writer) {
	several, begun := len(n.placement.State().Stores) > 1, false
	for _, h := range n.holders.all() {
		s := h.runs()
		if s == nil {
			continue
		}
		if !begun {
			begun = true
			m.Gauge("aeon_program_info", "The program.", 1, "program", n.c.Package.Name)
		}
		if several {
			m.Label("store", number(h.group))
		}
		s.public.Door.WriteMetrics(m)
		m.Label()
	}
	if begun {
		n.holders.counts.Write(m)
	}
}

// writePlacement writes what this node has of the placement.
func (n *node) writePlacement(m *metrics.Writer) {
	s := n.placement.State()
	name := cmp.Or(s.Members[n.id.Node].Name, placement.NameOf(n.id.Node))
	m.Gauge("aeon_node_info", "The node.", 1, "node", number(n.id.Node), "name", name, "cluster", s.Cluster)
	active := 0
	for _, member := range s.Members {
		if member.Membership == placement.Active {
			active++
		}
	}
	leader, _ := n.placement.Leader()
	m.Gauge("aeon_placement_version", "The version of what the cluster has agreed on, as this node has it.", int64(s.Version))
	m.Gauge("aeon_placement_members", "Nodes that are members and do not leave.", int64(active))
	m.Gauge("aeon_placement_voters", "Nodes that agree on members and places.", int64(len(n.placement.Voters())))
	m.Gauge("aeon_placement_leader", "The number of the node that leads them; 0 if none is known.", int64(leader))
}

// writeStores writes how the raft groups of the stores are that this node keeps.
func (n *node) writeStores(m *metrics.Writer) {
	s := n.placement.State()
	type of struct {
		label string
		role  replica.Role
		log   uint64
		want  int
	}
	var list []of
	for id, st := range s.Stores {
		if g := replica.Group(id); n.driver.Has(g) {
			list = append(list, of{strconv.Itoa(id), n.driver.Leader(g), n.driver.LogLength(g), len(st.Replicas)})
		}
	}
	for _, f := range []struct {
		name, help string
		value      func(of) uint64
	}{
		{"aeon_store_term", "The term of the raft group of a store that this node keeps.", func(o of) uint64 { return o.role.Term }},
		{"aeon_store_leader", "The number of the node that leads it; 0 if none is known.", func(o of) uint64 { return uint64(o.role.Leader) }},
		{"aeon_store_replicas", "The nodes that are to keep it.", func(o of) uint64 { return uint64(o.want) }},
		{"aeon_store_log_entries", "Entries in its log on this node.", func(o of) uint64 { return o.log }},
	} {
		m.Gauges(f.name, f.help)
		for _, o := range list {
			m.Sample(f.name, f.value(o), "store", o.label)
		}
	}
}

// writeSnapshots writes how old the last snapshot of the cluster is, taken at last. If none is known it counts from the start of the node, so that it grows where none is taken.
func writeSnapshots(m *metrics.Writer, every time.Duration, now, last, began time.Time) {
	if last.IsZero() {
		last = began
	}
	const age, interval = "aeon_snapshot_age_seconds", "aeon_snapshot_interval_seconds"
	m.Gauges(age, "Seconds since the last snapshot of the cluster that is whole; since the start of the node if it knows none.")
	m.Seconds(age, max(now.Sub(last), 0))
	m.Gauges(interval, "Seconds from one snapshot to the next, as the flags of the node say.")
	m.Seconds(interval, every)
}

// writeTransport writes what the transport has counted of each other node.
func writeTransport(m *metrics.Writer, list []grpc.Metrics) {
	for _, f := range []struct {
		name, help string
		grows      bool
		value      func(*grpc.Metrics) uint64
	}{
		{"aeon_transport_up", "Whether there is a session with another node.", false, func(p *grpc.Metrics) uint64 {
			if p.Up {
				return 1
			}
			return 0
		}},
		{"aeon_transport_sessions_total", "Sessions with it that have begun.", true, func(p *grpc.Metrics) uint64 { return p.Sessions }},
		{"aeon_transport_messages_sent_total", "Messages sent to it.", true, func(p *grpc.Metrics) uint64 { return p.Sent }},
		{"aeon_transport_messages_received_total", "Messages received from it.", true, func(p *grpc.Metrics) uint64 { return p.Received }},
		{"aeon_transport_messages_dropped_total", "Messages between replicas for which there was no place.", true, func(p *grpc.Metrics) uint64 { return p.Dropped }},
		{"aeon_transport_frames_sent_total", "Frames in which messages were sent.", true, func(p *grpc.Metrics) uint64 { return p.Frames }},
		{"aeon_transport_sent_bytes_total", "Bytes of messages sent.", true, func(p *grpc.Metrics) uint64 { return p.BytesSent }},
		{"aeon_transport_received_bytes_total", "Bytes of messages received.", true, func(p *grpc.Metrics) uint64 { return p.BytesReceived }},
		{"aeon_transport_waiting_bytes", "Bytes of messages that wait to be sent.", false, func(p *grpc.Metrics) uint64 { return uint64(p.Waiting) }},
		{"aeon_transport_calls_total", "Calls of it.", true, func(p *grpc.Metrics) uint64 { return p.Calls }},
		{"aeon_transport_calls_served_total", "Calls by it.", true, func(p *grpc.Metrics) uint64 { return p.CallsServed }},
		{"aeon_transport_bulks_total", "States and other bulk data sent to it.", true, func(p *grpc.Metrics) uint64 { return p.Bulks }},
		{"aeon_transport_bulks_served_total", "Bulk data received from it.", true, func(p *grpc.Metrics) uint64 { return p.BulksServed }},
	} {
		begin := m.Gauges
		if f.grows {
			begin = m.Counters
		}
		begin(f.name, f.help)
		for i := range list {
			m.Sample(f.name, f.value(&list[i]), "peer", number(list[i].Node))
		}
	}
	const trip = "aeon_transport_round_trip_seconds"
	m.Gauges(trip, "The round trip of heartbeats, smoothed; 0 if it is not known.")
	for i := range list {
		m.Seconds(trip, list[i].RoundTrip, "peer", number(list[i].Node))
	}
}

// number writes the number of a node, or of a store.
func number[N ~uint32 | ~uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }
