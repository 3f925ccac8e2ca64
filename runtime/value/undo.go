package value

// The containers in the fields of actors are written in place, and an event that fails takes
// its writes back. Before each write it asks the container for a record that restores what is
// about to be lost (the Note functions), and appends it to its log. If it fails it runs the
// log from the end.
//
// A record restores a place in a body: an element, an entry, the length, or everything.
// Bodies keep their identity from the write to the undo, wherever the containers that refer
// to them move meanwhile. The container's own reference to its body is a place of its own:
// OwnVector and OwnMap alone change it, and their caller restores it.
//
// A place that has a record in the log needs no other, since the oldest one wins. So a body
// remembers which of its places do not matter any more to the log that was last written to
// it: those that came into being after the log's first record. Once there are as many records
// as the body has elements, no place matters, because then the body is copied instead. What a
// log keeps of a body is thus bounded by the size of the body.

// Undo takes back one write to the body of a container.
type Undo interface{ Undo() }

// notesMin is how many records a log may keep of however small a body.
const notesMin = 16

// tooMany reports whether notes records cost more than a copy of size elements does.
func tooMany(notes uint32, size int) bool { return int(notes) >= notesMin+size/4 }
