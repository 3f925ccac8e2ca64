package exec

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Stored returns the number by which ResolveClient finds the object, 0 for null.
func (r ClientRef) Stored() uint64 {
	switch {
	case r.o == nil:
		return 0
	case clientOf(r.o.client).sys == nil: // it has gone
		return r.o.number
	}
	cl := clientOf(r.o.client)
	return cl.sys.objects.Number(r.o, &r.o.number, cl.gone)
}

// goneClient is the client of all objects whose own client has gone.
var goneClient = func() *Client {
	cl := &client{}
	cl.box.Close()
	return &cl.Client
}()

// ResolveClient returns the reference of which Stored has returned number.
func (s *System) ResolveClient(number uint64) ClientRef {
	if number == 0 {
		return ClientRef{}
	}
	return ClientRef{o: s.objects.Resolve(number, func() *ClientObject { return &ClientObject{client: goneClient, number: number} })}
}

// MarshalJSON implements json.Marshaler: a client object is the name of its class. It is not read back.
func (r ClientRef) MarshalJSON() ([]byte, error) {
	if r.o == nil {
		return []byte("null"), nil
	}
	if remote, ok := r.o.self.(*Remote); ok {
		return json.Marshal(remote.Class.Name)
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
