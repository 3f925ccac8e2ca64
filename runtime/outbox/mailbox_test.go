package outbox

import (
	"runtime"
	"testing"
	"weak"
)

// large is what a call may have: arguments that take memory.
type large [1 << 10]byte

// kept returns how many are in memory yet.
func kept(made []weak.Pointer[large]) (n int) {
	runtime.GC()
	for _, p := range made {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// A mailbox keeps no callback that was taken, and no memory when it is empty.
func TestMailboxKeepsWhatWaitsAlone(t *testing.T) {
	var m Mailbox[*large]
	const posted, taken = 10, 6
	var made []weak.Pointer[large]
	for range posted {
		c := new(large)
		made = append(made, weak.Make(c))
		m.Post(c, func(*large) {})
	}
	for range taken {
		m.Next()
	}
	if n := kept(made); n != posted-taken {
		t.Errorf("%d callbacks are kept, and %d wait", n, posted-taken)
	}
	for ok := true; ok; {
		_, ok = m.Next()
	}
	if n := kept(made); n != 0 || cap(m.mu.queue) != 0 {
		t.Errorf("%d callbacks are kept, and room for %d, by an empty mailbox", n, cap(m.mu.queue))
	}
}
