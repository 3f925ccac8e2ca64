package godoor

import (
	"context"
	"encoding/json"
	"fmt"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Handle leads to an actor of an open program, and the zero Handle to none. Handles are comparable. One that was read
// from JSON has the text alone: it can be passed to a program, which looks the actor up; to call it, find it first.
type Handle struct {
	db    *DB
	ref   aeonrt.Ref
	class *aeonrt.Class // of ref: a handle can get into the type of another class, as what the types embed is exported
	text  string        // of a handle that was read; else ""
}

// Named returns the actor of class c with this name. Its first event creates it.
func Named(db *DB, c *aeonrt.Class, name string) Handle {
	db.enter()
	defer db.leave()
	return Handle{db: db, ref: aeonrt.Named(db.maker, c, name), class: c}
}

// Find returns the actor of class c that has this text: Class/name or, without a name, Class:id.
func Find(db *DB, c *aeonrt.Class, text string) (Handle, error) {
	db.enter()
	defer db.leave()
	class, err := db.door.Class(c.Path())
	if err != nil {
		return Handle{}, invalid("%v", err)
	}
	r, err := db.door.ActorOf(context.Background(), class, text)
	if err != nil {
		return Handle{}, failed(context.Background(), err)
	}
	return Handle{db: db, ref: r, class: c}, nil
}

// IsZero reports whether the handle leads to no actor.
func (h Handle) IsZero() bool { return h == Handle{} }

// String returns the text of the actor: Class/name or, without a name, Class:id; "" for the zero Handle.
func (h Handle) String() string {
	if h.db == nil {
		return h.text
	}
	return order.HandleOf(h.ref).Address()
}

// MarshalText implements encoding.TextMarshaler.
func (h Handle) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Handle) UnmarshalText(text []byte) error {
	*h = Handle{text: string(text)}
	return nil
}

// MarshalJSON implements json.Marshaler: the text, or null.
func (h Handle) MarshalJSON() ([]byte, error) {
	return textJSON(h.String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *Handle) UnmarshalJSON(data []byte) error {
	text := ""
	if err := json.Unmarshal(data, &text); err != nil { // null leaves it empty
		return err
	}
	*h = Handle{text: text}
	return nil
}

// textJSON writes the text of a reference as JSON: that of none, which is empty, as null.
func textJSON(text string) ([]byte, error) {
	if text == "" {
		return []byte("null"), nil
	}
	return json.Marshal(text)
}

// FromRef returns the handle of an actor of class c that a program has given.
func FromRef(db *DB, r aeonrt.Ref, c *aeonrt.Class) Handle {
	if r.IsNull() {
		return Handle{}
	}
	return Handle{db: db, ref: r, class: c}
}

// Of returns the program that a handle leads into; nil for one that can only be passed.
func Of(h Handle) *DB { return h.db }

// invalid refuses a call before it is made.
func invalid(format string, args ...any) error {
	f := door.Failure{Code: door.BadArgs, Msg: fmt.Sprintf(format, args...), Happened: door.No}
	return &Error{Failure: f, kind: ErrArguments, cause: ErrArguments}
}
