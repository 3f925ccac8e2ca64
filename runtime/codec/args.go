package codec

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/value"
)

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

// encoders and decoders are used for one list of arguments, or one result, at a time.
var (
	encoders = sync.Pool{New: func() any { return new(Encoder) }}
	decoders = sync.Pool{New: func() any { return new(Decoder) }}
)

// keptMax is how many bytes an Encoder that goes back to the pool may have room for.
const keptMax = 64 << 10

// pooled returns what of appends with an Encoder of the pool.
func pooled(of func(b []byte, e *Encoder, args any) []byte, args any) []byte {
	e := encoders.Get().(*Encoder)
	b := of(nil, e, args)
	if cap(e.buf) <= keptMax {
		e.Visitor = nil
		encoders.Put(e)
	}
	return b
}

// ArgsOf returns what AppendArgs appends, in memory of its own.
func ArgsOf(args any) []byte { return pooled(AppendArgs, args) }

// ArgsIfReadable is ArgsOf after the run of an event. It returns nothing if an argument cannot be read any more: the store has failed then, and
// stores nothing of what the arguments are for.
func ArgsIfReadable(args any) (data []byte) {
	_ = value.Try(func() { data = ArgsOf(args) })
	return data
}

// ResultOf returns what AppendResult appends, in memory of its own.
func ResultOf(args any) []byte { return pooled(AppendResult, args) }

// ReadArgs reads what AppendArgs has written. context is that of the Decoder.
func ReadArgs(data []byte, context, args any) error {
	return readMessage(data, context, args.(Args).Decode)
}

// readMessage reads all of a message by read.
func readMessage(data []byte, context any, read func(*Decoder)) error {
	return ReadPart(data, context, func(d *Decoder) {
		d.version()
		read(d)
	})
}

// ReadPart reads all of what an Encoder has appended without a version by read, which does not keep the Decoder.
func ReadPart(data []byte, context any, read func(*Decoder)) error {
	d := decoders.Get().(*Decoder)
	d.Part(data, context)
	read(d)
	err := d.Close()
	d.Part(nil, nil)
	decoders.Put(d)
	return err
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
	return readMessage(data, context, a.DecodeResult)
}
