package spec

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/aeon-lang/aeon/typecheck"
)

// eventID names an event, and what an event has made. It follows from the issuer of
// the event and the event's place in the issuer's program order, not from time: an
// event has the same id in every order (decisions.md, Identities and random
// numbers), but for what callbacks have led to: all callbacks are one issuer, and their
// order depends on time.
type eventID struct{ origin, seq uint64 }

// String is what eventid() returns ([EVENTID]).
func (id eventID) String() string { return fmt.Sprintf("%x-%x", id.origin, id.seq) }

// derived marks origins that follow from other ids; all others are the numbers of client sessions.
const derived = 1 << 63

// child returns the id of the n-th thing that id gave rise to.
func (id eventID) child(n int) eventID {
	a := mix(id.origin^0xa0761d6478bd642f, id.seq+uint64(n)*0xe7037ed1a0b428db)
	return eventID{a | derived, mix(id.seq^0x8ebc6af09c88c6e3, a+uint64(n))}
}

// seed is what random() of the event begins with, the seed of the run apart.
func (id eventID) seed() uint64 { return mix(id.origin^0x1d8e4e27c47d124f, id.seq) }

// mix is the mixing step of wyhash: the two halves of a product of 128 bits, folded.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x2d358dccaa6c78a5, b^0x8bb84b93962eacc9)
	return hi ^ lo
}

func hashString(h uint64, s string) uint64 {
	h = mix(h, uint64(len(s)))
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 0x100000001b3
		h ^= h >> 29
	}
	return mix(h, 0x9fb21c651e98df25)
}

// partitions is how many an unbounded system has; references as keys are ordered by them.
const partitions = 64

// identity is what never changes of an actor.
type identity struct {
	id    eventID // its name in the state; the same in every order of events
	class *typecheck.Class
	name  string // of a named actor
	named bool
	// birth and serial give references their order as keys: the partition of the
	// creator, or of a hash of the name, then a number among its siblings, or that hash and how many actors with the name were deleted before.
	birth, serial uint64
	number        int // among the unnamed actors of the class, as they were made
}

// label is the text of the actor: ids would differ from run to run.
func (a *identity) label() string {
	if a.named {
		return fmt.Sprintf("%s(%q)", a.class.Name(), a.name)
	}
	return a.class.Name()
}

// sign tells the actor from others of its class in the report of one run.
func (a *identity) sign() string {
	if a.named {
		return a.label()
	}
	return fmt.Sprintf("%s#%d", a.class.Name(), a.number)
}

func (a *identity) compare(b *identity) int {
	return cmp.Or(cmp.Compare(a.birth, b.birth), cmp.Compare(a.serial, b.serial), cmp.Compare(a.id.origin, b.id.origin), cmp.Compare(a.id.seq, b.id.seq))
}

// namedSerial is the number of a named actor, larger than every counted one. The actors that have had the name one after the other, of which lost were
// deleted, have different ones.
func namedSerial(c *typecheck.Class, name string, lost int) (birth, serial uint64) {
	h := hashString(hashString(0x9e3779b97f4a7c15, c.Pkg.Name+"."+c.Name()), name)
	if serial = h; lost > 0 {
		serial = mix(h, uint64(lost))
	}
	return h % partitions, serial | 1<<63
}

// randomState is the generator of one event, or of one async call: splitmix64 ([RANDOM]).
type randomState struct{ s uint64 }

func (r *randomState) draw(id eventID, seed uint64) uint64 {
	if r.s == 0 {
		r.s = (id.seed() ^ seed) | 1
	}
	r.s += 0x9e3779b97f4a7c15
	z := r.s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit turns 64 random bits into a number in [0, 1).
func unit(bits uint64) float64 { return float64(bits>>11) / (1 << 53) }
