package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Rows calls emit for every row of what is to be kept, in the order of the keys. It ends with
// the first error of emit.
type Rows func(emit func(key, value []byte) error) error

// Saved says what Save has done.
type Saved struct {
	Manifest
	New      int   // files that the target did not have
	NewBytes int64 // and their size
}

// Save makes a snapshot of rows; m says what it is of, with the number of NextNumber, and Save fills the rest. What the target
// has already is not sent. Saving again after an error sends what is missing. A snapshot of one of several stores is
// marked as pending, until Prune is told that the others are there, too. An error comes with a Saved if something may have been sent: Clean leaves that
// for the next one, and the mark, or the manifest, may be there all the same, which Remove deletes.
func Save(ctx context.Context, t Target, m Manifest, rows Rows) (*Saved, error) {
	m.Version = plainVersion
	if m.Store == "" || strings.ContainsAny(m.Store, "/\\") {
		return nil, fmt.Errorf("snapshot of a store without an id: %q", m.Store)
	}
	m.Taken = m.Taken.UTC().Truncate(time.Millisecond)
	m.Name = fmt.Sprintf("%s-%06d-%s", m.Taken.Format(stampLayout), m.Number, m.Kind)
	m.Chunks, m.Packs = nil, nil
	s, err := newSaver(ctx, t, m)
	if err != nil {
		return nil, err
	}
	c := chunker{ends: s.ends()}
	c.reset(len(c.ends) > 0)
	err = rows(func(key, value []byte) error {
		if c.endsBefore(key) {
			if err := s.send(ctx, &c); err != nil {
				return err
			}
			c.reset(true)
		}
		full, err := c.add(key, value)
		if full && err == nil {
			err = s.send(ctx, &c)
			c.reset(false)
		}
		return err
	})
	if err == nil && c.rows > 0 {
		err = s.send(ctx, &c)
	}
	if err == nil {
		err = s.sendPack(ctx)
	}
	if err != nil {
		return &s.Saved, err
	}
	switch {
	case s.Set != nil:
		s.Version = FormatVersion
	case len(s.Packs) > 0:
		s.Version = editsVersion
	}
	data, err := s.encode()
	if err != nil {
		return nil, err
	}
	if s.Set != nil {
		if s.pending, err = true, put(ctx, t, s.mark(), nil); err != nil {
			return &s.Saved, err
		}
	}
	return &s.Saved, put(ctx, t, s.path(), data)
}

// NextNumber returns the number of the next snapshot of a store: above last, that of the last one that the store knows, and above all that the place has,
// and the places beside it. The store may have forgotten some of these, as its directory was brought back from a copy; and one that does not run takes no
// note of its snapshots. A place beside that cannot be read keeps no snapshot from being taken: Prune says so.
func NextNumber(ctx context.Context, t Target, store string, last uint64) (uint64, error) {
	entries, err := t.List(ctx, store+snapshotsDir)
	if err != nil {
		return 0, err
	}
	for _, other := range beside(t) {
		more, _ := other.List(ctx, store+snapshotsDir)
		entries = append(entries, more...)
	}
	for _, e := range entries {
		// The name has it, also of one whose manifest is damaged.
		if n, ok := numberIn(strings.TrimPrefix(e.Name, store+snapshotsDir)); ok {
			last = max(last, n)
		}
	}
	return last + 1, nil
}

func put(ctx context.Context, t Target, name string, data []byte) error {
	err := t.Put(ctx, name, bytes.NewReader(data), int64(len(data)))
	if errors.As(err, new(*DirError)) {
		return err // it names the place
	}
	if err != nil {
		return fmt.Errorf("%s to %s: %w", name, t, err)
	}
	return nil
}

// have returns the chunks of a store that the target has, with their sizes.
func have(ctx context.Context, t Target, store string) (map[string]int64, error) {
	entries, err := t.List(ctx, store+"/chunks/")
	if err != nil {
		return nil, err
	}
	there := make(map[string]int64, len(entries))
	for _, e := range entries {
		there[e.Name] = e.Size
	}
	return there, nil
}
