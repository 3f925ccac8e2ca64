package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Rows calls emit for every row of what is to be kept, in the order of the keys. It ends with
// the first error of emit.
type Rows func(emit func(key, value []byte) error) error

// Saved says what Save has done.
type Saved struct {
	Manifest
	New      int   // chunks that the target did not have
	NewBytes int64 // and their size
}

// Save makes a snapshot of rows; m says what it is of, Save fills the rest. What the target
// has already is not sent. Saving again after an error sends what is missing.
func Save(ctx context.Context, t Target, m Manifest, rows Rows) (*Saved, error) {
	m.Version = FormatVersion
	if m.Store == "" || strings.ContainsAny(m.Store, "/\\") {
		return nil, fmt.Errorf("snapshot of a store without an id: %q", m.Store)
	}
	m.Taken = m.Taken.UTC().Truncate(time.Millisecond)
	m.Name = fmt.Sprintf("%s-%06d-%s", m.Taken.Format(stampLayout), m.Number, m.Kind)
	m.Chunks = nil
	if err := m.rename(ctx, t); err != nil {
		return nil, err
	}
	s := &Saved{Manifest: m}
	there, err := have(ctx, t, m.Store)
	if err != nil {
		return nil, err
	}
	var c chunker
	err = rows(func(key, value []byte) error {
		full, err := c.add(key, value)
		if full && err == nil {
			err = s.send(ctx, t, &c, there)
		}
		return err
	})
	if err == nil && c.rows > 0 {
		err = s.send(ctx, t, &c, there)
	}
	if err != nil {
		return nil, err
	}
	data, err := s.encode()
	if err != nil {
		return nil, err
	}
	return s, put(ctx, t, s.path(), data)
}

// rename gives the snapshot a name that no other has: snapshots of two actors of a store that does not run
// may be taken in the same second.
func (m *Manifest) rename(ctx context.Context, t Target) error {
	entries, err := t.List(ctx, m.Store+snapshotsDir+m.Name)
	if err != nil {
		return err
	}
	first := m.Name
	for n := 2; slices.ContainsFunc(entries, func(e Entry) bool { return e.Name == m.path() }); n++ {
		m.Name = fmt.Sprintf("%s-%d", first, n)
	}
	return nil
}

func put(ctx context.Context, t Target, name string, data []byte) error {
	err := t.Put(ctx, name, bytes.NewReader(data), int64(len(data)))
	if number := syscall.Errno(0); errors.Is(err, syscall.ENOSPC) && errors.As(err, &number) {
		return fmt.Errorf("the disk of %s is full: %w; free space on it, or name another place: no snapshot was taken, and the others are as they were", t, number)
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

// send stores the chunk, unless the target has it, and begins the next.
func (s *Saved) send(ctx context.Context, t Target, c *chunker, there map[string]int64) error {
	sum := sha256.Sum256(c.buf)
	chunk := Chunk{Rows: c.rows, Bytes: int64(len(c.buf)), SHA256: hex.EncodeToString(sum[:])}
	s.Chunks = append(s.Chunks, chunk)
	name := s.content(chunk)
	if size, ok := there[name]; !ok || size != chunk.Bytes {
		if err := put(ctx, t, name, c.buf); err != nil {
			return err
		}
		there[name] = chunk.Bytes
		s.New++
		s.NewBytes += chunk.Bytes
	}
	c.reset()
	return ctx.Err()
}

// Read calls f for every row of a snapshot, in the order of the keys. A chunk is checked
// before the first of its rows is passed on.
func Read(ctx context.Context, t Target, m *Manifest, f func(key, value []byte) error) error {
	var buf []byte
	for _, c := range m.Chunks {
		name := m.content(c)
		damaged := func(reason string) error {
			return &DamageError{t.String(), name, reason + " (a part of " + m.Name + ")", false}
		}
		r, err := t.Get(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			return damaged("it is missing")
		}
		if err != nil {
			return err
		}
		b := bytes.NewBuffer(buf[:0])
		_, err = b.ReadFrom(io.LimitReader(contextReader{ctx, r}, c.Bytes+1))
		buf = b.Bytes()
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
		switch sum := sha256.Sum256(buf); {
		case int64(len(buf)) != c.Bytes:
			return damaged(fmt.Sprintf("it has not %d bytes", c.Bytes))
		case hex.EncodeToString(sum[:]) != c.SHA256:
			return damaged("its content has changed, and later snapshots rely on it until it is deleted")
		}
		rows, err := eachRow(buf, f)
		if errors.Is(err, errChunk) || err == nil && rows != c.Rows {
			return damaged(errChunk.Error())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Verify reads all of a snapshot and checks it.
func Verify(ctx context.Context, t Target, m *Manifest) error {
	return Read(ctx, t, m, func(_, _ []byte) error { return nil })
}
