package archive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// NoActorError says that an actor does not exist.
type NoActorError struct {
	Class, Name string
	ID          event.ActorID // if Name is ""

	// Others are names that actors of the class have, ascending; nil if they were not looked for.
	Others []string
	// More says that there are more than Others.
	More bool
}

const (
	// NamesRead bounds how many rows are read to tell what names there are.
	NamesRead = 1000
	// namesShown bounds how many of the names are shown, nameShownMax how much of each.
	namesShown   = 5
	nameShownMax = 40
)

// Error implements error.
func (e *NoActorError) Error() string {
	if e.Name == "" {
		return fmt.Sprintf("there is no actor %v", e.ID)
	}
	text := fmt.Sprintf("there is no actor %s/%s", e.Class, e.Name)
	switch {
	case e.Others == nil || len(e.Others) == 0 && e.More:
		return text
	case len(e.Others) == 0:
		return text + ", nor any other of its class that has a name"
	}
	hint := cmdline.DidYouMean(e.Name, e.Others)
	if hint == "" {
		hint = ";"
	}
	var shown []string
	for _, name := range e.Others[:min(len(e.Others), namesShown)] {
		shown = append(shown, shownName(name))
	}
	text += hint + " there are: " + strings.Join(shown, ", ")
	switch {
	case e.More:
		text += fmt.Sprintf(", … (more than %d in all)", len(e.Others))
	case len(e.Others) > namesShown:
		text += fmt.Sprintf(", … (%d in all)", len(e.Others))
	}
	return text
}

// shownName is a name in a list: quoted if it could be confused with the text around it.
func shownName(name string) string {
	if len(name) > nameShownMax {
		name = strings.ToValidUTF8(name[:nameShownMax], "") + "…"
	}
	if q := strconv.Quote(name); name == "" || len(q) != len(name)+2 || strings.ContainsAny(name, ", ;()") {
		return q
	}
	return name
}

// lookAround adds the names that actors of the class have.
func (e *NoActorError) lookAround(view store.Reader) error {
	partitions, err := store.PartitionsOf(view)
	if err != nil {
		return err
	}
	e.Others = []string{}
	left := NamesRead
	for p := 0; p < partitions && !e.More; p++ {
		if err := e.lookIn(view, event.PartitionID(p), &left); err != nil {
			return err
		}
	}
	slices.Sort(e.Others)
	return nil
}

// lookIn reads the names in a partition, at most *left rows.
func (e *NoActorError) lookIn(view store.Reader, p event.PartitionID, left *int) (err error) {
	of := append(store.AppendSection(nil, p, store.Names), e.Class...)
	from, to := append(slices.Clone(of), 0), append(slices.Clone(of), 1)
	it := view.Scan(from, to)
	defer func() {
		if closed := it.Close(); err == nil {
			err = closed
		}
	}()
	for it.Next() {
		if *left == 0 {
			e.More = true
			return nil
		}
		*left--
		of, err := row.ReadName(it.Key(), it.Value())
		if err != nil {
			return err
		}
		if !of.Dead {
			e.Others = append(e.Others, string(it.Key()[len(from):]))
		}
	}
	return nil
}

// FindNamed returns the actor of a class, with its package, that has a name in a view.
func FindNamed(view store.Reader, class, name string) (event.ActorID, error) {
	partitions, err := store.PartitionsOf(view)
	if err != nil {
		return event.ActorID{}, err
	}
	key := row.NameKey(class, name, partitions)
	value, ok, err := view.Get(key, nil)
	if err != nil {
		return event.ActorID{}, err
	}
	if !ok {
		return event.ActorID{}, &NoActorError{Class: class, Name: name}
	}
	of, err := row.ReadName(key, value)
	if err != nil {
		return event.ActorID{}, err
	}
	if of.Dead {
		return event.ActorID{}, &NoActorError{Class: class, Name: name}
	}
	return event.NamedActor(class, name, of.Incarnation, partitions), nil
}
