package exec

// failpoint is called at every place where a crash finds the store, the locks and the
// clients in a new state. Tests set it, to crash there. The name is place and kind.
var failpoint func(name string)

// at passes a failpoint.
func at(place string, k kind) {
	if failpoint != nil {
		failpoint(place + "/" + kindNames[k])
	}
}

// kind is what an event is to the store.
type kind uint8

const (
	kindClient  kind = iota // a client's event
	kindSession             // of a durable session
	kindCreate              // a client's new
	kindDelete              // a client's delete
	kindSub                 // a sub-event
	kindTail                // a step of a chain of tail calls
	kindFiring              // of a timer
	kindMove                // of an actor in the sequencing tree
)

var kindNames = [...]string{"client", "session", "create", "delete", "sub", "tail", "firing", "move"}

// kind returns what the event is to the store.
func (ev *Event) kind() kind {
	switch {
	case ev.request != nil:
		return kindSession
	case ev.Makes != nil:
		return kindCreate
	case ev.method == &methodFire:
		return kindFiring
	case ev.chain != nil && (ev.issuer != nil || ev.outSeq != 0):
		return kindTail
	case ev.issuer != nil:
		return kindSub
	case ev.method == &methodDelete:
		return kindDelete
	}
	return kindClient
}
