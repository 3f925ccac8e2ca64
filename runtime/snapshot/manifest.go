package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/fault"
)

// FormatVersion is the newest form of manifests that this package writes and reads: of a store among several. Others have the forms before: with edits,
// and without.
const (
	FormatVersion = 3
	editsVersion  = 2
	plainVersion  = 1
)

const (
	snapshotsDir   = "/snapshots/" // between a store and the names of its snapshots
	manifestSuffix = ".json"
	pendingSuffix  = ".pending"         // of the mark of a snapshot of one of several stores: it is not known that those of all others are there
	stampLayout    = "20060102T150405Z" // what the names of snapshots begin with
)

// Kind says what a snapshot is of.
type Kind string

// The kinds.
const (
	Node  Kind = "node"  // everything that a node has
	Actor Kind = "actor" // an actor and all its descendants
	Store Kind = "store" // everything in one of the stores of a cluster: see Set
)

// Manifest describes a snapshot.
type Manifest struct {
	Version int           `json:"version"`
	Kind    Kind          `json:"kind"`
	Name    string        `json:"name"`
	Store   string        `json:"store"`   // id of the store it was taken of
	Program string        `json:"program"` // name of the package
	Number  uint64        `json:"number"`  // ascends from snapshot to snapshot of the store: see NextNumber
	Taken   time.Time     `json:"taken"`
	Actor   bytejson.Text `json:"actor,omitempty"`  // of a snapshot of an actor: Class/name, or Class:id without a name
	Root    string        `json:"root,omitempty"`   // its id
	Actors  int           `json:"actors,omitempty"` // how many actors the snapshot has
	Set     *Set          `json:"set,omitempty"`    // of a snapshot of one of several stores
	Chunks  []Chunk       `json:"chunks"`
	Packs   []File        `json:"packs,omitempty"` // which have the edits of the chunks

	pending bool // it has a mark
}

// File is what the target keeps under the hash of its content.
type File struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Chunk is a run of rows: a file, or one with edits.
type Chunk struct {
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Last   []byte `json:"last,omitempty"` // the last key, or what it begins with: the chunk of the next snapshot ends there, too
	Base   *File  `json:"base,omitempty"` // that is edited; nil: the chunk is a file
	Edits  []Edit `json:"edits,omitempty"`
}

// Edit is where the edit of a chunk is.
type Edit struct {
	Pack   int   `json:"pack"` // its place in the manifest
	Offset int64 `json:"offset"`
	Bytes  int64 `json:"bytes"`
}

// file is the one that has the chunk, without its edits.
func (c *Chunk) file() File {
	if c.Base != nil {
		return *c.Base
	}
	return File{c.Bytes, c.SHA256}
}

// files are all that the snapshot needs.
func (m *Manifest) files() []File {
	list := slices.Clone(m.Packs)
	for i := range m.Chunks {
		list = append(list, m.Chunks[i].file())
	}
	return list
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
	switch m.Kind {
	case Actor:
		return string(m.Actor)
	case Store:
		return fmt.Sprintf("store %d of %d", m.Set.Store, m.Set.Stores)
	}
	return "everything"
}

func (m *Manifest) path() string { return m.Store + snapshotsDir + m.Name + manifestSuffix }

func (m *Manifest) mark() string { return m.Store + snapshotsDir + m.Name + pendingSuffix }

func (m *Manifest) content(f File) string { return m.Store + "/chunks/" + f.SHA256 }

// DamageError says that a part of a snapshot is not what was written there, or that it cannot be read.
type DamageError struct {
	Target, Name, Reason string // a name that ends with a slash is that of a directory
	Trouble              Trouble

	cause error // nil: the system has reported none
}

// Trouble says what is wrong with a part of a snapshot.
type Trouble uint8

// The troubles.
const (
	Damaged Trouble = iota
	Newer           // it is not damaged: a newer version has written it
	Unread          // the system lets this process not read it: it may be whole
	Deleted         // it is a manifest that was deleted while the snapshot was read
)

