package grpc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/transport"
)

// pack returns the frames of messages.
func pack(t testing.TB, messages [][]byte) (frames [][]byte) {
	p := packer{list: slices.Clone(messages)}
	ended, length, of := 0, 0, 0
	for _, m := range messages {
		of += len(m)
	}
	for len(p.list) > 0 {
		size, whole := p.size()
		frame, n, bytes := p.append(nil, size, whole)
		if len(frame) != size || size > frameMax {
			t.Fatalf("a frame of %d bytes instead of %d", len(frame), size)
		}
		frames, ended, length = append(frames, frame), ended+n, length+bytes
	}
	if ended != len(messages) || length != of {
		t.Fatalf("%d messages with %d bytes were sent, of %d with %d", ended, length, len(messages), of)
	}
	return frames
}

// unpack returns the messages of frames.
func unpack(u *unpacker, frames [][]byte) (messages [][]byte, err error) {
	for _, f := range frames {
		if err := u.take(f, func(beat) {}, func(m []byte) bool { messages = append(messages, m); return true }); err != nil {
			return messages, err
		}
	}
	return messages, nil
}

func TestFramesHaveWhatWasPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lengths := []int{0, 1, 127, 128, frameMax / 2, frameMax - 5, frameMax - 4, frameMax - 3, frameMax, 3 * frameMax, 1 << 20}
	for range 200 {
		var messages [][]byte
		for range 1 + r.IntN(300) {
			n := r.IntN(200)
			if r.IntN(30) == 0 {
				n = lengths[r.IntN(len(lengths))]
			}
			messages = append(messages, bytes.Repeat([]byte{byte(r.Uint32())}, n))
		}
		frames := pack(t, messages)
		for i := len(frames); i >= 0; i-- { // heartbeats go anywhere
			frames = slices.Insert(frames, i, beat{sent: 1}.append(nil))
		}
		got, err := unpack(&unpacker{}, frames)
		if err != nil || !slices.EqualFunc(got, messages, bytes.Equal) {
			t.Fatalf("%d messages instead of %d, %v", len(got), len(messages), err)
		}
	}
}

func TestAHelloIsOfOneVersion(t *testing.T) {
	id := sessionID{1 << 63, 7}
	at := time.Unix(0, 1<<60)
	if got, clock, err := readHello(hello(id, at)); got != id || !clock.Equal(at) || err != nil {
		t.Errorf("%v, %v, %v", got, clock, err)
	}
	other := hello(id, at)
	other[1]++
	if _, _, err := readHello(other); err == nil || err.Error() != "the other node speaks version 3 of the transport, this one 2" {
		t.Errorf("got %v", err)
	}
}

// FuzzFrames reads three frames. What is accepted is what would be packed, or is cut into parts otherwise.
func FuzzFrames(f *testing.F) {
	some := pack(f, [][]byte{nil, {1}, make([]byte, 200)})
	parts := pack(f, [][]byte{make([]byte, frameMax*3/2)})
	f.Add(some[0], parts[0], parts[1])
	f.Add(parts[0], beat{progress: true, sent: 1, echo: 2, held: 3}.append(nil), parts[1])
	f.Add(hello(sessionID{1, 2}, time.Unix(0, 3)), []byte{kindMessages}, []byte{kindFirst, 5, 1})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		u := &unpacker{}
		frames := [][]byte{a, b, c}
		got, err := unpack(u, frames)
		total := 0
		for _, m := range got {
			if len(m) > transport.MessageMax || cap(m) > max(len(m), transport.MessageMax) {
				t.Fatalf("a message of %d bytes", len(m))
			}
			total += len(m)
		}
		if total > len(a)+len(b)+len(c) || cap(u.part) > transport.MessageMax+frameMax {
			t.Fatalf("%d bytes of messages from %d", total, len(a)+len(b)+len(c))
		}
		if err != nil {
			return
		}
		for _, frame := range frames {
			if frame[0] != kindMessages {
				continue
			}
			list, err := unpack(&unpacker{}, [][]byte{frame})
			if err != nil || len(frame) > frameMax {
				continue
			}
			if again := pack(t, list); len(again) != 1 || !bytes.Equal(again[0], frame) {
				t.Fatalf("%x is read, and %x is written", frame, again)
			}
		}
	})
}
