package inspection

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/row"
)

// Letter is a dead letter in a list, as JSON has it.
type Letter struct {
	Event  string        `json:"event"` // as the log and traces write it
	Time   time.Time     `json:"time"`
	Kind   string        `json:"kind"` // sub-event, timer, step or go
	Actor  bytejson.Text `json:"actor"`
	Method string        `json:"method"`
	// Arguments are an object by the names of the parameters, as calls have it, or, of a Go function, an array: null if there are too many bytes.
	Arguments     json.RawMessage `json:"arguments"`
	ArgumentBytes int             `json:"argumentBytes,omitempty"` // how many, if Arguments is null
	From          bytejson.Text   `json:"from,omitempty"`          // the actor that has issued it
	Failure       bytejson.Text   `json:"failure"`
	Fault         bool            `json:"fault"` // the runtime has found the failure; else the program has
	Path          []string        `json:"path,omitempty"`
}

// DeadLetters calls emit for each dead letter, the oldest first, with a line of JSON that has the form of Letter; emit must not keep it.
func (in *Inspection) DeadLetters(emit func(line []byte) error) error {
	letters, err := row.DeadLetters(in.view, in.partitions)
	if err != nil {
		return err
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	for i := range letters {
		line.Reset()
		l, err := in.letter(&letters[i])
		if err == nil {
			err = e.Encode(l)
		}
		if err != nil {
			return row.Damage(row.AppendDeadLetterKey(nil, letters[i].Partition, letters[i].Seq), err)
		}
		if err := emit(line.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (in *Inspection) letter(l *event.DeadLetter) (*Letter, error) {
	args, err := in.arguments(l)
	return &Letter{
		Event: l.Event.String(), Time: time.Unix(0, l.At).UTC(), Kind: l.Kind.String(),
		Actor: bytejson.Text(in.letterActor(l.Target, l.Class)), Method: strings.TrimPrefix(l.Method, "go "), Arguments: args, ArgumentBytes: l.ArgsSize - len(l.Args),
		From: bytejson.Text(in.letterActor(l.Issuer, "")), Failure: bytejson.Text(l.Failure), Fault: l.Fault, Path: l.Path,
	}, err
}

// letterActor returns the text of an actor that a letter names. An id alone is that of an actor whose class was not known then;
// class is what else is known of it.
func (in *Inspection) letterActor(text, class string) string {
	id, err := event.ParseActorID(text)
	if err != nil {
		return in.short(text)
	}
	return in.textOf(id, class)
}

// textOf is ActorText for an actor whose class is in its header, if it is there; else it is class, "" if that is not known.
func (in *Inspection) textOf(id event.ActorID, class string) string {
	if h, found, err := row.GetHeader(in.view, id); err == nil && found {
		if class, err := in.class(h.Layout); err == nil {
			return in.nameOf(class, id, &h)
		}
	}
	if class == "" {
		return id.String()
	}
	return in.short(class) + ":" + id.String()
}

// arguments returns the arguments of a letter as JSON, null if they were not kept.
func (in *Inspection) arguments(l *event.DeadLetter) (json.RawMessage, error) {
	if len(l.Args) < l.ArgsSize {
		return json.RawMessage("null"), nil
	}
	if l.Signature == "" {
		return json.RawMessage("{}"), nil
	}
	var types jsoncodec.Compiler
	if l.Kind == event.GoLetter {
		return types.GoArguments(l.Signature, l.Args, in)
	}
	params, _, err := types.Signature(l.Signature, l.Params)
	if err != nil {
		return nil, err
	}
	return params.Append(nil, l.Args, in)
}
