// Package event has the ids of nodes, partitions, actors, events, attempts and clients, and what waits for its turn as plain data: requests,
// sub-events, timers, outcomes. All of it is the same on every node: it is stored, and messages can carry it. Failures of events
// are here, too (failure.go).
package event

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/aeon-lang/aeon/internal/assert"
)

// PartitionID is the unit of ownership of storage. The number of partitions is
// fixed when a cluster is created.
type PartitionID uint32

// Partitions is the number of partitions of a system that was not told otherwise.
const Partitions = 64

// NodeID names a node of a cluster for ever; 0 is none. A node that was removed, or has lost its disk and with it the votes that it
// gave, never comes back under its id.
type NodeID uint64

// StoreID names a store of a cluster for ever. Store 0 orders events above the stores; the only store of a data directory is 0, too.
type StoreID uint32

// Numbers that are given once by all stores of a cluster together have StoreBits of the store in front of CountBits of a count that
// is the store's own. So those of store 0 are as small as if there were no others. The highest bit is left to namedBit and derivedBit.
const (
	StoreBits = 10
	CountBits = 63 - StoreBits
	StoresMax = 1 << StoreBits
)

// OfStore returns the number that has count in a store.
func OfStore(s StoreID, count uint64) uint64 {
	assert.That(s < StoresMax && count < 1<<CountBits, "number %d of store %d is out of range", count, s)
	return uint64(s)<<CountBits | count
}

// StoreIn returns the store of a number.
func StoreIn(number uint64) StoreID { return StoreID(number >> CountBits & (StoresMax - 1)) }

// CountOf returns the count of a number.
func CountOf(number uint64) uint64 { return number & (1<<CountBits - 1) }

// ActorID identifies an actor for ever: the partition it was born in, and a
// serial number or, for a named actor, a hash of its class and name.
// The zero value is the null reference.
type ActorID struct {
	Birth  PartitionID
	Serial uint64
}

// IsNull reports whether id names no actor.
func (id ActorID) IsNull() bool { return id == ActorID{} }

// Named reports whether the id was derived from a class and a name.
func (id ActorID) Named() bool { return id.Serial&namedBit != 0 }

// Less orders ids by partition, then serial number; it is the order of actor
// keys in containers and the order in which virtual nodes latch their children.
func (id ActorID) Less(o ActorID) bool {
	if id.Birth != o.Birth {
		return id.Birth < o.Birth
	}
	return id.Serial < o.Serial
}

// Compare is the order of Less: -1, 0 or 1.
func (id ActorID) Compare(o ActorID) int {
	switch {
	case id == o:
		return 0
	case id.Less(o):
		return -1
	}
	return 1
}

// String prints the id as partition:serial.
func (id ActorID) String() string { return fmt.Sprintf("%d:%x", id.Birth, id.Serial) }

// namedBit tells the serials of named actors from those that are counted.
const namedBit = 1 << 63

// NamedActor returns the id of the actor of class with the given name. incarnation
// counts the deletions of that name; all incarnations have one partition.
func NamedActor(class, name string, incarnation uint32, partitions int) ActorID {
	h := hashString(hashString(0x9e3779b97f4a7c15, class), name)
	id := ActorID{Birth: PartitionID(h % uint64(partitions)), Serial: h | namedBit}
	if incarnation > 0 {
		id.Serial = mix(h, uint64(incarnation)) | namedBit
	}
	return id
}

// SerialActor returns the id of the n-th actor born in partition p.
func SerialActor(p PartitionID, n uint64) ActorID {
	return ActorID{Birth: p, Serial: n &^ namedBit}
}

// wholePartition is a serial that no actor has.
const wholePartition = 1<<63 - 1

// WholePartition returns an id that stands for a partition where an actor could be, as for one that is to be created.
func WholePartition(p PartitionID) ActorID { return ActorID{Birth: p, Serial: wholePartition} }

// IsWholePartition reports whether id is one of WholePartition.
func (id ActorID) IsWholePartition() bool { return id.Serial == wholePartition }

// EventID identifies an event. A client's events are numbered within its
// session; the id of a sub-event or timer event follows from its parent's.
type EventID struct {
	Origin uint64
	Seq    uint64
}

// Compare orders events by their origins and then as those have numbered them.
func (id EventID) Compare(o EventID) int {
	return cmp.Or(cmp.Compare(id.Origin, o.Origin), cmp.Compare(id.Seq, o.Seq))
}

// String prints the id as origin-sequence.
func (id EventID) String() string { return fmt.Sprintf("%x-%x", id.Origin, id.Seq) }

// PartIndex is how many numbers each store has for the events to which an event gives rise there. Those of its home begin at 0, those of store n at
// (n + 1) * PartIndex.
const PartIndex = 1 << 36

// Child returns the id of the index-th event that id gave rise to. It is a
// function of its arguments only, so a repeated attempt gives the same ids.
func (id EventID) Child(index int) EventID {
	a := mix(id.Origin^0xa0761d6478bd642f, id.Seq+uint64(index)*0xe7037ed1a0b428db)
	b := mix(id.Seq^0x8ebc6af09c88c6e3, a+uint64(index))
	return EventID{Origin: a | derivedBit, Seq: b}
}

// Of returns the id of the tick-th firing of a timer which id set.
func (id ActorID) TimerEvent(generation, tick uint64) EventID {
	e := EventID{Origin: mix(uint64(id.Birth)+0x589965cc75374cc3, id.Serial), Seq: generation}
	e = e.Child(int(tick & (1<<62 - 1)))
	return e
}

// Seed returns the seed of the event's random numbers, equal in every attempt.
func (id EventID) Seed() uint64 { return mix(id.Origin^0x1d8e4e27c47d124f, id.Seq) }

// derivedBit tells derived origins from client sessions, which are counted.
const derivedBit = 1 << 63

// ClientID identifies a client session.
type ClientID uint64

// Attempt numbers the runs of one event. Locks are keyed by (event, attempt).
type Attempt uint32

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

// ParseActorID reads what ActorID.String prints.
func ParseActorID(text string) (id ActorID, err error) {
	var rest string
	if n, _ := fmt.Sscanf(text, "%d:%x%s", &id.Birth, &id.Serial, &rest); n != 2 || id.String() != text {
		return ActorID{}, fmt.Errorf("%q is no id of an actor, as 12:3f is", text)
	}
	return id, nil
}

// Mix is the last step of splitmix64: all bits of its result depend on all bits of x.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