// Error implements error. What to do is the caller's to say: it knows how the user names the place.
func (e *DamageError) Error() string {
	switch {
	case e.Trouble == Deleted:
		return fmt.Sprintf("the snapshot in %s was deleted while it was read: %s", e.Target, e.Name)
	case e.isDir():
		return fmt.Sprintf("not all of %s can be read: %s: %s", e.Target, e.Name, e.Reason)
	case e.Trouble == Damaged:
		return fmt.Sprintf("the snapshot in %s is damaged: %s: %s", e.Target, e.Name, e.Reason)
	}
	return fmt.Sprintf("the snapshot in %s cannot be read: %s: %s", e.Target, e.Name, e.Reason)
}

// Unwrap returns what the system has reported.
func (e *DamageError) Unwrap() error { return e.cause }

// isDir reports whether it is a directory that cannot be read. Snapshots may be there.
func (e *DamageError) isDir() bool { return strings.HasSuffix(e.Name, "/") }

// unread returns the error of a part that the system, or a bucket, does not let this process read; nil if err is about something else, which need not
// last, or which concerns all parts.
func unread(t Target, name string, err error) *DamageError {
	if of := new(DirError); errors.As(err, &of) {
		if of.Kind == fault.Access || of.Kind == fault.Disk {
			return &DamageError{t.String(), name, of.Cause.Error(), Unread, of}
		}
		return nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return &DamageError{t.String(), name, err.Error(), Unread, err}
	}
	return nil
}

// Snapshot returns the name of the snapshot whose manifest is damaged, "" if something else is.
func (e *DamageError) Snapshot() string {
	_, name, ok := strings.Cut(e.Name, snapshotsDir)
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, manifestSuffix)
}

// isOf reports whether the snapshot whose manifest is damaged is of a kind, as its name says.
func (e *DamageError) isOf(k Kind) bool { return strings.Contains(e.Snapshot(), "-"+string(k)) }

// stamp says when the snapshot whose manifest is damaged was taken.
func (e *DamageError) stamp() string {
	name := e.Snapshot()
	return name[:min(len(name), len(stampLayout))]
}

// before reports whether the snapshot whose manifest is damaged was made before the one of its store with the name.
func (e *DamageError) before(name string) bool {
	_, err := time.Parse(stampLayout, e.stamp())
	bad, ok := numberIn(e.Snapshot())
	other, _ := numberIn(name)
	return err == nil && ok && cmp.Or(cmp.Compare(bad, other), strings.Compare(e.Snapshot(), name)) < 0
}

// numberIn returns the number in the name of a snapshot.
func numberIn(name string) (n uint64, ok bool) {
	_, rest, _ := strings.Cut(name, "-")
	digits, _, _ := strings.Cut(rest, "-")
	n, err := strconv.ParseUint(digits, 10, 63) // so that there is a next one
	return n, err == nil
}

