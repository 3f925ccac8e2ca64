package state

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Layouts are the layouts of the fields of actors: the one that a class has now, and those
// that actors were created with. Any goroutine may call the methods.
type Layouts struct {
	Schema  *store.Schema
	current map[*order.Shape]*store.Layout
	shapes  map[string]*order.Shape
	changes []store.FieldChange // due to the program's version
	mu      sync.Mutex
	numbers map[uint32]numbered // guarded by mu
}

// numbered is a layout by its number.
type numbered struct {
	layout *store.Layout
	shape  *order.Shape
}

// Open reads the schema of a store and makes the classes of the program its own, in memory: nothing is
// written before recovery has read the whole store. Values of the fields in drop may be lost. now describes classes to
// the schema, in the same order.
func (l *Layouts) Open(from store.Reader, classes []*order.Shape, now []store.Class, drop []store.Part) error {
	schema, err := store.ReadSchema(from)
	if err != nil {
		return err
	}
	l.Schema = schema
	schema.Drop(drop)
	if schema.Check(now) != nil || len(schema.FieldChanges(now)) > 0 { // else the numbers do not matter
		if err := l.count(from); err != nil {
			return err
		}
	}
	changes := schema.FieldChanges(now)
	if err := schema.Adopt(now); err != nil {
		return err
	}
	l.Use(schema, classes)
	l.changes = changes
	return nil
}

// CountActors counts the actors of a store by the layouts in their headers. Actors whose constructors have not run count,
// too, and those that an attempt has prepared whose home has not decided yet.
func CountActors(from store.Reader) (map[uint32]int, error) {
	partitions, err := store.PartitionsOf(from)
	if err != nil {
		return nil, err
	}
	actors := make(map[uint32]int)
	var bad *store.CorruptError
	for p := range partitions {
		count := func(key, payload []byte) {
			var h row.Header
			if err := h.Read(payload); err != nil {
				bad = &store.CorruptError{Key: slices.Clone(key), Reason: err.Error()}
			}
			actors[h.Layout]++
		}
		prepared := func(key, payload []byte) {
			if len(key) <= store.SectionSize || row.InDoubtKind(key[store.SectionSize]) != row.KindPrepared {
				return
			}
			of, err := row.ReadPrepared(payload)
			if err != nil {
				bad = &store.CorruptError{Key: slices.Clone(key), Reason: err.Error()}
			}
			for _, made := range of.Fresh {
				actors[made.Layout]++
			}
		}
		damaged := func(err *store.CorruptError) { bad = err }
		if err := errors.Join(store.VerifySection(from, event.PartitionID(p), store.Headers, count, damaged),
			store.VerifySection(from, event.PartitionID(p), store.InDoubt, prepared, damaged)); err != nil {
			return nil, err
		}
	}
	if bad != nil {
		return nil, bad
	}
	return actors, nil
}

// Tell logs what has become of fields whose values the program does not read, or reads again.
func (l *Layouts) Tell(log *slog.Logger) {
	for _, c := range l.changes {
		text := "a field is gone: its values are kept for a version that has it"
		switch c.Fate {
		case store.FieldBack:
			text = "a field is back: actors that had it have the values that were kept"
		case store.FieldDropped:
			text = "the values of a field are given up"
		}
		if c.Actors == 0 {
			continue // there are no values
		}
		log.Warn(text, "field", c.Field.String(), "class", c.In, "actors", c.Actors)
	}
	for _, field := range l.Schema.Needless(l.changes) {
		log.Warn("nothing is given up of a field: nothing is stored in it, or the program has it", "field", field.String())
	}
}

// Use takes a schema into use that has the classes.
func (l *Layouts) Use(schema *store.Schema, classes []*order.Shape) {
	l.Schema = schema
	l.current, l.shapes = make(map[*order.Shape]*store.Layout), make(map[string]*order.Shape)
	l.numbers = make(map[uint32]numbered)
	for _, c := range classes {
		l.current[c], l.shapes[c.Path()] = l.Schema.Layout(c.Path()), c
	}
}

// Of returns the layout that a class has now.
func (l *Layouts) Of(c *order.Shape) *store.Layout { return l.current[c] }

// ByNumber returns the layout with a number and its class. If the program does not have the
// class any more the error wraps ErrClass.
func (l *Layouts) ByNumber(number uint32) (*store.Layout, *order.Shape, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, known := l.numbers[number]
	if !known {
		layout, class := l.Schema.ByNumber(number)
		switch {
		case layout != nil:
			n = numbered{layout, l.shapes[class]}
			l.numbers[number] = n
		case class != "":
			return nil, nil, fmt.Errorf("%w: %s", ErrClass, class) // recovery refuses such a store
		default:
			return nil, nil, fmt.Errorf("its layout %d is not in the schema", number)
		}
	}
	return n.layout, n.shape, nil
}

// Lost returns an error for each class with stored actors that the program does not have. The errors wrap ErrClass.
func (l *Layouts) Lost(from store.Reader) error {
	var errs []error
	for _, c := range l.Schema.Classes() {
		if l.shapes[c.Name] != nil {
			continue
		}
		if err := l.count(from); err != nil {
			return err
		}
		if n := l.Schema.Actors(c.Name); n > 0 {
			errs = append(errs, fmt.Errorf("%w: %s, of which actors are stored (%d); bring it back, without methods if you like", ErrClass, c.Name, n))
		}
	}
	return errors.Join(errs...)
}

// count tells the schema how many actors there are, unless it was told before.
func (l *Layouts) count(from store.Reader) error {
	if l.Schema.Counted() {
		return nil
	}
	actors, err := CountActors(from)
	if err == nil {
		l.Schema.Count(actors)
	}
	return err
}

// ErrClass is wrapped by the error for rows that this program has no class for.
var ErrClass = errors.New("the program has no such class")

func isClass(err error) bool { return errors.Is(err, ErrClass) }
