package trace

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/trace"
)

// anyBytes returns strings that are hard to write down.
func anyBytes(rng *rand.Rand) string {
	parts := []string{"\xff", "\x80", "a", "\"", "\\", "\n", "\x00", "\x7f", "ü", "\u2028", "\U0001f600", "\ufffd", "\xed\xb2\x80", "\xed\xa0\xbd", "\\udc80", "<", "deleted", "/"}
	b := []byte{}
	for range rng.IntN(6) {
		if b = append(b, parts[rng.IntN(len(parts))]...); rng.IntN(4) == 0 {
			b = append(b, byte(rng.Uint32()))
		}
	}
	return string(b)
}

// TestStringsOfAnyBytesComeBack writes records with strings of any bytes wherever a record has one, and reads them.
func TestStringsOfAnyBytesComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 500 {
		var used []string
		s := func() string { used = append(used, anyBytes(rng)); return used[len(used)-1] }
		name := t.TempDir() + "/t"
		w, err := trace.Create(name, trace.Memory, false)
		if err != nil {
			t.Fatal(err)
		}
		h := trace.Header{Program: "p", Test: bytejson.Text(s()), Seed: 1}
		w.Begin(h)
		e := &trace.Event{ID: event.EventID{Origin: 1, Seq: 1}, Attempt: 1, Label: s(), Method: s(), Err: errors.New(s()), Start: 1, Order: 2,
			Origin: trace.Origin{Kind: trace.Sub, Parent: event.EventID{Origin: 2, Seq: 2}, Index: 1, Issuer: s()},
			Reads:  []trace.Access{{Label: s(), Version: 1}}, Writes: []trace.Access{{Label: s(), Version: 2}},
			Timers: []trace.TimerOp{{Issuer: s(), Name: "n" + s(), Generation: 3, Every: true}, {Issuer: s(), Name: s()}}}
		w.Prepare(e)
		w.Ended(e)
		w.Called(&trace.Callback{Method: s(), Start: 3, Origin: trace.Origin{Client: 1}})
		w.End("closed")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		r := NewReader(bytes.NewReader(data))
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			switch {
			case rec.Header != nil:
				got = append(got, rec.Header.Test)
			case rec.Event != nil:
				e := rec.Event
				got = append(got, e.Target, e.Method, e.Why, e.Origin.Issuer, e.Reads[0].Actor, e.Writes[0].Actor,
					e.Timers[0].Issuer, e.Timers[0].Name[1:], e.Timers[1].Issuer, e.Timers[1].Name)
			case rec.Callback != nil:
				got = append(got, rec.Callback.Method)
			}
		}
		if !reflect.DeepEqual(got, used) {
			t.Fatalf("wrote %q, read %q\n%s", used, got, data)
		}
	}
}
