// Package network carries messages between hosts in memory, for tests: what is under way is a list, and each delivery is a step.
package network

import (
	"hash/maphash"
	"reflect"
	"slices"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// hostsMax bounds the hosts of a Network.
const hostsMax = 3

var hashSeed = maphash.MakeSeed()

// Network carries messages between hosts in memory. What is under way is a list, and each delivery is a step
// that the test chooses: by seed, or one after the other in every way. A message is lost only with the session it was sent
// in, when either of its hosts has crashed. Each is delivered as its bytes were read.
//
// It is not safe for use by several goroutines at once.
type Network[E, N comparable] struct {
	// InOrder has a session deliver in the order of sending, as a stream does. Else it delivers in any order,
	// which is all that the core asks for.
	InOrder bool
	// Lasting is a planted bug: messages of a session that is over are delivered.
	Lasting bool

	post  *post[E, N]
	under []*Letter[E, N] // way, in order of sending
	ports [hostsMax]port[E, N]
	sessions
}

// sessions is how often the hosts have crashed, and know of each other to have.
type sessions struct {
	crashes [hostsMax]uint8
	noticed [hostsMax][hostsMax]uint8 // by the first, of the second
}

// Letter is a message under way. Equal letters of a Network, and of its copies, have one address.
type Letter[E, N comparable] struct {
	Sender, Addressee lock.Host
	lock.Message[E, N]
	Sum uint64 // of its bytes
}

// Reset makes n a network without messages, whose hosts have just started.
func (n *Network[E, N]) Reset(w lock.Wire[E, N]) {
	*n = Network[E, N]{InOrder: n.InOrder, Lasting: n.Lasting, under: n.under[:0], post: &post[E, N]{wire: w, letters: map[string]*Letter[E, N]{}}}
}

// CopyFrom makes n equal to o. The two share what they know of letters, so one goroutine uses both.
func (n *Network[E, N]) CopyFrom(o *Network[E, N]) {
	n.InOrder, n.Lasting, n.post, n.sessions = o.InOrder, o.Lasting, o.post, o.sessions
	n.under = append(n.under[:0], o.under...)
}

// Peer returns the Peer by which host h sends.
func (n *Network[E, N]) Peer(h lock.Host) lock.Peer[E, N] {
	p := &n.ports[h]
	p.net, p.host = n, h
	return p
}

// port is the Peer of a host.
type port[E, N comparable] struct {
	net  *Network[E, N]
	host lock.Host
}

// Send puts m under way, unless its session has ended, whether the sender has noticed or not.
func (p *port[E, N]) Send(to lock.Host, m *lock.Message[E, N]) {
	n, from := p.net, p.host
	assert.That(from != to, "locktest: host %d sends to itself", from)
	m.Session = lock.Session{Sender: uint64(n.crashes[from]), Addressee: uint64(n.noticed[from][to])}
	if n.open(from, to) {
		n.under = append(n.under, n.post.letter(from, to, m))
	}
}

// open reports whether the session that host from has with host to is the present one.
func (n *Network[E, N]) open(from, to lock.Host) bool { return n.noticed[from][to] == n.crashes[to] }

// Len returns the number of letters under way.
func (n *Network[E, N]) Len() int { return len(n.under) }

// At returns letter i of those under way, in order of sending.
func (n *Network[E, N]) At(i int) *Letter[E, N] { return n.under[i] }

// Deliverable reports whether letter i may be delivered next, and is the first of its equals. The addressee must have
// noticed the last crash of the sender.
func (n *Network[E, N]) Deliverable(i int) bool {
	l := n.under[i]
	if l.Session.Sender > uint64(n.noticed[l.Addressee][l.Sender]) {
		return false
	}
	if !n.InOrder {
		return !slices.Contains(n.under[:i], l)
	}
	return !slices.ContainsFunc(n.under[:i], func(o *Letter[E, N]) bool { return o.Sender == l.Sender && o.Addressee == l.Addressee })
}

// Take delivers letter i: it is no longer under way.
func (n *Network[E, N]) Take(i int) *Letter[E, N] {
	l := n.under[i]
	// Invariant: what is delivered was sent in the present session, as its addressee knows it.
	assert.That(n.Lasting || l.Session == lock.Session{Sender: uint64(n.noticed[l.Addressee][l.Sender]), Addressee: uint64(n.crashes[l.Addressee])},
		"locktest: a message of a session that is over: %+v", l)
	n.under = slices.Delete(n.under, i, i+1)
	return l
}

// Drop loses the letters for which lost answers true: because their addressee would do nothing with them.
func (n *Network[E, N]) Drop(lost func(*Letter[E, N]) bool) {
	n.under = slices.DeleteFunc(n.under, lost)
}

// Crash restarts host h, which ends its sessions. What it has sent may arrive still, until the addressee notices.
func (n *Network[E, N]) Crash(h lock.Host) {
	n.crashes[h]++
	n.noticed[h][h]++
	if !n.Lasting {
		n.Drop(func(l *Letter[E, N]) bool { return l.Addressee == h })
	}
}

// Crashes returns how often host h has crashed.
func (n *Network[E, N]) Crashes(h lock.Host) uint8 { return n.crashes[h] }

// Known returns how often host o has crashed, as host h knows.
func (n *Network[E, N]) Known(h, o lock.Host) uint8 { return n.noticed[h][o] }

// Noticed reports whether host h knows of all crashes of host o.
func (n *Network[E, N]) Noticed(h, o lock.Host) bool { return n.open(h, o) }

// Notice lets host h know of the crashes of host lost: their next session begins.
func (n *Network[E, N]) Notice(h, lost lock.Host) {
	n.noticed[h][lost] = n.crashes[lost]
	if !n.Lasting {
		n.Drop(func(l *Letter[E, N]) bool {
			return l.Sender == lost && l.Addressee == h && l.Session.Sender != uint64(n.crashes[lost])
		})
	}
}

// Hash identifies what is under way, as a set or as streams, and the sessions.
func (n *Network[E, N]) Hash() (sum uint64) {
	for i, l := range n.under {
		s := l.Sum
		if n.InOrder {
			for _, o := range n.under[:i] {
				if o.Sender == l.Sender && o.Addressee == l.Addressee {
					s = maphash.Comparable(hashSeed, s)
				}
			}
		}
		sum += s
	}
	if n.sessions != (sessions{}) {
		sum += maphash.Comparable(hashSeed, n.sessions)
	}
	return sum
}

// post knows all letters that were sent in a network and its copies, by their bytes.
type post[E, N comparable] struct {
	wire    lock.Wire[E, N]
	encoder codec.Encoder
	key     []byte
	letters map[string]*Letter[E, N]
}

// letter writes m, and returns what was read of the same bytes.
func (p *post[E, N]) letter(from, to lock.Host, m *lock.Message[E, N]) *Letter[E, N] {
	p.encoder.Append(append(p.key[:0], byte(from), byte(to), codec.Version))
	p.wire.Put(&p.encoder, m)
	p.key = p.encoder.Data()
	if l := p.letters[string(p.key)]; l != nil {
		return l
	}
	d := codec.NewDecoder(p.key[2:])
	l := &Letter[E, N]{Sender: from, Addressee: to, Message: p.wire.Get(d), Sum: maphash.Bytes(hashSeed, p.key)}
	err := d.Close()
	assert.That(err == nil, "locktest: %v", err)
	// Invariant: a message arrives as it was sent; an empty list is none.
	sent := *m
	sent.Children, sent.Claims = slices.Clip(slices.Clone(m.Children)), slices.Clone(m.Claims)
	if len(sent.Children) == 0 {
		sent.Children = nil
	}
	if len(sent.Claims) == 0 {
		sent.Claims = nil
	}
	assert.That(reflect.DeepEqual(l.Message, sent), "locktest: %+v is read as %+v", sent, l.Message)
	p.letters[string(p.key)] = l
	return l
}
