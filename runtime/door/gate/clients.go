package gate

import (
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
)

// BeginClient begins a client of the caller of a request, with an object of each client class that is named. A refusal for
// want of rights has its line in the audit.
func (g *Gate) BeginClient(q *Request, names []string) (*door.Remote, error) {
	began := time.Now()
	var list []*door.ClientClass
	for _, name := range names {
		class, err := g.Door.ClientClass(name)
		if !q.By.MayBe(class) { // also if it is not there
			q.Class, q.Method = name, ""
			return nil, g.Account(q, began, door.Refuse(door.Forbidden, "the rights of %s do not reach a method that takes a client of class %s", q.By.Name, name))
		}
		if err != nil {
			return nil, err
		}
		list = append(list, class)
	}
	if len(list) == 0 {
		return nil, door.Refuse(door.BadArgs, "classes: there is none; name those that methods of actors take")
	}
	return g.Door.Remotes.Begin(q.By.Name, list)
}

// Client finds a client of the caller of a request.
func (g *Gate) Client(q *Request, id string) (*door.Remote, error) {
	return g.Door.Remotes.Find(q.By.Name, id)
}
