package exec

// Restored counts what Recover has found in a store.
type Restored struct {
	Actors        int // RestoredMax + 1 if there are more than RestoredMax
	SubEvents     int
	Continuations int // tail calls
	Timers        int
}

// RestoredMax is up to how many actors are counted: opening a store does not read all of them.
const RestoredMax = 1000

// Restored returns what Recover has found in the store of the system, nothing if it has none.
func (s *System) Restored() Restored {
	if s.durable == nil {
		return Restored{}
	}
	return s.durable.found
}
