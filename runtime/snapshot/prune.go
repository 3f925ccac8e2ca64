package snapshot

import (
	"context"
	"fmt"
	"strings"
)

// Prune deletes all but the newest keep snapshots of what like is of, in its store, and the chunks that no snapshot
// of the store lists any more. like was made last; of several stores, it is there with all its parts. It returns how
// many snapshots it has deleted.
//
// Parts that are pending do not count, and stay until keep newer ones count. All that count are whole. So the newest keep whole snapshots of several stores
// stay in each store, whichever of them were told so.
//
// While a manifest is damaged it is not known which chunks it lists, and all stay; the error says so. The manifest is
// deleted when it is older than everything that is kept, which is when it would be if it were whole.
func Prune(ctx context.Context, t Target, like *Manifest, keep int) (deleted int, err error) {
	if like.Set != nil {
		if err := t.Delete(ctx, like.mark()); err != nil {
			return 0, err
		}
	}
	list, damaged, err := List(ctx, t, like.Store)
	if err != nil {
		return 0, err
	}
	var old []string
	var oldest Manifest
	used := make(map[string]bool)
	for i := len(list) - 1; i >= 0; i-- {
		m := &list[i]
		if m.Kind == like.Kind && m.Actor == like.Actor {
			if keep <= 0 {
				old = append(old, m.path())
				continue
			}
			if !m.pending {
				keep--
			}
		}
		oldest = *m
		used[m.mark()] = true
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
	entries, err := t.List(ctx, like.Store+"/")
	if err != nil {
		return deleted, err
	}
	var unused []string
	for _, e := range entries {
		if !used[e.Name] && (strings.HasPrefix(e.Name, like.Store+"/chunks/") || strings.HasSuffix(e.Name, pendingSuffix)) {
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
