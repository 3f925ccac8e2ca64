package codec

import "github.com/aeon-lang/aeon/internal/assert"

// Args is implemented by the arguments of generated methods.
type Args interface {
	Encode(*Encoder)
	Decode(*Decoder)
}

// Result is implemented by the arguments of generated methods that return something.
type Result interface {
	EncodeResult(*Encoder)
	DecodeResult(*Decoder)
}

// AppendArgs appends the arguments of a method, nothing if there are none.
func AppendArgs(b []byte, e *Encoder, args any) []byte {
	if args == nil {
		return b
	}
	a, ok := args.(Args)
	if !ok {
		assert.Unreachable("arguments of type %T cannot be stored", args)
	}
	e.Reset()
	a.Encode(e)
	return append(b, e.Data()...)
}

// ReadArgs reads what AppendArgs has written. context is that of the Decoder.
func ReadArgs(data []byte, context, args any) error {
	d := NewDecoder(data)
	d.Context = context
	args.(Args).Decode(d)
	return d.Close()
}

// AppendResult appends the result that is in args, nothing if there is none.
func AppendResult(b []byte, e *Encoder, args any) []byte {
	a, ok := args.(Result)
	if !ok {
		return b
	}
	e.Reset()
	a.EncodeResult(e)
	return append(b, e.Data()...)
}

// ReadResult reads what AppendResult has written.
func ReadResult(data []byte, context, args any) error {
	a, ok := args.(Result)
	if !ok || len(data) == 0 {
		return nil
	}
	d := NewDecoder(data)
	d.Context = context
	a.DecodeResult(d)
	return d.Close()
}
