package door

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/internal/similar"
	"github.com/aeon-lang/aeon/runtime/event"
)

// register finds classes by their names. The package may be left out where no other one has a class of the name.
type register[C any] struct {
	what   string // the kind of its classes, for a user
	all    []registered[C]
	byPath map[string]*C
	byName map[string]*C // of classes whose name no other package has; nil for others
}

type registered[C any] struct {
	name, path string
	is         *C
}

func newRegister[C any](what string) register[C] {
	return register[C]{what: what, byPath: make(map[string]*C), byName: make(map[string]*C)}
}

// add adds a class. path is its name behind its package.
func (r *register[C]) add(name, path string, c *C) {
	r.all, r.byPath[path] = append(r.all, registered[C]{name, path, c}), c
	if _, twice := r.byName[name]; twice {
		c = nil
	}
	r.byName[name] = c
}

// find returns a class by its name. The error is a *NotFoundError.
func (r *register[C]) find(name string) (*C, error) {
	if c := r.byPath[name]; c != nil {
		return c, nil
	}
	c, known := r.byName[name]
	switch {
	case c != nil:
		return c, nil
	case known:
		var paths []string
		for _, c := range r.all {
			if c.name == name {
				paths = append(paths, c.path)
			}
		}
		return nil, notFound("several packages have a class %s: say %s", name, strings.Join(paths, " or "))
	}
	return nil, notFound("the program has no %s %q%s", r.what, name, hint(name, func(yield func(string)) {
		for _, c := range r.all {
			yield(c.name)
		}
	}))
}

// nameOf returns the name by which callers know a class: without its package, if that is clear.
func (r *register[C]) nameOf(c *C, name, path string) string {
	if r.byName[name] == c {
		return name
	}
	return path
}

// NotFoundError says that there is no such class, method, actor or client.
type NotFoundError struct {
	Msg  string
	Gone event.ActorID // an actor that was there, perhaps, and was deleted; null: it is something else that is not there
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Msg }

func notFound(format string, args ...any) error {
	return &NotFoundError{Msg: fmt.Sprintf(format, args...)}
}

// NoActorError says that an argument refers to an actor that is not there. It was there, perhaps, and was deleted.
type NoActorError struct{ Msg string }

// Error implements error.
func (e *NoActorError) Error() string { return e.Msg }

// hint proposes the name that was meant.
func hint(name string, each func(yield func(string))) string {
	if near := similar.Nearest(name, each); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
