package state

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// Signatures connect the methods of the program, of type M, with the numbers under which rows of calls that
// wait, and of outcomes, know them. Once Open has returned, any goroutine may ask.
type Signatures[M comparable] struct {
	numbers map[M]uint32 // of the signatures that the methods have now
	stored  map[uint32]*StoredSignature[M]
}

// StoredSignature is a signature that a method has, or has had.
type StoredSignature[M comparable] struct {
	store.Signature
	Method M                // that the program has now, or none
	wrong  *store.CallError // why that cannot read calls of this signature; nil if it can
}

// Open takes the signatures from a schema that has adopted the classes. method returns the method of a class, or none.
func (s *Signatures[M]) Open(schema *store.Schema, classes []store.Class, method func(class, name string) M) {
	s.numbers, s.stored = make(map[M]uint32), make(map[uint32]*StoredSignature[M])
	now := make(map[[2]string]string)
	for _, c := range classes {
		for _, m := range c.Methods {
			now[[2]string{c.Name, m.Name}] = m.Signature
		}
	}
	for _, sig := range schema.Signatures() {
		var m M
		if text, there := now[[2]string{sig.Class, sig.Method}]; there {
			if m = method(sig.Class, sig.Method); text == sig.Text {
				s.numbers[m] = sig.Number
			}
		}
		s.stored[sig.Number] = &StoredSignature[M]{Signature: sig, Method: m}
	}
	for _, wrong := range schema.Unreadable(classes) {
		s.stored[wrong.Number].wrong = wrong
	}
}

// Number returns the number for a call of m that is to wait.
func (s *Signatures[M]) Number(m M) uint32 {
	n := s.numbers[m]
	if n == 0 {
		assert.Unreachable("calls of %v cannot wait in a store, as its class does not list it", m)
	}
	return n
}

// Result returns the number for an outcome of m: 0 if it belongs to no class.
func (s *Signatures[M]) Result(m M) uint32 { return s.numbers[m] }

// Of returns the signature of an outcome, by its number: the zero one if it belongs to no class.
func (s *Signatures[M]) Of(number uint32) store.Signature {
	if old := s.stored[number]; old != nil {
		return old.Signature
	}
	return store.Signature{}
}

// NumberOf returns the number of a signature that Of has returned in another store; false: this store has never had it.
func (s *Signatures[M]) NumberOf(class, method, text string) (number uint32, ok bool) {
	for n, old := range s.stored {
		if s := old.Signature; s.Class == class && s.Method == method && s.Text == text {
			return n, true
		}
	}
	return 0, class == "" && method == ""
}

// Waiting returns the signature of a call that waits. It is nil, and the call counted, if the program
// cannot read it.
func (s *Signatures[M]) Waiting(number uint32) (*StoredSignature[M], error) {
	old := s.stored[number]
	switch {
	case old == nil:
		return nil, fmt.Errorf("its signature %d is not in the schema", number)
	case old.wrong != nil:
		old.wrong.Waiting++
		return nil, nil
	}
	return old, nil
}

// Unread returns a *store.CallError for every signature of which calls wait that the program cannot read,
// joined, in the order of their numbers.
func (s *Signatures[M]) Unread(schema *store.Schema) error {
	var errs []error
	for _, sig := range schema.Signatures() {
		if wrong := s.stored[sig.Number].wrong; wrong != nil && wrong.Waiting > 0 {
			errs = append(errs, wrong)
		}
	}
	return errors.Join(errs...)
}

// Readable returns a *ResultError if the outcome of a call of a stored signature is not what m returns, which has the signature
// now. Methods of no class, which have the number 0, return nothing.
func (s *Signatures[M]) Readable(number uint32, m M, now store.Signature) error {
	if number == s.numbers[m] {
		return nil
	}
	then := store.Signature{Method: "delete", Text: "()"}
	if number != 0 {
		old := s.stored[number]
		if old == nil {
			return fmt.Errorf("its signature %d is not in the schema", number)
		}
		then = old.Signature
	}
	if why := store.CompareResults(then.Text, now.Text); why != "" {
		return &event.ResultError{Then: then.String(), Now: now.String(), Reason: why}
	}
	return nil
}
