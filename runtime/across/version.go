package across

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
)

// While the nodes of a cluster are restarted one after the other with a new version of the program, stores of two versions talk to each other. They name
// methods with their types, so what one encodes the other decodes, or does not know. An event that meets a method which a store does not know waits, outside of all locks,
// until a session has begun or ended: then it may be that another version runs there.

// MethodName returns how stores name a method to each other. Methods of one path whose signatures differ have different names.
func MethodName(path, signature string) string {
	h := fnv.New64a()
	h.Write([]byte(signature)) // it never fails
	return fmt.Sprintf("%s#%08x", path, uint32(h.Sum64()))
}

// PathIn returns the path in the name of a method.
func PathIn(name string) string {
	path, _, _ := strings.Cut(name, "#")
	return path
}

// Lacks notes that this store has no method of a name that another one has told it of.
func (s *Store) Lacks(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lack(s.cfg.Store, name)
}

// lacking says that the program of a store has no method of a name.
type lacking struct {
	of   event.StoreID
	name string
}

// lack notes that the program of a store has no method of this name. Caller holds mu.
func (s *Store) lack(of event.StoreID, name string) {
	if l := (lacking{of, name}); !slices.Contains(s.lacks, l) {
		s.lacks = append(s.lacks, l)
		s.cfg.Log.Warn("an event waits, as a store has no such method, or one with other types: start all nodes with one version of the program", "store", of, "method", PathIn(name))
	}
}

// changed notes that a session has begun, or has ended. Caller holds mu.
func (s *Store) changed() {
	s.changes++
	s.lacks = nil
	s.news.Broadcast()
}

// AwaitSessions has an event wait until a session of the store has begun or ended since one of its attempts began, or the event is cancelled. It is between
// two attempts.
func (s *Store) AwaitSessions(a *order.Attempt, since *Try) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.await(a.Context(), func() bool { return s.ended || s.changes != since.changes })
}

// await waits until something is so, or ctx has ended, which does not end the waiting of a system that is scheduled. Caller holds mu.
func (s *Store) await(ctx context.Context, so func() bool) {
	if s.cfg.Scheduler == nil && ctx.Done() != nil {
		defer context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.news.Broadcast()
		})()
	}
	for !so() && ctx.Err() == nil {
		s.news.Wait()
	}
}

// Missed returns why an event may have waited in vain for other stores; nil: nothing is known.
func (s *Store) Missed() *event.AwayError {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.lacks); n > 0 {
		return &event.AwayError{Store: s.lacks[n-1].of, Lacks: PathIn(s.lacks[n-1].name)}
	}
	for id := range s.cfg.Stores {
		if !s.reaches(id) {
			return &event.AwayError{Store: id}
		}
	}
	return nil
}
