package store

import (
	"fmt"
	"strings"
	"time"
)

// Durability says what an answer waits for. The zero value is Sync.
type Durability struct {
	mode durabilityMode
	// every is how long Relaxed lets a commit stay unsynced before answers wait.
	every time.Duration
}

type durabilityMode uint8

const (
	modeSync durabilityMode = iota
	modeRelaxed
	modeMemory
)

// Sync is the mode in which nothing that was answered is lost by a crash of the process or
// the machine.
func Sync() Durability { return Durability{} }

// Relaxed is the mode in which a crash may lose answers to clients of this process: only the last ones,
// all given within d of each other.
func Relaxed(d time.Duration) Durability { return Durability{mode: modeRelaxed, every: d} }

// InMemory is the mode without a store.
func InMemory() Durability { return Durability{mode: modeMemory} }

// Memory reports whether there is no store.
func (d Durability) Memory() bool { return d.mode == modeMemory }

// AnswersWait reports whether all answers to clients of this process wait until they are durable. In the
// other modes Store.Overdue says which do.
func (d Durability) AnswersWait() bool { return d.mode == modeSync }

// relaxedMax is the longest time that Relaxed takes: a longer one is a mistake of the unit.
const relaxedMax = time.Minute

// ParseDurability reads the form that String writes: sync, relaxed=10ms or memory.
func ParseDurability(s string) (Durability, error) {
	mode, value, has := strings.Cut(s, "=")
	switch {
	case s == "sync":
		return Sync(), nil
	case s == "memory":
		return InMemory(), nil
	case mode == "relaxed" && has:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > relaxedMax {
			return Durability{}, fmt.Errorf("%q: relaxed takes a time above 0s and up to %v, as in relaxed=10ms", s, relaxedMax)
		}
		return Relaxed(d), nil
	}
	return Durability{}, fmt.Errorf("%q is none of sync, relaxed=10ms and memory", s)
}

// String writes the mode as ParseDurability reads it.
func (d Durability) String() string {
	switch d.mode {
	case modeRelaxed:
		return "relaxed=" + d.every.String()
	case modeMemory:
		return "memory"
	}
	return "sync"
}
