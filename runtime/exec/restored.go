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

// Header is what the header of a stored actor says to a reader of a store from outside.
type Header struct {
	Layout uint32 // of its class
	Alive  bool   // it is not only named yet
}

// ReadHeader reads the payload of the row of a header.
func ReadHeader(payload []byte) (Header, error) {
	var row headerRow
	if err := row.read(payload); err != nil {
		return Header{}, err
	}
	return Header{row.layout, row.flags&headerUnborn == 0}, nil
}
