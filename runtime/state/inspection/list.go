package inspection

import (
	"errors"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Selection says which actors List lists. The zero value is all.
type Selection struct {
	Class string // with its package, unless that is the program's; "": of all classes
	Limit int    // 0: none
	// Loaded reports whether the state of an actor is in memory; nil: no process uses the store.
	Loaded func(event.ActorID) bool
}

// Line is an actor in a list, as JSON has it.
type Line struct {
	Actor  bytejson.Text   `json:"actor"` // Class/name, or Class:id
	ID     string          `json:"id"`
	Class  string          `json:"class"` // with its package
	Owners []bytejson.Text `json:"owners"`
	Loaded *bool           `json:"loaded,omitempty"` // nil: no process uses the store
}

// List calls emit for each actor, partition by partition in the order of their ids, with a line of JSON that has the form of
// Line; emit must not keep it. The error is a *archive.NoClassError if there is no such class, or one of the store or of emit.
func (in *Inspection) List(s Selection, emit func(line []byte) error) error {
	class, err := in.classOf(s.Class)
	if err != nil {
		return err
	}
	l := list{Inspection: in, Selection: s, class: class, emit: emit}
	for p := 0; p < in.partitions && !l.full(); p++ {
		if err := l.partition(event.PartitionID(p)); err != nil {
			return err
		}
	}
	return nil
}

// classOf returns a class with its package, "" for "".
func (in *Inspection) classOf(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	if !strings.Contains(name, ".") {
		name = in.program + "." + name
	}
	missing := &archive.NoClassError{Class: in.short(name)}
	for _, c := range in.schema.Classes() {
		if c.Name == name {
			return name, nil
		}
		missing.Have = append(missing.Have, in.short(c.Name))
	}
	return "", missing
}

// list is one listing.
type list struct {
	*Inspection
	Selection
	class string
	emit  func(line []byte) error
	n     int
	line  []byte

	owner     event.ActorID // the one whose text was made last: actors of one owner stand together
	ownerText string
}

func (l *list) full() bool { return l.Limit > 0 && l.n >= l.Limit }

// partition lists the actors of a partition. Its edges have the same order as its headers.
func (l *list) partition(p event.PartitionID) (err error) {
	from, to := store.SectionRange(p, store.Edges)
	edges := edges{it: l.view.Scan(from, to)}
	defer func() {
		if closed := edges.it.Close(); err == nil {
			err = closed
		}
	}()
	if err := edges.next(); err != nil {
		return err
	}
	var h row.Header
	err = row.Section(l.view, p, store.Headers, store.ActorSize, func(key, rest, _, payload []byte) error {
		if l.full() {
			return errFull
		}
		if err := h.Read(payload); err != nil {
			return row.Damage(key, err)
		}
		class, err := l.Inspection.class(h.Layout)
		if err != nil {
			return row.Damage(key, err)
		}
		if h.Unborn || l.class != "" && class != l.class {
			return nil
		}
		return l.actor(store.ActorInKey(rest), class, &h, &edges)
	})
	if err == errFull {
		err = nil
	}
	return err
}

// errFull ends a listing that has as many actors as it may.
var errFull = errors.New("the list is full")

// actor lists one actor.
func (l *list) actor(id event.ActorID, class string, h *row.Header, edges *edges) error {
	l.n++
	b := append(l.line[:0], `{"actor":`...)
	b = bytejson.Append(b, l.nameOf(class, id, h))
	b = append(append(b, `,"id":"`...), id.String()...)
	b = append(b, `","class":`...)
	b = bytejson.Append(b, class)
	b = append(b, `,"owners":[`...)
	first := true
	owned := func(owner event.ActorID) error {
		text, err := l.textOf(owner)
		if err != nil || text == "" {
			return err
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = bytejson.Append(b, text)
		return nil
	}
	if h.Units > 0 {
		if err := owned(h.Parent); err != nil {
			return err
		}
	}
	if err := edges.of(id, owned); err != nil {
		return err
	}
	b = append(b, ']')
	if l.Loaded != nil {
		b = strconv.AppendBool(append(b, `,"loaded":`...), l.Loaded(id))
	}
	l.line = append(b, "}\n"...)
	return l.emit(l.line)
}

// textOf returns the text of an owner, "" if it was deleted.
func (l *list) textOf(id event.ActorID) (string, error) {
	if l.owner == id {
		return l.ownerText, nil
	}
	h, found, err := row.GetHeader(l.view, id)
	if err != nil {
		return "", err
	}
	l.owner, l.ownerText = id, ""
	if found {
		class, err := l.Inspection.class(h.Layout)
		if err != nil {
			return "", row.Damage(store.HeaderKey(id), err)
		}
		l.ownerText = l.nameOf(class, id, &h)
	}
	return l.ownerText, nil
}

// edges goes over the edges to the actors of a partition.
type edges struct {
	it   store.Iterator
	at   row.Edge
	over bool
}

func (e *edges) next() (err error) {
	if e.over = !e.it.Next(); e.over {
		return nil
	}
	key := e.it.Key()
	payload, err := store.Payload(key, e.it.Value())
	if err != nil {
		return err
	}
	_, rest, _, ok := row.SplitKey(key)
	if !ok || len(rest) < row.EdgeKeyMin {
		return row.Damage(key, errors.New("its key is too short"))
	}
	e.at, err = row.ReadEdge(rest, payload)
	return row.Damage(key, err)
}

// of calls f for the owners in the edges to an actor; the actors must ascend.
func (e *edges) of(child event.ActorID, f func(owner event.ActorID) error) error {
	for !e.over && !child.Less(e.at.Child) {
		if e.at.Child == child && e.at.Units > 0 {
			if err := f(e.at.Owner); err != nil {
				return err
			}
		}
		if err := e.next(); err != nil {
			return err
		}
	}
	return nil
}
