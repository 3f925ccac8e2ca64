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
// methods with their types, so what one encodes the other decodes, or does not know. An event that meets a method or a class which a store does not know waits, outside of
// all locks, until a session has begun or ended: then it may be that another version runs there.

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

// Lacks ends the code of an attempt that has asked a store for something which the program there does not have: a method, or a class. Sessions were so many then.
func (s *Store) Lacks(of event.StoreID, name string, sessions uint64) order.Withdrawal {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lack(of, name)
	return order.Withdrawal{Lacks: &order.Lacking{Of: of, Name: PathIn(name), Sessions: sessions}}
}

// lacking says that the program of a store does not have what has a name.
type lacking struct {
	of   event.StoreID
	name string
}

// lack notes that the program of a store does not have what has a name. Caller holds mu.
func (s *Store) lack(of event.StoreID, name string) {
	if l := (lacking{of, name}); !slices.Contains(s.lacks, l) {
		s.lacks = append(s.lacks, l)
		s.cfg.Log.Warn("an event waits, as a store has no such method or class, or a method with other types: start all nodes with one version of the program", "store", of, "name", PathIn(name))
	}
}

// changed notes that a session has begun, or has ended. Caller holds mu.
func (s *Store) changed() {
	s.changes++
	s.lacks = nil
	s.news.Broadcast()
	s.wakeStoreWaits()
}

// Sessions returns how often a session of the store has begun or ended.
func (s *Store) Sessions() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// storeWait is an event that waits, between two attempts, for a store: it is away, or lacks something.
type storeWait struct {
	by    *order.Attempt
	token uint32
	lacks *order.Lacking
	over  bool // the next attempt may find it; guarded by the mutex of the attempt
}

// AwaitLacking has an event wait, between two attempts, until what the one before has found to be lacking may be there, or the event is cancelled: until a session of the store
// has begun or ended since then, or if another store was away, until there is a session with that.
func (s *Store) AwaitLacking(a *order.Attempt, l *order.Lacking) {
	x := &storeWait{by: a, token: a.Token(), lacks: l}
	s.mu.Lock()
	s.storeWaits = append(s.storeWaits, x)
	s.wakeStoreWaits() // it may be there by now
	s.mu.Unlock()
	came := a.AwaitNews(func() bool { return x.over })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.storeWaits = slices.DeleteFunc(s.storeWaits, func(o *storeWait) bool { return o == x })
	if !came {
		a.Cancellation.Explain(&event.AwayError{Store: l.Of, Lacks: l.Name, Cause: context.Canceled})
	}
}

// wakeStoreWaits has the events go on for which what was lacking may be there. Caller holds mu, as for what follows.
func (s *Store) wakeStoreWaits() {
	for _, x := range s.storeWaits {
		if !s.stillLacks(x.lacks) {
			x.by.Notify(x.token, func() { x.over = true })
		}
	}
}

// stillLacks reports whether nothing has changed since it was found that a store lacks something, or is away.
func (s *Store) stillLacks(l *order.Lacking) bool {
	switch {
	case s.ended:
		return false
	case l.Name == "":
		return !s.reaches(l.Of)
	}
	return s.changes == l.Sessions
}

// AwaitSessions waits until a session of the store has begun or ended since it was found that another one lacks something. The error is an *event.AwayError if ctx ends before.
func (s *Store) AwaitSessions(ctx context.Context, l *order.Lacking) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.await(ctx, func() bool { return !s.stillLacks(l) })
	if err := ctx.Err(); err != nil {
		return &event.AwayError{Store: l.Of, Lacks: l.Name, Cause: err}
	}
	return nil
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
