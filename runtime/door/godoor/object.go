package godoor

import (
	"encoding/json"
	"strconv"
	"strings"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/exec"
)

// ClientObject leads to an object of a client, and the zero ClientObject to none. Those of one object are equal. One that was
// read from JSON has the text alone, and can be passed to the program in which its client lives.
type ClientObject struct {
	db    *DB
	ref   aeonrt.ClientRef
	class string // its path
	text  string // of one that was read; else ""
}

// FromClientRef returns an object of a class that a program has given.
func FromClientRef(db *DB, r aeonrt.ClientRef, class string) ClientObject {
	if r.IsNull() {
		return ClientObject{}
	}
	return ClientObject{db: db, ref: r, class: class}
}

// ClientRef converts an object of a class. There must be one, as the program has no null there; its client may have ended, and
// then it receives nothing.
func (in *In) ClientRef(o ClientObject, class string) aeonrt.ClientRef {
	if o.IsZero() {
		in.fail("an object of class %s is missing: make one for a client", class[strings.LastIndexByte(class, '.')+1:])
	}
	return in.ClientRefOrNull(o, class)
}

// ClientRefOrNull is ClientRef where there may be none.
func (in *In) ClientRefOrNull(o ClientObject, class string) aeonrt.ClientRef {
	switch {
	case o.IsZero() || in.db == nil:
		return aeonrt.ClientRef{}
	case o.db == nil:
		name, digits, _ := strings.Cut(o.text, ":")
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && (name == class || name == class[strings.LastIndexByte(class, '.')+1:]) {
			ref := in.db.sys.ResolveClient(n)
			if r, ok := ref.Self().(*exec.Remote); ok && r.Class.Path() == class {
				return ref
			}
		}
		in.fail("there is no client object %q of class %s: its client has ended, or is one of another program", o.text, class)
		return aeonrt.ClientRef{}
	case o.db != in.db:
		in.fail("%v is an object of a client of another open program", o)
		return aeonrt.ClientRef{}
	}
	return o.ref
}

// IsZero reports whether there is no object.
func (o ClientObject) IsZero() bool { return o == ClientObject{} }

// String returns the text of the object, its class and a number: Ear:17; "" for the zero ClientObject.
func (o ClientObject) String() string {
	if o.db == nil {
		return o.text
	}
	return o.class[strings.LastIndexByte(o.class, '.')+1:] + ":" + strconv.FormatUint(o.ref.Stored(), 10)
}

// MarshalText implements encoding.TextMarshaler.
func (o ClientObject) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *ClientObject) UnmarshalText(text []byte) error {
	*o = ClientObject{text: string(text)}
	return nil
}

// MarshalJSON implements json.Marshaler: the text, or null.
func (o ClientObject) MarshalJSON() ([]byte, error) {
	return textJSON(o.String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ClientObject) UnmarshalJSON(data []byte) error {
	text := ""
	if err := json.Unmarshal(data, &text); err != nil { // null leaves it empty
		return err
	}
	*o = ClientObject{text: text}
	return nil
}