// List returns the snapshots of a store, or of all stores if store is "", one store after the other, and the oldest of each first; and
// those of which the manifest is damaged, or cannot be read, by their names. These do not hide the others. If it is to list those of all stores, it
// passes over directories that refuse access, which are among the damaged then.
//
// The number says which is older, as the clock of a machine may be set back. Versions before this one gave one number to several snapshots of a store
// that does not run: the time tells these apart.
func List(ctx context.Context, t Target, store string) (list []Manifest, damaged []*DamageError, err error) {
	var entries []Entry
	if store != "" {
		entries, err = t.List(ctx, store+snapshotsDir)
	} else {
		entries, damaged, err = listAllowed(ctx, t, "")
	}
	if err != nil {
		return nil, nil, err
	}
	marks := make(map[string]bool)
	for _, e := range entries {
		marks[e.Name] = strings.HasSuffix(e.Name, pendingSuffix)
	}
	for _, e := range entries {
		of, _, is := strings.Cut(e.Name, snapshotsDir)
		if !is || strings.Contains(of, "/") || !strings.HasSuffix(e.Name, manifestSuffix) {
			continue // in a place below this one, perhaps: see All
		}
		m, err := readManifest(ctx, t, e.Name)
		if bad := new(DamageError); errors.As(err, &bad) {
			damaged = append(damaged, bad)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process has deleted it since it was listed
		}
		if bad := unread(t, e.Name, err); bad != nil {
			damaged = append(damaged, bad)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		m.pending = marks[m.mark()]
		list = append(list, *m)
	}
	slices.SortStableFunc(list, func(a, b Manifest) int { return cmp.Or(strings.Compare(a.Store, b.Store), byAge(a, b)) })
	return list, damaged, nil
}

// byAge has the older of two snapshots of a store first.
func byAge(a, b Manifest) int {
	return cmp.Or(cmp.Compare(a.Number, b.Number), a.Taken.Compare(b.Taken))
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
	damaged := func(reason string) error { return &DamageError{t.String(), name, reason, Damaged, nil} }
	m, err := parseManifest(data)
	switch {
	case err != nil:
		return nil, damaged(err.Error())
	case m.Version > FormatVersion:
		return nil, &DamageError{t.String(), name, fmt.Sprintf("it has version %d, newer than %d: use a newer aeond", m.Version, FormatVersion), Newer, nil}
	case m.Kind != Node && m.Kind != Actor && m.Kind != Store:
		return nil, damaged(fmt.Sprintf("it is of kind %q", m.Kind))
	case (m.Kind == Store) != (m.Set != nil) || m.Set != nil && !m.Set.possible():
		return nil, damaged(fmt.Sprintf("it is of kind %q, and of the set %v", m.Kind, m.Set))
	case m.Version < 1 || m.Store == "" || m.Name == "" || m.path() != name:
		return nil, damaged(fmt.Sprintf("it says that it is %s", m.path()))
	}
	for _, f := range m.Packs {
		if !f.possible() {
			return nil, damaged(fmt.Sprintf("it lists a pack %q of %d bytes", f.SHA256, f.Bytes))
		}
	}
	for _, c := range m.Chunks {
		if !(File{c.Bytes, c.SHA256}).possible() || !c.file().possible() || c.Rows < 0 || int64(c.Rows) > c.Bytes {
			return nil, damaged(fmt.Sprintf("it lists a chunk %q with %d rows in %d bytes", c.SHA256, c.Rows, c.Bytes))
		}
		if !slices.ContainsFunc(c.Edits, func(e Edit) bool { return !m.has(e) }) && (c.Base == nil) == (len(c.Edits) == 0) {
			continue
		}
		return nil, damaged(fmt.Sprintf("it lists a chunk %q with edits that cannot be", c.SHA256))
	}
	return m, nil
}

// possible reports whether there can be such a file.
func (f File) possible() bool {
	return len(f.SHA256) == 64 && strings.Trim(f.SHA256, "0123456789abcdef") == "" && f.Bytes >= 0 && f.Bytes <= contentBytesMax
}

// has reports whether the edit lies in one of the packs.
func (m *Manifest) has(e Edit) bool {
	return e.Pack >= 0 && e.Pack < len(m.Packs) && e.Offset >= 0 && e.Bytes >= 0 && e.Offset <= m.Packs[e.Pack].Bytes && e.Bytes <= m.Packs[e.Pack].Bytes-e.Offset
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

// parseManifest reads what encode returns. Older versions have written no checksum: in their manifests a name
// that is not known is damage, lest a manifest whose list of chunks has another name count as an empty one.
func parseManifest(data []byte) (*Manifest, error) {
	m, sum := &Manifest{}, ""
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(m); err != nil {
		return nil, err
	}
	text := data[:d.InputOffset()]
	switch err := d.Decode(&sum); {
	case errors.Is(err, io.EOF) && m.Version <= plainVersion:
		strict := json.NewDecoder(bytes.NewReader(text))
		strict.DisallowUnknownFields()
		return m, strict.Decode(&Manifest{})
	case errors.Is(err, io.EOF) && m.Version <= FormatVersion:
		return nil, errors.New("its checksum is missing")
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
