package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// ActorName is how users name an actor of a store: Class/name, or, without a name, Class:id or the id
// alone, as traces show them.
type ActorName struct {
	Class string // with its package; "": the id stands alone

	program, name string
	id            event.ActorID // if name is ""
}

// ParseActorName reads what a user writes. A class without a package is one of the program's own.
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

// NoClassError says that a program has no such class of actors.
type NoClassError struct {
	Class string
	Have  []string // the classes that it has, as users write them
}

// Error implements error.
func (e *NoClassError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("the program has no actorclass %s, nor any other", e.Class)
	}
	return fmt.Sprintf("the program has no actorclass %s%s", e.Class, cmdline.Choices(e.Class, e.Have, "it has"))
}

// Among returns a *NoClassError unless the class is one of those with the names, or none is named.
func (n ActorName) Among(classes []string) error {
	if n.Class == "" || slices.Contains(classes, n.Class) {
		return nil
	}
	bad := &NoClassError{Class: n.short(n.Class)}
	for _, c := range classes {
		bad.Have = append(bad.Have, n.short(c))
	}
	slices.Sort(bad.Have)
	return bad
}

// short is the name of a class, without the package if that is the program's.
func (n ActorName) short(class string) string { return strings.TrimPrefix(class, n.program+".") }

// Find returns the actor with this name in a view. The error is a *NoActorError if there is none, a *NoClassError if
// there is no such class, and an *OtherActorError if the id is that of an actor of another class.
func (n ActorName) Find(view store.Reader) (id event.ActorID, err error) {
	id, err = n.find(view)
	none := new(NoActorError)
	if !errors.As(err, &none) || n.Class == "" {
		return id, err
	}
	schema, bad := store.ReadSchema(view)
	if bad != nil {
		return id, bad
	}
	var known []string
	for _, c := range schema.Classes() {
		known = append(known, c.Name)
	}
	if bad := n.Among(known); bad != nil {
		return id, bad
	}
	if none.Name != "" {
		if bad := none.lookAround(view); bad != nil {
			return id, bad
		}
	}
	return id, err
}

func (n ActorName) find(view store.Reader) (id event.ActorID, err error) {
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
	if wanted := n.short(n.Class) + ":" + n.id.String(); err == nil && n.Class != "" && is != wanted {
		err = &OtherActorError{Wanted: wanted, Is: is}
	}
	return n.id, err
}
