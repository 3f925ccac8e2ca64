package value

import (
	"sync"
	"sync/atomic"
	"weak"
)

// A container that is stored by element need not be in memory. Its body then has a source,
// which reads elements from the store on demand. The body keeps only what was written since.
//
// A source shows the present state of the store. A copy of a container may be older, because
// it lives on where it was assigned to. So a body knows the Version that the store had when
// the body was right, and each commit leaves with the version what it has replaced, for as
// long as a body may need it. Versions refer to later ones only, so that what no body needs
// is collected.

// Unreadable is the panic value of every operation that needs an element which cannot be
// read. The store has failed then, and commits nothing more: what has needed the element ends
// as all does whose store has failed.
type Unreadable struct{ Err error }

// Error implements error.
func (u *Unreadable) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Unreadable) Unwrap() error { return u.Err }

// Try calls f, which reads or encodes values, and returns why it cannot, nil if it can: an element cannot be read, or a value has a Fault, as one
// that nests too deeply. Code that does so outside of the run of an event does it by Try: there the panic would end the process.
func Try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Unreadable:
			err = p.Err
		case Fault:
			err = p
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// Go compiles a generic type once more for each type of elements, with all of its methods, whether
// they are called or not. So what knows of rows is not generic. An any is a key there, or a pointer
// to an element.

// Scan goes over stored entries in ascending order of their keys. It must be closed.
type Scan interface {
	// Next returns the next entry; ok is false at the end. Here k is a pointer to the key, too, and what
	// both lead to changes with the next call.
	Next() (k, v any, ok bool)
	Close()
}

// MapSource reads the stored entries of a map. Its methods may be called from any goroutine,
// and panic with *Unreadable.
type MapSource interface {
	// Find returns the value of k now, and whether there is one.
	Find(k any) (any, bool)
	// Scan goes over the entries as they are now; without values it may leave them zero.
	Scan(values bool) Scan
	// Load is Tally.Due, and returns what the load reads the entries by.
	Load(size, each int) (MapSource, *Loading)
	// Damaged panics with an *Unreadable that says why what was read cannot be right.
	Damaged(why string)
}

// VectorSource reads the stored elements of a vector. Its methods may be called from any
// goroutine, and panic with *Unreadable.
type VectorSource interface {
	// Elems returns the j-i elements from i on as they are now; missing ones are null. The
	// caller owns the result.
	Elems(i, j int) []Opt[any]
	// Load is Tally.Due, and returns what the load reads the elements by.
	Load(size, each int) (VectorSource, *Loading)
	// Damaged panics with an *Unreadable that says why what was read cannot be right.
	Damaged(why string)
}

// Version is a committed content of a container that is stored by element. A body that has
// a version, the Writer of rows can tell, differs from the rows by what the event's undo
// records say.
type Version struct {
	far bool // bodies may have to read from the store
	// watched: there may be bodies with this version, apart from that of the field.
	watched atomic.Bool
	prev    weak.Pointer[Version]
	mu      sync.RWMutex
	old     map[any]Opt[any] // what commits have replaced since this version
	whole   bool             // old is everything
	next    *Version
}

// NewVersion returns the version of what has just been stored or, if far is set, of what
// has been found in the store.
func NewVersion(far bool) *Version { return &Version{far: far} }

// Observed reports whether a body may still read content of this or an older version from
// the store.
func (v *Version) Observed() bool {
	return v.far && (v.watched.Load() || v.prev.Value() != nil)
}

// Advance notes that a commit replaces the entries of old, which has what they were, and
// returns the version of the content that results. The commit must not be visible yet.
func (v *Version) Advance(old map[any]Opt[any]) *Version {
	if v.watched.Load() {
		return v.follow(old, false)
	}
	if p := v.prev.Value(); p != nil {
		p.mu.Lock()
		p.add(old)
		p.mu.Unlock()
	}
	return v
}

// Resume returns the version of content that is found in the store again, where nothing has
// changed since it was v.
func (v *Version) Resume() *Version { return v.follow(nil, false) }

// Replace is Advance for a commit that replaces everything. all is needed if Observed.
func (v *Version) Replace(all map[any]Opt[any], far bool) *Version {
	n := v.follow(all, true)
	n.far = far || v.far
	return n
}

func (v *Version) follow(old map[any]Opt[any], whole bool) *Version {
	n := &Version{far: v.far, prev: weak.Make(v)}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.add(old)
	v.whole = whole
	v.next = n
	return n
}

// add keeps what is older than what is there. The caller holds mu.
func (v *Version) add(old map[any]Opt[any]) {
	if !v.far || v.whole {
		return
	}
	if v.old == nil {
		v.old = make(map[any]Opt[any], len(old))
	}
	for k, o := range old {
		if _, ok := v.old[k]; !ok {
			v.old[k] = o
		}
	}
}

// find returns what k was at the version, if it has been replaced since. A caller that reads
// k from the store must do so before: then a commit that the store shows is known here.
func (v *Version) find(k any) (o Opt[any], replaced bool) {
	for v != nil {
		v.mu.RLock()
		o, replaced = v.old[k]
		whole, next := v.whole, v.next
		v.mu.RUnlock()
		if replaced || whole {
			return o, true
		}
		v = next
	}
	return o, false
}

// replaced returns all entries that have been replaced since the version; whole says that
// there were no others. What find says of the order of reading holds here, too.
func (v *Version) replaced() (old map[any]Opt[any], whole bool) {
	old = map[any]Opt[any]{}
	for ; v != nil && !whole; v = v.later() {
		v.mu.RLock()
		for k, o := range v.old {
			if _, ok := old[k]; !ok {
				old[k] = o
			}
		}
		whole = v.whole
		v.mu.RUnlock()
	}
	return old, whole
}

func (v *Version) later() *Version {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.next
}

// keptMax is how many elements a body that is read from the store keeps in memory from one
// event to the next.
const keptMax = 1024
