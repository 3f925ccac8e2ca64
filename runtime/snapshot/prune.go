package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Prune deletes all but the newest keep snapshots of what like is of, in its store, and the chunks that no snapshot
// of the store lists any more. like was made last; of several stores, it is there with all its parts. It returns how
// many snapshots it has deleted.
//
// The snapshots in the places beside count, too: see Below. like stays, whatever they have. Those of a place that cannot be read do not count, so that more
// stay; the error says so.
//
// Parts that are pending do not count, and stay until keep newer ones count. All that count are whole. So the newest keep whole snapshots of several stores
// stay in each store, whichever of them were told so.
//
// While a manifest is damaged it is not known which chunks it lists, and all stay; the error says so. The manifest is
// deleted when it is older than everything that is kept, which is when it would be if it were whole. One that cannot be read stays: it may be whole.
func Prune(ctx context.Context, t Target, like *Manifest, keep int) (deleted int, err error) {
	if like.Set != nil {
		if err := t.Delete(ctx, like.mark()); err != nil {
			return 0, err
		}
	}
	return prune(ctx, t, like.Store, pruning{of: func(m *Manifest) bool { return like.alike(*m) }, last: like.Name, keep: keep})
}

// Clean is Prune behind a snapshot of a store that has failed, of what w says. No snapshot is last, and of what none lists it leaves what this one has sent, or
// would list: the next one goes on from there. What those before it have sent goes, or the place would grow with each. sent is what Save returned with
// the error; nil: nothing of it is to stay, as the disk is full.
func Clean(ctx context.Context, t Target, w Wanted, keep int, sent *Manifest) (deleted int, err error) {
	return prune(ctx, t, w.Store, pruning{of: w.isOf, keep: keep, sent: sent})
}

// PruneAll is Prune for all that a place has of some stores, whose leaders send to other places now: it tells nothing of the newest ones, and deletes what
// was never finished, too. Further stores there may be of other programs, which send to the place while this runs.
func PruneAll(ctx context.Context, t Target, stores []string, keep int) (deleted int, err error) {
	for _, store := range stores {
		n, failed := 0, settle(ctx, t, store)
		if failed == nil {
			n, failed = prune(ctx, t, store, pruning{of: func(*Manifest) bool { return true }, keep: keep})
		}
		deleted, err = deleted+n, errors.Join(err, failed)
	}
	return deleted, err
}

// alike reports whether another snapshot is of the same.
func (m *Manifest) alike(o Manifest) bool {
	return m.Store == o.Store && m.Kind == o.Kind && m.Actor == o.Actor
}

// pruning says what prune deletes.
type pruning struct {
	of   func(*Manifest) bool // of which snapshots all but the newest keep go
	keep int
	last string    // the name of one that stays; "": none is known
	sent *Manifest // whose content stays, though it is not there; nil: there is none
}

// prune is Prune in a store.
func prune(ctx context.Context, t Target, store string, p pruning) (deleted int, err error) {
	list, damaged, err := List(ctx, t, store)
	if err != nil {
		return 0, err
	}
	var unread error
	defer func() { err = errors.Join(err, unread) }()
	counted := slices.Clone(list)
	for _, other := range beside(t) {
		more, _, err := List(ctx, other, store)
		if err != nil {
			unread = errors.Join(unread, fmt.Errorf("the snapshots in %s do not count: %w", other, err))
		}
		counted = append(counted, more...)
	}
	counted = slices.DeleteFunc(counted, func(m Manifest) bool { return m.pending || !p.of(&m) })
	newer := func(m Manifest) (n int) {
		for _, c := range counted {
			if m.alike(c) && byAge(m, c) < 0 {
				n++
			}
		}
		return n
	}
	var old []string
	var first *Manifest // of those that stay here; nil: none does
	used := make(map[string]bool)
	if p.sent != nil {
		for _, f := range p.sent.files() {
			used[p.sent.content(f)] = true
		}
	}
	for i := range list {
		m := &list[i]
		if newer(*m) >= p.keep && m.Name != p.last {
			old = append(old, m.path())
			continue
		}
		if first == nil || byAge(*m, *first) < 0 {
			first = m
		}
		used[m.mark()] = true
		for _, f := range m.files() {
			used[m.content(f)] = true
		}
	}
	isOld := func(bad *DamageError) bool {
		enough := func(c Manifest) bool { return bad.before(c.Name) && newer(c)+1 >= p.keep }
		return bad.Trouble == Damaged && (first == nil || bad.before(first.Name)) && slices.ContainsFunc(counted, enough)
	}
	// The manifests go before what they list: a crash must leave no snapshot that lacks a part.
	if err := t.Delete(ctx, old...); err != nil {
		return 0, err
	}
	deleted = len(old)
	for _, bad := range damaged {
		if !isOld(bad) {
			return deleted, fmt.Errorf("the content of deleted snapshots stays, as it is not known which of it another snapshot needs: %w; bring %s back, or delete it", bad, bad.Name)
		}
		if err := t.Delete(ctx, bad.Name); err != nil {
			return deleted, err
		}
		deleted++
	}
	entries, err := t.List(ctx, store+"/")
	if err != nil {
		return deleted, err
	}
	var unused []string
	for _, e := range entries {
		if !used[e.Name] && (strings.HasPrefix(e.Name, store+"/chunks/") || strings.HasSuffix(e.Name, pendingSuffix)) {
			unused = append(unused, e.Name)
		}
	}
	return deleted, t.Delete(ctx, unused...)
}

// Remove deletes a snapshot. The next Prune deletes what no other one has of its content.
func Remove(ctx context.Context, t Target, m *Manifest) error {
	// One after the other: a part without its mark would count.
	if err := t.Delete(ctx, m.path()); err != nil {
		return err
	}
	return t.Delete(ctx, m.mark())
}
