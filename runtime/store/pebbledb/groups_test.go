package pebbledb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

const dataDir = "data"

var silent = slog.New(slog.NewTextHandler(io.Discard, nil))

// openOn opens the store in dataDir of fs, as tests do thousands of times. failed, which may be nil, is called with its failure.
func openOn(fs vfs.FS, failed func(error)) (*store.Store, *pebbledb.DB, error) {
	return openBy(pebbledb.OpenLight, fs, failed)
}

// opener opens a database.
type opener = func(vfs.FS, string, store.EngineOptions) (*pebbledb.DB, error)

func openBy(open opener, fs vfs.FS, failed func(error)) (*store.Store, *pebbledb.DB, error) {
	engine, err := open(fs, dataDir, store.EngineOptions{Program: "bank", Log: silent, Cache: &store.Cache{Bytes: 1 << 20}})
	if err != nil {
		return nil, nil, err
	}
	if failed == nil {
		failed = func(error) {}
	}
	s, err := store.Open(engine, store.Options{Program: "bank", Log: silent, Fatal: failed})
	if err != nil {
		engine.Close() // the first error counts
		return nil, nil, err
	}
	return s, engine, nil
}

func mustOpen(t testing.TB, fs vfs.FS) (*store.Store, *pebbledb.DB) {
	t.Helper()
	return mustOpenBy(t, pebbledb.OpenLight, fs)
}

func mustOpenBy(t testing.TB, open opener, fs vfs.FS) (*store.Store, *pebbledb.DB) {
	t.Helper()
	s, engine, err := openBy(open, fs, func(err error) { t.Errorf("the store has failed: %v", err) })
	if err != nil {
		t.Fatal(err)
	}
	return s, engine
}

// Tests write groups: group n is one batch that sets the keys of group n to a value which
// names them.

func groupKey(n, i int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte{'x'}, uint32(n)), uint32(i))
}

func groupRow(n, i, size int) []byte {
	key := groupKey(n, i)
	return store.AppendRow(nil, key, bytes.Repeat([]byte{byte(n), byte(i)}, size))
}

func appendGroup(s *store.Store, n, rows, size int) store.Position {
	b := s.NewBatch()
	for i := range rows {
		b.Set(groupKey(n, i), groupRow(n, i, size))
	}
	return s.Append(b)
}

// readGroups returns how many groups are there. It is an error if a row is not as it was
// written, if a group is there in part, or behind one that is not.
func readGroups(r store.Reader, rows, size int) (n int, err error) {
	it := r.Scan([]byte{'x'}, []byte{'y'})
	defer func() {
		if closed := it.Close(); closed != nil {
			err = closed
		}
	}()
	count := 0
	for ; it.Next(); count++ {
		group, i := count/rows, count%rows
		if !bytes.Equal(it.Key(), groupKey(group, i)) {
			return 0, fmt.Errorf("silently wrong: found row %x and not %d of group %d", it.Key(), i, group)
		}
		if _, err := store.Payload(it.Key(), it.Value()); err != nil {
			return 0, err
		}
		if !bytes.Equal(it.Value(), groupRow(group, i, size)) {
			return 0, fmt.Errorf("silently wrong: row %d of group %d is %x", i, group, it.Value())
		}
	}
	if count%rows != 0 {
		return 0, fmt.Errorf("silently wrong: %d of %d rows of group %d", count%rows, rows, count/rows)
	}
	return count / rows, nil
}

// filesOf lists the files below a directory.
func filesOf(t testing.TB, fs vfs.FS, dir string) (list []string) {
	t.Helper()
	names, err := fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		path := fs.PathJoin(dir, n)
		info, err := fs.Stat(path)
		switch {
		case err != nil:
			t.Fatal(err)
		case info.IsDir():
			list = append(list, filesOf(t, fs, path)...)
		default:
			list = append(list, path)
		}
	}
	return list
}

func sizeOf(t testing.TB, fs vfs.FS, path string) int {
	t.Helper()
	info, err := fs.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// flip changes one byte of a file.
func flip(t testing.TB, fs vfs.FS, path string, offset int, mask byte) {
	t.Helper()
	f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], int64(offset)); err != nil {
		t.Fatal(err)
	}
	b[0] ^= mask
	if _, err := f.WriteAt(b[:], int64(offset)); err != nil {
		t.Fatal(err)
	}
}

// refused reports whether an error tells the user what is damaged, where, and what to do; what the engine says of it
// comes last.
func refused(err error) bool {
	if !errors.Is(err, store.ErrCorrupt) {
		return false
	}
	plain, _, _ := strings.Cut(err.Error(), " (the engine says: ")
	return strings.Contains(plain, "the data in "+dataDir+" is damaged: ") && strings.Contains(plain, "restore the directory from a snapshot") &&
		!strings.Contains(plain, "pebble") && !strings.Contains(err.Error(), "\n")
}
