package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"weak"
)

// A reference to a client object may be stored with the state of an actor: as a number, which
// no other object of the store has ever had. While the client is there the number leads back
// to the object, also if the state has left memory meanwhile; later, and in another process,
// it leads to an object of a client that has gone.

// clientObjects knows the client objects of a system that have a number.
type clientObjects struct {
	mu   sync.Mutex
	last uint64
	live map[uint64]*ClientObject
	gone map[uint64]weak.Pointer[ClientObject]
	// pruneAt is how many of gone are worth looking for those that nothing refers to any more.
	pruneAt int
}

// gonePruneMin is how many of gone stay at least before those that nothing refers to are looked for.
const gonePruneMin = 16

// leave notes that the client of o has gone. Caller holds mu.
func (c *clientObjects) leave(number uint64, o *ClientObject) {
	if c.gone == nil {
		c.gone = map[uint64]weak.Pointer[ClientObject]{}
	}
	if c.gone[number] = weak.Make(o); len(c.gone) > max(c.pruneAt, gonePruneMin) {
		maps.DeleteFunc(c.gone, func(_ uint64, o weak.Pointer[ClientObject]) bool { return o.Value() == nil })
		c.pruneAt = 2 * len(c.gone)
	}
}

// Stored returns the number by which ResolveClient finds the object, 0 for null.
func (r ClientRef) Stored() uint64 {
	switch {
	case r.o == nil:
		return 0
	case r.o.client.sys == nil: // it has gone
		return r.o.number
	}
	s := r.o.client.sys
	c := &s.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.o.number == 0 {
		if c.last == 0 && s.durable != nil {
			c.last = s.durable.Store.Starts() << startShift
		}
		c.last++
		r.o.number = c.last
		if c.live == nil {
			c.live = map[uint64]*ClientObject{}
		}
		if r.o.client.gone() {
			c.leave(c.last, r.o)
		} else {
			c.live[c.last] = r.o
		}
	}
	return r.o.number
}

// goneClient is the client of all objects whose own has gone.
var goneClient = func() *Client {
	cl := &Client{}
	cl.box.mu.gone = true
	return cl
}()

// ResolveClient returns the reference that Stored was asked for.
func (s *System) ResolveClient(number uint64) ClientRef {
	if number == 0 {
		return ClientRef{}
	}
	c := &s.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.live[number]; o != nil {
		return ClientRef{o: o}
	}
	if o := c.gone[number].Value(); o != nil {
		return ClientRef{o: o} // the same reference each time
	}
	o := &ClientObject{client: goneClient, number: number}
	c.leave(number, o)
	return ClientRef{o: o}
}

// forgetObjects is called when cl has gone.
func (s *System) forgetObjects(cl *Client) {
	c := &s.objects
	c.mu.Lock()
	defer c.mu.Unlock()
	for number, o := range c.live {
		if o.client == cl {
			delete(c.live, number)
			c.leave(number, o)
		}
	}
}

// MarshalJSON implements json.Marshaler: a client object is the name of its class. It is not read back.
func (r ClientRef) MarshalJSON() ([]byte, error) {
	if r.o == nil {
		return []byte("null"), nil
	}
	class := fmt.Sprintf("%T", r.o.self)
	return json.Marshal(class[strings.LastIndexByte(class, '.')+1:])
}

// UnmarshalJSON implements json.Unmarshaler. It reads null alone.
func (r *ClientRef) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		return fmt.Errorf("%s is an object of a client, and JSON gives no reference to it", data)
	}
	*r = ClientRef{}
	return nil
}
