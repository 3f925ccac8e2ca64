package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Wanted says which snapshot is meant: the newest of what fits.
type Wanted struct {
	Name  string // "": any
	Actor string // as in Manifest.Actor, with or without the package, or its id; "": any snapshot of that name, else one of everything
	Store string // whose, if several stores have one that fits
}

func (w Wanted) fits(f *Found) bool {
	m := &f.Parts[0].Manifest
	if len(f.Missing) > 0 || w.Name != "" && w.Name != f.Name {
		return false
	}
	return w.Name != "" && w.Actor == "" || w.isOf(m)
}

// isOf reports whether a snapshot is of the actor, or else of everything.
func (w Wanted) isOf(m *Manifest) bool {
	if w.Actor == "" {
		return m.Kind != Actor
	}
	short := func(actor string) string { return strings.TrimPrefix(actor, m.Program+".") }
	return m.Kind == Actor && (short(string(m.Actor)) == short(w.Actor) || m.Root == w.Actor)
}

// mayBe reports whether a snapshot whose manifest is damaged may be the one that is wanted, and none of found, which
// has the newest of each store. An older one must not be taken for the newest.
func (w Wanted) mayBe(bad *DamageError, found []*Found) bool {
	if bad.isDir() {
		return w.Name == "" || len(found) == 0
	}
	if w.Name != "" {
		return len(found) == 0 && (w.Name == bad.Snapshot() || bad.isOf(Store) && strings.HasPrefix(w.Name, bad.stamp()))
	}
	if w.Actor != "" && !bad.isOf(Actor) || w.Actor == "" && !bad.isOf(Node) && !bad.isOf(Store) {
		return false
	}
	store, _, _ := strings.Cut(bad.Name, snapshotsDir)
	i := slices.IndexFunc(found, func(f *Found) bool { return f.of(store) != nil })
	return len(found) == 0 || i >= 0 && !bad.before(found[i].of(store).Name)
}

func (w Wanted) String() string {
	what := "everything"
	if w.Actor != "" {
		what = w.Actor
	}
	switch {
	case w.Name == "":
		return "no snapshot of " + what
	case w.Actor == "":
		return "no snapshot " + w.Name
	}
	return "no snapshot " + w.Name + " of " + what
}

// NotFoundError says that a target has no such snapshot.
type NotFoundError struct {
	Target string
	Wanted Wanted
	Have   []string // what is there
}

// Error implements error.
func (e *NotFoundError) Error() string {
	if len(e.Have) == 0 {
		return fmt.Sprintf("there are no snapshots in %s", e.Target)
	}
	return fmt.Sprintf("%s has %s; it has %s", e.Target, e.Wanted, strings.Join(e.Have, ", "))
}

// AmbiguousError says that snapshots of several stores fit: the newest of them need not be the one that
// is wanted.
type AmbiguousError struct {
	Target string
	Have   []string // the newest of each store
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s has such snapshots of %d stores: %s", e.Target, len(e.Have), strings.Join(e.Have, ", "))
}

// Find returns the snapshot that is wanted. The errors are those of the target, *DamageError,
// *NotFoundError and *AmbiguousError.
func Find(ctx context.Context, t Target, w Wanted) (*Found, error) {
	list, damaged, err := All(ctx, t)
	if err != nil {
		return nil, err
	}
	if w.Store != "" && slices.ContainsFunc(list, func(f *Found) bool { return w.fits(f) && f.of(w.Store) != nil }) {
		list = slices.DeleteFunc(list, func(f *Found) bool { return f.of(w.Store) == nil })
	}
	missing, found := &NotFoundError{Target: t.String(), Wanted: w}, []*Found{}
	for _, f := range slices.Backward(list) {
		missing.Have = append(missing.Have, f.Name+" of "+f.Of())
		if !w.fits(f) {
			continue
		}
		first := &f.Parts[0]
		switch i := slices.IndexFunc(found, func(g *Found) bool { return g.of(first.Store) != nil }); {
		case i < 0:
			found = append(found, f)
		case first.Number > found[i].of(first.Store).Number:
			found[i] = f // the clock was set back between the two
		}
	}
	for _, bad := range damaged {
		if w.mayBe(bad, found) {
			return nil, bad
		}
	}
	switch len(found) {
	case 0:
		return nil, missing
	case 1:
		return found[0], nil
	}
	several := &AmbiguousError{Target: t.String()}
	for _, f := range found {
		several.Have = append(several.Have, fmt.Sprintf("%s of program %s, store %s", f.Name, f.Parts[0].Program, f.Parts[0].Store))
	}
	return nil, several
}
