package trace

import (
	"strconv"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
)

// append appends the origin as members of a JSON object.
func (o *Origin) append(b []byte) []byte {
	if o.Kind != "" {
		b = append(b, `,"kind":"`...)
		b = append(append(b, o.Kind...), '"')
	}
	if o.Client != 0 {
		b = append(b, `,"client":`...)
		b = strconv.AppendUint(b, uint64(o.Client), 10)
	}
	if o.Issued {
		b = append(b, `,"issued":true`...)
	}
	if o.Parent == (event.EventID{}) {
		return b
	}
	b = append(b, `,"parent":"`...)
	b = appendEventID(b, o.Parent)
	b = append(b, '"')
	if o.Elsewhere {
		b = append(b, `,"home":`...)
		b = strconv.AppendUint(b, uint64(o.Home), 10)
	}
	b = append(b, `,"index":`...)
	b = strconv.AppendInt(b, int64(o.Index), 10)
	b = append(b, `,"issuer":`...)
	b = bytejson.Append(b, o.Issuer)
	if o.Timer != 0 {
		b = append(b, `,"timer":`...)
		b = strconv.AppendUint(b, o.Timer, 10)
	}
	return b
}

// appendIssued appends what an event has issued by its commit, as members of a JSON object.
func (e *Event) appendIssued(b []byte) []byte {
	if e.Subs > 0 {
		b = append(b, `,"subs":`...)
		b = strconv.AppendInt(b, int64(e.Subs), 10)
	}
	for i, client := range e.Callbacks {
		if i == 0 {
			b = append(b, `,"callbacks":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(client), 10)
	}
	if len(e.Callbacks) > 0 {
		b = append(b, ']')
	}
	for i := range e.Timers {
		if i == 0 {
			b = append(b, `,"timers":[`...)
		} else {
			b = append(b, ',')
		}
		b = e.Timers[i].append(b)
	}
	if len(e.Timers) > 0 {
		b = append(b, ']')
	}
	if e.Keeps {
		b = append(b, `,"keeps":true`...)
	}
	return b
}

// append appends what there is, as members of a JSON object.
func (x *Across) append(b []byte, kind Kind) []byte {
	if x.Try == 0 {
		return b
	}
	b = append(b, `,"try":`...)
	b = strconv.AppendUint(b, x.Try, 10)
	if kind == Vote || kind == Part {
		b = append(b, `,"home":`...)
		b = strconv.AppendUint(b, uint64(x.Home), 10)
	}
	if x.Restored {
		b = append(b, `,"restored":true`...)
	}
	if x.At != 0 {
		b = append(b, `,"at":`...)
		b = strconv.AppendInt(b, x.At, 10)
	}
	for i, store := range x.Parts {
		if i == 0 {
			b = append(b, `,"parts":[`...)
		} else {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(store), 10)
	}
	if len(x.Parts) > 0 {
		b = append(b, ']')
	}
	return b
}

// append appends a JSON object.
func (o *TimerOp) append(b []byte) []byte {
	if o.Generation == 0 {
		b = append(b, `{"cancel":`...)
		b = bytejson.Append(b, o.Name)
	} else {
		b = append(b, `{"set":`...)
		b = strconv.AppendUint(b, o.Generation, 10)
	}
	b = append(b, `,"issuer":`...)
	b = bytejson.Append(b, o.Issuer)
	if o.Generation != 0 && o.Name != "" {
		b = append(b, `,"name":`...)
		b = bytejson.Append(b, o.Name)
	}
	if o.Every {
		b = append(b, `,"every":true`...)
	}
	return append(b, '}')
}

func appendEventID(b []byte, id event.EventID) []byte {
	b = strconv.AppendUint(b, id.Origin, 16)
	b = append(b, '-')
	return strconv.AppendUint(b, id.Seq, 16)
}

// appendAccesses appends a member: [actor, version], and behind these the state in
// hexadecimal where it is known, and "deleted".
func appendAccesses(b []byte, open string, list []Access) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(b, open...)
	for i := range list {
		a := &list[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = bytejson.Append(b, a.Label)
		b = append(b, ',')
		b = strconv.AppendUint(b, a.Version, 10)
		switch {
		case a.Deleted:
			b = append(b, `,"deleted"`...)
		case a.State != 0:
			b = append(b, `,"`...)
			b = strconv.AppendUint(b, a.State, 16)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	return append(b, ']')
}
