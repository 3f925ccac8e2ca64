package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// packsMax is how many packs a reader remembers: chunks and packs are in the order of the keys, so of each snapshot of
// which there are edits one is in use.
const packsMax = 32

// reader reads the chunks of a snapshot.
type reader struct {
	t     Target
	m     *Manifest
	buf   []byte
	packs map[int][]byte // by their places in the manifest
	used  []int          // the last one is the one used last
}

// Read calls f for every row of a snapshot, in the order of the keys. A chunk is checked
// before the first of its rows is passed on.
func Read(ctx context.Context, t Target, m *Manifest, f func(key, value []byte) error) error {
	r := reader{t: t, m: m}
	for i := range m.Chunks {
		c := &m.Chunks[i]
		whole, err := r.chunk(ctx, c)
		if err != nil {
			return err
		}
		rows, err := eachRow(whole.rows, f)
		if errors.Is(err, errRows) || err == nil && rows != c.Rows {
			return r.damaged(c.file(), errRows.Error())
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

// edited is a chunk, and what it was made of.
type edited struct {
	rows  []byte
	edits [][]byte
}

// chunk reads a chunk. What it returns is valid until the next call.
func (r *reader) chunk(ctx context.Context, c *Chunk) (whole edited, err error) {
	if whole.rows, err = r.file(ctx, c.file(), r.buf); err != nil {
		return whole, err
	}
	r.buf = whole.rows
	for _, e := range c.Edits {
		pack, err := r.pack(ctx, e.Pack)
		if err != nil {
			return whole, err
		}
		edit := pack[e.Offset : e.Offset+e.Bytes]
		whole.edits = append(whole.edits, edit)
		if whole.rows, err = apply(whole.rows, edit); err != nil {
			return whole, r.damaged(r.m.Packs[e.Pack], errRows.Error())
		}
	}
	if sum := sha256.Sum256(whole.rows); len(c.Edits) > 0 && hex.EncodeToString(sum[:]) != c.SHA256 {
		return whole, r.damaged(c.file(), "its content with the edits has another checksum")
	}
	return whole, nil
}

// pack returns a pack, which is read unless it was used lately.
func (r *reader) pack(ctx context.Context, i int) ([]byte, error) {
	if at := slices.Index(r.used, i); at >= 0 {
		r.used = append(slices.Delete(r.used, at, at+1), i)
		return r.packs[i], nil
	}
	pack, err := r.file(ctx, r.m.Packs[i], nil)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(pack, []byte(packHead)) {
		return nil, r.damaged(r.m.Packs[i], "it is no pack of edits")
	}
	if len(r.used) == packsMax {
		delete(r.packs, r.used[0])
		r.used = slices.Delete(r.used, 0, 1)
	}
	if r.packs == nil {
		r.packs = make(map[int][]byte)
	}
	r.packs[i], r.used = pack, append(r.used, i)
	return pack, nil
}

func (r *reader) damaged(f File, reason string) error {
	return &DamageError{r.t.String(), r.m.content(f), reason + " (a part of " + r.m.Name + ")", Damaged, nil}
}

// missing returns the error of a file that is not there. That is no damage if the snapshot was deleted since its manifest was read.
func (r *reader) missing(ctx context.Context, f File) error {
	m, err := r.t.Get(ctx, r.m.path())
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{r.t.String(), r.m.path(), "it was deleted while the snapshot was read", Deleted, nil}
	}
	if err == nil {
		err = m.Close()
	}
	return cmp.Or(err, r.damaged(f, "it is missing"))
}

// file reads a file into buf, if that is large enough, and checks it.
func (r *reader) file(ctx context.Context, f File, buf []byte) ([]byte, error) {
	in, err := r.t.Get(ctx, r.m.content(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r.missing(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(buf[:0])
	_, err = b.ReadFrom(io.LimitReader(contextReader{ctx, in}, f.Bytes+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	switch sum := sha256.Sum256(b.Bytes()); {
	case int64(b.Len()) != f.Bytes:
		return nil, r.damaged(f, fmt.Sprintf("it has not %d bytes", f.Bytes))
	case hex.EncodeToString(sum[:]) != f.SHA256:
		return nil, r.damaged(f, "its content has changed, and later snapshots rely on it until it is deleted")
	}
	return b.Bytes(), nil
}
