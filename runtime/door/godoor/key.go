package godoor

import (
	"encoding"
	"encoding/base64"
	"strconv"

	aeonrt "github.com/aeon-lang/aeon/runtime"
)

// BytesKey is bytes as the key of a map. In JSON it is base64, as all bytes are: encoding/json would take the key of a
// map[string]T for text.
type BytesKey struct{ Data string }

// FromBytesKey converts a key of a program.
func FromBytesKey(k aeonrt.BytesKey) BytesKey { return BytesKey{string(k)} }

// Key converts a key to that of a program.
func (k BytesKey) Key() aeonrt.BytesKey { return aeonrt.BytesKey(k.Data) }

// MarshalText implements encoding.TextMarshaler.
func (k BytesKey) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(k.Data)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *BytesKey) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	k.Data = string(data)
	return err
}

// BoolKey is a bool as the key of a map, for which encoding/json has no text.
type BoolKey bool

// FromBoolKey converts a key of a program.
func FromBoolKey(k bool) BoolKey { return BoolKey(k) }

// Key converts a key to that of a program.
func (k BoolKey) Key() bool { return bool(k) }

// MarshalText implements encoding.TextMarshaler.
func (k BoolKey) MarshalText() ([]byte, error) { return strconv.AppendBool(nil, bool(k)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *BoolKey) UnmarshalText(text []byte) error {
	v, err := strconv.ParseBool(string(text))
	*k = BoolKey(v)
	return err
}

var (
	_ encoding.TextUnmarshaler = (*BytesKey)(nil)
	_ encoding.TextUnmarshaler = (*BoolKey)(nil)
)
