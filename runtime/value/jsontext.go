package value

import (
	"encoding/base64"
	"time"
)

// MarshalText implements encoding.TextMarshaler: in JSON bytes are a string in base64.
func (b Bytes) MarshalText() ([]byte, error) { return base64Of(b.Data()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *Bytes) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if err == nil {
		*b = BytesOf(data)
	}
	return err
}

// MarshalText implements encoding.TextMarshaler: in JSON a key that is bytes is in base64, too.
func (k BytesKey) MarshalText() ([]byte, error) { return base64Of([]byte(k)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *BytesKey) UnmarshalText(text []byte) error {
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if err == nil {
		*k = BytesKey(data)
	}
	return err
}

func base64Of(data []byte) []byte { return base64.StdEncoding.AppendEncode([]byte{}, data) }

// MarshalText implements encoding.TextMarshaler: in JSON a time is a string as RFC 3339 has it, in UTC, with nanoseconds.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.Str()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Time) UnmarshalText(text []byte) error {
	n, ok := ParseTime(string(text)).Get()
	if !ok {
		return &time.ParseError{Value: string(text), Message: ": a time is as RFC 3339 has it, between the years 1677 and 2262"}
	}
	*t = n
	return nil
}

// MarshalText implements encoding.TextMarshaler: in JSON a duration is a string such as 1m30s, as the program prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.Str()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	read, err := time.ParseDuration(string(text))
	if err == nil {
		*d = Duration(read)
	}
	return err
}
