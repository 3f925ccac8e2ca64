package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Prune deletes all but the newest keep snapshots of what like is of, in its store, and the chunks that no snapshot
// of the store lists any more. like was made last. It returns how many snapshots it has deleted.
//
// While a manifest is damaged it is not known which chunks it lists, and all stay; the error says so. The manifest is
// deleted when it is older than everything that is kept, which is when it would be if it were whole.
func Prune(ctx context.Context, t Target, like *Manifest, keep int) (deleted int, err error) {
	list, damaged, err := List(ctx, t, like.Store)
	if err != nil {
		return 0, err
	}
	// A store that was brought back from a copy of its directory numbers its snapshots anew from there: those with a higher number than like were made before.
	made := func(m *Manifest) int {
		switch {
		case m.Name == like.Name:
			return 2
		case m.Number <= like.Number:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b Manifest) int { return cmp.Compare(made(&a), made(&b)) })
	var old []string
	var oldest Manifest
	used := make(map[string]bool)
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		if m.Kind == like.Kind && m.Actor == like.Actor {
			if keep--; keep < 0 {
				old = append(old, m.path())
				continue
			}
		}
		if oldest.Name == "" || m.Number <= oldest.Number {
			oldest = *m
		}
		for _, f := range m.files() {
			used[m.content(f)] = true
		}
	}
	// The manifests go before what they list: a crash must leave no snapshot that lacks a part.
	if err := t.Delete(ctx, old...); err != nil {
		return 0, err
	}
	deleted = len(old)
	for _, bad := range damaged {
		if keep > 0 || bad.Newer || !bad.before(oldest.Name) {
			return deleted, fmt.Errorf("the content of deleted snapshots stays, as it is not known which of it another snapshot needs: %w; or delete %s", bad, bad.Name)
		}
		if err := t.Delete(ctx, bad.Name); err != nil {
			return deleted, err
		}
		deleted++
	}
	entries, err := t.List(ctx, like.Store+"/chunks/")
	if err != nil {
		return deleted, err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return used[e.Name] })
	unused := make([]string, len(entries))
	for i, e := range entries {
		unused[i] = e.Name
	}
	return deleted, t.Delete(ctx, unused...)
}
