package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/aeon-lang/aeon/internal/assert"
)

// saver sends what a snapshot has and the target has not. Of a chunk that differs from that of the snapshot before, it
// sends the rows that differ, as an edit.
//
// The edits of a chunk are merged as the levels of a log are: an edit that is less than two thirds of the one before
// stands beside it, else the two become one, which is sent. So the sizes of a chunk's edits are a geometric series. Its
// length bounds what a restore reads, and what was sent is sent again a logarithmic number of times. When edits make up
// half of a chunk the chunk is sent whole.
type saver struct {
	Saved
	t      Target
	there  map[string]int64 // files, with their sizes
	before Manifest         // of the same, if there is one
	old    reader
	packs  map[int]int // places of packs of the snapshot before, and of this one

	pack   []byte // that is sent next; empty: none is begun
	opened int    // its place
}

func newSaver(ctx context.Context, t Target, m Manifest) (*saver, error) {
	if err := settle(ctx, t, m.Store); err != nil {
		return nil, err
	}
	there, err := have(ctx, t, m.Store)
	if err != nil {
		return nil, err
	}
	list, _, err := List(ctx, t, m.Store)
	if err != nil {
		return nil, err
	}
	s := &saver{Saved: Saved{Manifest: m}, t: t, there: there, packs: map[int]int{}}
	for i := range list {
		if list[i].Kind == m.Kind && list[i].Actor == m.Actor {
			s.before = list[i]
		}
	}
	s.old = reader{t: t, m: &s.before}
	return s, nil
}

// ends returns where the chunks of the snapshot before end; nothing if that does not say so.
func (s *saver) ends() (list [][]byte) {
	for _, c := range s.before.Chunks {
		if len(c.Last) == 0 {
			return nil
		}
		list = append(list, c.Last)
	}
	return list
}

// send stores the chunk, unless the target has it.
func (s *saver) send(ctx context.Context, c *chunker) error {
	sum := sha256.Sum256(c.buf)
	chunk := Chunk{Rows: c.rows, Bytes: int64(len(c.buf)), SHA256: hex.EncodeToString(sum[:]), Last: bytes.Clone(c.last[:min(len(c.last), lastBytesMax)])}
	if !s.has(chunk.file()) {
		var old *Chunk
		if c.from < len(c.ends) {
			old = &s.before.Chunks[c.from]
		}
		done, err := s.edit(ctx, &chunk, old, c.buf)
		if err == nil && !done {
			err = s.put(ctx, chunk.file(), c.buf)
		}
		if err != nil {
			return err
		}
	}
	s.Chunks = append(s.Chunks, chunk)
	return ctx.Err()
}

// has reports whether the target has a file.
func (s *saver) has(f File) bool {
	size, ok := s.there[s.content(f)]
	return ok && size == f.Bytes
}

func (s *saver) put(ctx context.Context, f File, data []byte) error {
	name := s.content(f)
	if err := put(ctx, s.t, name, data); err != nil {
		return err
	}
	s.there[name] = f.Bytes
	s.New++
	s.NewBytes += f.Bytes
	return nil
}

// edit makes the chunk one of the snapshot before with edits, if that is less to send and to keep.
func (s *saver) edit(ctx context.Context, c, old *Chunk, rows []byte) (done bool, err error) {
	if old == nil || len(rows) < editedBytesMin || !s.has(old.file()) {
		return false, nil
	}
	for _, e := range old.Edits {
		if !s.has(s.before.Packs[e.Pack]) {
			return false, nil
		}
	}
	if old.SHA256 == c.SHA256 {
		c.Base, c.Edits = old.Base, s.kept(old.Edits)
		return true, nil
	}
	was, err := s.old.chunk(ctx, old)
	if errors.As(err, new(*DamageError)) || unread(s.t, "", err) != nil {
		return false, nil // what is damaged, or cannot be read, is sent again
	}
	if err != nil {
		return false, err
	}
	edit, err := diff(was.rows, rows)
	keep, kept := len(was.edits), 0
	for ; err == nil && keep > 0 && 2*len(was.edits[keep-1]) <= 3*len(edit); keep-- {
		edit, err = compose(was.edits[keep-1], edit)
	}
	if err != nil {
		return false, err
	}
	for _, e := range was.edits[:keep] {
		kept += len(e)
	}
	if kept+len(edit) > len(rows)/2 {
		return false, nil
	}
	base := old.file()
	c.Base, c.Edits = &base, append(s.kept(old.Edits[:keep]), s.add(edit))
	if len(s.pack) >= packBytesMax {
		return true, s.sendPack(ctx)
	}
	return true, nil
}

// kept returns edits of the snapshot before as those of this one.
func (s *saver) kept(edits []Edit) []Edit {
	var list []Edit
	for _, e := range edits {
		place, ok := s.packs[e.Pack]
		if !ok {
			place = len(s.Packs)
			s.Packs = append(s.Packs, s.before.Packs[e.Pack])
			s.packs[e.Pack] = place
		}
		list = append(list, Edit{place, e.Offset, e.Bytes})
	}
	return list
}

// add puts an edit into the pack that is sent next.
func (s *saver) add(edit []byte) Edit {
	if len(s.pack) == 0 {
		s.pack = append(s.pack, packHead...)
		s.opened = len(s.Packs)
		s.Packs = append(s.Packs, File{})
	}
	at := int64(len(s.pack))
	s.pack = append(s.pack, edit...)
	return Edit{s.opened, at, int64(len(edit))}
}

// sendPack sends the pack, if there is one.
func (s *saver) sendPack(ctx context.Context) error {
	if len(s.pack) == 0 {
		return nil
	}
	sum := sha256.Sum256(s.pack)
	f := File{int64(len(s.pack)), hex.EncodeToString(sum[:])}
	assert.That(s.Packs[s.opened] == File{}, "a pack takes the place of another one")
	s.Packs[s.opened] = f
	if !s.has(f) {
		if err := s.put(ctx, f, s.pack); err != nil {
			return err
		}
	}
	s.pack = s.pack[:0]
	return nil
}
