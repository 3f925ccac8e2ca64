package inspection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Timer is a pending timer in a list, as JSON has it.
type Timer struct {
	Due    time.Time     `json:"due"`
	Actor  bytejson.Text `json:"actor"` // whose method it calls, or the object of a client
	Method string        `json:"method"`
	// Arguments stand in an array in the order of the parameters: the store does not have their names. Of a call of a client it does not have the types, either:
	// they are null.
	Arguments json.RawMessage `json:"arguments"`
	Every     string          `json:"every,omitempty"` // the period, as Go writes a time.Duration; "": it fires once
	Name      bytejson.Text   `json:"name,omitempty"`
	From      bytejson.Text   `json:"from"`  // the actor that has set it
	Event     string          `json:"event"` // in which it was set, as the log and traces write it
}

// Timers calls emit for each pending timer, up to limit if that is above 0, the one that is due first at first, with a line of JSON that
// has the form of Timer; emit must not keep it. It takes no more memory for more timers.
func (in *Inspection) Timers(limit int, emit func(line []byte) error) (err error) {
	var heads []*timers
	defer func() {
		for _, h := range heads {
			err = errors.Join(err, h.it.Close())
		}
	}()
	for p := range in.partitions {
		from, to := store.SectionRange(event.PartitionID(p), store.Timers)
		h := &timers{it: in.view.Scan(from, to)}
		heads = append(heads, h)
		if err := h.next(); err != nil {
			return err
		}
	}
	methods := make(map[uint32]store.Signature)
	for _, m := range in.schema.Signatures() {
		methods[m.Number] = m
	}
	var types jsoncodec.Compiler
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	for n := 0; limit <= 0 || n < limit; n++ {
		var first *timers
		for _, h := range heads {
			if !h.over && (first == nil || h.due < first.due) {
				first = h
			}
		}
		if first == nil {
			return nil
		}
		line.Reset()
		t, err := in.timer(first, methods, &types)
		if err == nil {
			err = e.Encode(t)
		}
		if err != nil {
			return row.Damage(first.it.Key(), err)
		}
		if err := emit(line.Bytes()); err != nil {
			return err
		}
		if err := first.next(); err != nil {
			return err
		}
	}
	return nil
}

func (in *Inspection) timer(h *timers, methods map[uint32]store.Signature, types *jsoncodec.Compiler) (*Timer, error) {
	t, number, _, _, err := row.ReadTimer(h.payload)
	if err != nil {
		return nil, err
	}
	line := &Timer{Due: time.Unix(0, h.due).UTC(), Name: bytejson.Text(t.Name), From: bytejson.Text(in.textOf(h.issuer, "")), Event: t.Parent.String()}
	if t.Every > 0 {
		line.Every = t.Every.String()
	}
	if number == 0 {
		return line, in.client(line, t.Args)
	}
	m, ok := methods[number]
	if !ok {
		return nil, fmt.Errorf("its signature %d is not in the schema", number)
	}
	line.Actor, line.Method = bytejson.Text(in.ActorText(m.Class, t.Target)), m.Method
	line.Arguments, err = types.Arguments(m.Text, t.Args, in)
	return line, err
}

// client completes the line of a timer that calls a client.
func (in *Inspection) client(line *Timer, call []byte) error {
	object, name, _, err := row.ReadClientCall(call)
	path, _, _ := strings.Cut(name, "#") // behind that it has a hash of its types
	dot := strings.LastIndexByte(path, '.')
	line.Actor, line.Method = bytejson.Text(fmt.Sprintf("%s:%d", in.short(path[:max(0, dot)]), object)), path[dot+1:]
	return err
}

// timers goes over the timers of a partition, which stand in the order in which they are due.
type timers struct {
	it      store.Iterator
	due     int64 // nanoseconds since 1970
	issuer  event.ActorID
	payload []byte
	over    bool
}

func (h *timers) next() (err error) {
	if h.over = !h.it.Next(); h.over {
		return nil
	}
	key := h.it.Key()
	if h.payload, err = store.Payload(key, h.it.Value()); err != nil {
		return err
	}
	_, rest, _, ok := row.SplitKey(key)
	if !ok || len(rest) < row.TimerKeyMin {
		return row.Damage(key, errors.New("its key is too short"))
	}
	h.due, h.issuer, _ = row.ReadTimerKey(rest)
	return nil
}
