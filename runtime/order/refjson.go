package order

import (
	"fmt"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// In JSON a reference to an actor is a string, for users and logs: Class/name or, without a name, Class:id, as in
// traces. A null reference is null. References are not read back: the holder of a reference may call the actor, so a
// reference comes from an actor, or from Named.

// MarshalJSON implements json.Marshaler.
func (r Ref) MarshalJSON() ([]byte, error) {
	if r.of == nil {
		return []byte("null"), nil
	}
	return bytejson.Append(nil, addressOf(r)), nil
}

// MarshalText implements encoding.TextMarshaler: the keys of objects.
func (r Ref) MarshalText() ([]byte, error) {
	if r.of == nil {
		return []byte("null"), nil
	}
	return []byte(addressOf(r)), nil
}

// UnmarshalJSON implements json.Unmarshaler. It reads null alone.
func (r *Ref) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		return fmt.Errorf("%s names an actor, and JSON gives no reference to it; get that from an actor, or by Named", data)
	}
	*r = Ref{}
	return nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Ref) UnmarshalText(text []byte) error {
	return fmt.Errorf("%q names an actor, and JSON gives no reference to it; get that from an actor, or by Named", text)
}

//go:noinline
func addressOf(r Ref) string { return HandleOf(r).Address() }

// Address returns the text by which users name the actor: Class/name or Class:id.
func (h *Handle) Address() string {
	if h.Is(Detached) && h.Host.Attach(h) != nil {
		return h.ID.String() // the process is ending
	}
	switch {
	case h.Shape == nil: // it was deleted in an earlier run
		return h.ID.String()
	case h.Named == nil:
		return h.Shape.Name + ":" + h.ID.String()
	}
	return h.Shape.Name + "/" + h.Named.Name
}
