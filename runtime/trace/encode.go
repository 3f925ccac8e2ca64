package trace

import (
	"encoding/json"
	"strconv"

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
	if o.Parent == (event.EventID{}) {
		return b
	}
	b = append(b, `,"parent":"`...)
	b = appendEventID(b, o.Parent)
	b = append(b, `","index":`...)
	b = strconv.AppendInt(b, int64(o.Index), 10)
	b = append(b, `,"issuer":`...)
	return appendString(b, o.Issuer)
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
		b = appendString(b, a.Label)
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

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // strings always marshal
			}
			return append(b, quoted...)
		}
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}
