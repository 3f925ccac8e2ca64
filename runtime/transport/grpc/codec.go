package grpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/aeon-lang/aeon/internal/assert"
)

// packet is what gRPC carries: bytes as they are.
type packet struct {
	out mem.BufferSlice // to be sent
	in  []byte          // was received; it belongs to the receiver
}

// bytesOf returns a packet of b, which is not changed until it was sent.
func bytesOf(parts ...[]byte) *packet {
	p := &packet{}
	for _, b := range parts {
		p.out = append(p.out, mem.SliceBuffer(b))
	}
	return p
}

// pooled returns memory for a packet, of a length.
func pooled(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// packetOf returns a packet of memory that pooled has returned, and that goes back when it was sent.
func packetOf(b *[]byte) *packet {
	return &packet{out: mem.BufferSlice{mem.NewBuffer(b, mem.DefaultBufferPool())}}
}

// raw is a codec that codes nothing.
type raw struct{}

var _ encoding.CodecV2 = raw{}

// Name implements encoding.CodecV2.
func (raw) Name() string { return "aeon-raw" }

// Marshal implements encoding.CodecV2.
func (raw) Marshal(v any) (mem.BufferSlice, error) { return of(v).out, nil }

// Unmarshal implements encoding.CodecV2.
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	of(v).in = data.Materialize()
	return nil
}

func of(v any) *packet {
	p, ok := v.(*packet)
	// Invariant: package grpc sends packets alone.
	assert.That(ok, "transport: gRPC carries a %T", v)
	return p
}
