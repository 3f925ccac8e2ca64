package grpcdoor

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// message is a message that package protocodec reads or writes.
type message struct{ bytes []byte }

// codec hands on the messages of calls as they are, and has those of other services encoded.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*message); ok {
		return mem.BufferSlice{mem.SliceBuffer(m.bytes)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if m, ok := v.(*message); ok {
		m.bytes = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
