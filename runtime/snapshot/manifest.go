package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// FormatVersion is the form of manifests that this package writes, and the newest that
// it reads.
const FormatVersion = 1

// Kind says what a snapshot is of.
type Kind string

// The kinds.
const (
	Node  Kind = "node"  // everything that a node has
	Actor Kind = "actor" // an actor and all its descendants
)

// Manifest describes a snapshot.
type Manifest struct {
	Version int       `json:"version"`
	Kind    Kind      `json:"kind"`
	Name    string    `json:"name"`
	Store   string    `json:"store"`   // id of the store it was taken of
	Program string    `json:"program"` // name of the package
	Number  uint64    `json:"number"`  // counts the snapshots of the store
	Taken   time.Time `json:"taken"`
	Actor   string    `json:"actor,omitempty"`  // of a snapshot of an actor: Class/name, or Class:id without a name
	Root    string    `json:"root,omitempty"`   // its id
	Actors  int       `json:"actors,omitempty"` // how many actors the snapshot has
	Chunks  []Chunk   `json:"chunks"`
}

// Chunk is a run of rows.
type Chunk struct {
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Size returns how many rows and bytes a snapshot has.
func (m *Manifest) Size() (rows int, bytes int64) {
	for _, c := range m.Chunks {
		rows += c.Rows
		bytes += c.Bytes
	}
	return rows, bytes
}

// Of says what the snapshot is of: an actor, or everything.
func (m *Manifest) Of() string {
	if m.Kind == Actor {
		return m.Actor
	}
	return "everything"
}

func (m *Manifest) path() string { return m.Store + "/snapshots/" + m.Name + ".json" }

func (m *Manifest) content(c Chunk) string { return m.Store + "/chunks/" + c.SHA256 }

// DamageError says that a part of a snapshot is not what was written there.
type DamageError struct {
	Target, Name, Reason string
}

// Error implements error.
func (e *DamageError) Error() string {
	return fmt.Sprintf("the snapshot in %s is damaged: %s: %s", e.Target, e.Name, e.Reason)
}

// List returns the snapshots of a store, or of all stores if store is "", the oldest
// first.
func List(ctx context.Context, t Target, store string) ([]Manifest, error) {
	prefix := ""
	if store != "" {
		prefix = store + "/snapshots/"
	}
	entries, err := t.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var list []Manifest
	for _, e := range entries {
		if !strings.Contains(e.Name, "/snapshots/") || !strings.HasSuffix(e.Name, ".json") {
			continue
		}
		m, err := readManifest(ctx, t, e.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, *m)
	}
	slices.SortStableFunc(list, func(a, b Manifest) int { return a.Taken.Compare(b.Taken) })
	return list, nil
}

func readManifest(ctx context.Context, t Target, name string) (*Manifest, error) {
	r, err := t.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	damaged := func(reason string) error { return &DamageError{t.String(), name, reason} }
	m, err := parseManifest(data)
	switch {
	case err != nil:
		return nil, damaged(err.Error())
	case m.Version > FormatVersion:
		return nil, fmt.Errorf("%s in %s has version %d, newer than %d: use a newer aeond", name, t, m.Version, FormatVersion)
	case m.Kind != Node && m.Kind != Actor:
		return nil, damaged(fmt.Sprintf("it is of kind %q", m.Kind))
	case m.Version < 1 || m.Store == "" || m.Name == "" || m.path() != name:
		return nil, damaged("it does not belong there")
	}
	for _, c := range m.Chunks {
		if len(c.SHA256) != 64 || strings.Trim(c.SHA256, "0123456789abcdef") != "" || c.Bytes < 0 || c.Rows < 0 {
			return nil, damaged(fmt.Sprintf("it lists a chunk %q", c.SHA256))
		}
	}
	return m, nil
}

// encode returns what is written for a manifest: it, and its checksum, a second value of JSON.
func (m *Manifest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(text, "\n%q\n", checksum(text)), nil
}

func checksum(manifest []byte) string {
	sum := sha256.Sum256(manifest)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// parseManifest reads what encode returns. Older versions have written no checksum: of theirs, names that are not
// known are damage, lest a manifest whose list of chunks has another name be an empty one.
func parseManifest(data []byte) (*Manifest, error) {
	m, sum := &Manifest{}, ""
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(m); err != nil {
		return nil, err
	}
	text := data[:d.InputOffset()]
	switch err := d.Decode(&sum); {
	case errors.Is(err, io.EOF) && m.Version <= FormatVersion:
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		return m, strict.Decode(&Manifest{})
	case errors.Is(err, io.EOF):
		return m, nil
	case err != nil:
		return nil, err
	case sum != checksum(text):
		return nil, errors.New("its checksum does not match")
	case len(bytes.TrimSpace(data[d.InputOffset():])) > 0:
		return nil, errors.New("something is behind it")
	}
	return m, nil
}
