package exec

import (
	"errors"
	"fmt"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/store"
)

// signatures connect the methods of the program with the numbers under which rows of calls that
// wait, and of outcomes, know them. Once open has returned, any goroutine may ask.
type signatures struct {
	numbers map[*Method]uint32 // of the signatures that the methods have now
	stored  map[uint32]*storedSignature
}

// storedSignature is a signature that a method has, or has had.
type storedSignature struct {
	store.Signature
	method *Method          // that the program has now
	wrong  *store.CallError // why that cannot read calls of this signature; nil if it can
}

// open takes the signatures from a schema that has adopted the classes.
func (s *signatures) open(schema *store.Schema, classes []*Class) {
	s.numbers, s.stored = make(map[*Method]uint32), make(map[uint32]*storedSignature)
	methods := make(map[[2]string]*Method)
	for _, c := range classes {
		for _, m := range c.Methods {
			methods[[2]string{c.Path(), m.Name}] = m
		}
	}
	for _, sig := range schema.Signatures() {
		m := methods[[2]string{sig.Class, sig.Method}]
		if m != nil && m.Signature == sig.Text {
			s.numbers[m] = sig.Number
		}
		s.stored[sig.Number] = &storedSignature{Signature: sig, method: m}
	}
	for _, wrong := range schema.Unreadable(storedClasses(classes)) {
		s.stored[wrong.Number].wrong = wrong
	}
}

// number returns the number for a call of m that is to wait.
func (s *signatures) number(m *Method) uint32 {
	n := s.numbers[m]
	if n == 0 {
		assert.Unreachable("calls of %v cannot wait in a store, as its class does not list it", m)
	}
	return n
}

// waiting returns the signature of a call that waits. It is nil, and the call counted, if the program
// cannot read it.
func (s *signatures) waiting(number uint32) (*storedSignature, error) {
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

// unread returns a *store.CallError for every signature of which calls wait that the program cannot read,
// joined, in the order of their numbers.
func (s *signatures) unread(schema *store.Schema) error {
	var errs []error
	for _, sig := range schema.Signatures() {
		if wrong := s.stored[sig.Number].wrong; wrong != nil && wrong.Waiting > 0 {
			errs = append(errs, wrong)
		}
	}
	return errors.Join(errs...)
}

// result returns a *ResultError if the outcome of a call of a stored signature is not what m returns now. Methods of
// no class, which have the number 0, return nothing.
func (s *signatures) result(number uint32, m *Method) error {
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
	if why := store.CompareResults(then.Text, m.Signature); why != "" {
		now := store.Signature{Method: m.Name, Text: m.Signature}
		if m.Class != nil {
			now.Class = m.Class.Path()
		}
		return &ResultError{Then: then.String(), Now: now.String(), Reason: why}
	}
	return nil
}

// ResultError refuses a request of a durable session that has run, with an outcome that the program cannot
// read any more.
type ResultError struct {
	Session   string
	Seq       uint64
	Then, Now string // the methods, with their types
	Reason    string
}

// Error implements error.
func (e *ResultError) Error() string {
	return fmt.Sprintf("request %d of session %q has run, and its outcome, of %s, cannot be read as one of %s: %s; ask the version before for it, or acknowledge it",
		e.Seq, e.Session, e.Then, e.Now, e.Reason)
}
