package exec

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// ActorName is how people name an actor of a store: Class/name, or, without a name, Class:id or its id
// alone, as traces show them.
type ActorName struct {
	Class string // with its package; "": the id stands alone

	program, name string
	id            event.ActorID // if name is ""
}

// ParseActorName reads what people write. A class without a package is one of the program's own.
func ParseActorName(program, text string) (ActorName, error) {
	n := ActorName{program: program}
	class, name, named := strings.Cut(text, "/")
	id, err := event.ParseActorID(text)
	if err != nil && !named {
		var number string
		class, number, _ = strings.Cut(text, ":")
		id, err = event.ParseActorID(number)
	}
	switch {
	case named && class != "" && name != "":
		n.Class, n.name = class, name
	case err != nil || id.IsNull() || class == "":
		return n, fmt.Errorf("%q is neither CLASS/NAME, nor CLASS:ID as a trace shows an actor without a name", text)
	case id.String() == text:
		n.id = id
	default:
		n.Class, n.id = class, id
	}
	if n.Class != "" && !strings.Contains(n.Class, ".") {
		n.Class = program + "." + n.Class
	}
	return n, nil
}

// OtherActorError says that the actor with an id is not of the class that was named.
type OtherActorError struct {
	Wanted, Is string
}

// Error implements error.
func (e *OtherActorError) Error() string {
	return fmt.Sprintf("there is no %s, but %s", e.Wanted, e.Is)
}

// Find returns the actor that is meant in a view; of a name the one that has it now. The error is a
// *NoActorError if there is none, and an *OtherActorError if the id is that of another one.
func (n ActorName) Find(view store.Reader) (id event.ActorID, err error) {
	if n.name != "" {
		return FindNamed(view, n.Class, n.name)
	}
	switch _, ok, err := view.Get(store.HeaderKey(n.id), nil); {
	case err != nil:
		return n.id, err
	case !ok:
		return n.id, &NoActorError{ID: n.id}
	}
	cut := Cut{Root: n.id, view: view}
	is, err := cut.Label(n.program)
	if wanted := strings.TrimPrefix(n.Class, n.program+".") + ":" + n.id.String(); err == nil && n.Class != "" && is != wanted {
		err = &OtherActorError{Wanted: wanted, Is: is}
	}
	return n.id, err
}
