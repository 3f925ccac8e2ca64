package across

import (
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
)

// guard is the mutex of a Store. What the store tells others while it is held is sent when it is unlocked, in that order: what encodes messages, or
// waits for the network's own mutexes, does not keep other goroutines from the store. One goroutine at a time sends, with what others have put out meanwhile.
type guard struct {
	sync.Mutex // guards what follows, too
	network    Network
	out        []outgoing
	spare      []outgoing // the memory of what was sent last
	sending    bool       // a goroutine does
}

// outgoing is a message on its way to the network.
type outgoing struct {
	to      event.StoreID
	session uint64
	message Message
}

// outside does what is not to be done under the mutex, which the caller holds. A panic of do finds the mutex as it finds that of any other code: callers unlock it with defer,
// and that of one which is not locked would end the process without a word of the panic.
func (g *guard) outside(do func()) {
	g.Unlock()
	defer g.Lock()
	do()
}

// put puts a message out. Caller holds the guard.
func (g *guard) put(to event.StoreID, session uint64, m *Message) {
	g.out = append(g.out, outgoing{to, session, *m})
}

// spareMax is for how many elements a list keeps room that it has needed once: of messages, effects or pieces of work.
const spareMax = 256

// Unlock unlocks the mutex, and has sent what was put out before, or another goroutine does.
func (g *guard) Unlock() {
	if len(g.out) == 0 || g.sending {
		g.Mutex.Unlock()
		return
	}
	g.sending = true
	for len(g.out) > 0 {
		list := g.out
		g.out, g.spare = g.spare, nil
		g.Mutex.Unlock()
		for i := range list {
			o := &list[i]
			g.network.Send(o.to, o.session, &o.message)
		}
		clear(list)
		g.Mutex.Lock()
		if cap(list) <= spareMax {
			g.spare = list[:0]
		}
	}
	g.sending = false
	g.Mutex.Unlock()
}
