package pebbledb

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// aeonFormat is the form of a data directory that this package makes, and the newest it knows. In the first form
// nothing in db names its store.
const (
	aeonFormat        = 2
	aeonFormatUnowned = 1
)

const (
	aeonName  = "AEON"
	aeonTemp  = "AEON.new" // becomes AEON, or the file of FinishParts
	lockName  = "LOCK"
	pebbleDir = "db"
)

// aeonFile names the program and the store that a directory belongs to. It is plain text, for users and for
// the next open:
//
//	aeon data 2
//	program bank
//	store 0123456789abcdef0123456789abcdef
//	files 0
//	state ready
//	sum 89abcdef
//
// Its state is one of those below.
// The files of pebble's from this number on name their store, and so does WITNESS. Format 1 has no such line.
type aeonFile struct {
	format  int
	program string
	store   string
	owned   uint64 // the files from this number on name their store
	ready   bool   // all that the store begins with is in it; before, it may be created again
	part    bool   // it is one of the stores of a cluster, as they were restored; known when it is ready
}

// The states of a directory.
const (
	stateCreating = "creating"
	stateReady    = "ready"
	statePart     = "part" // ready, as one of the stores of a cluster
)

var errAeonFile = errors.New("it is no file that aeon has written")

func (f aeonFile) String() string {
	state := stateCreating
	switch {
	case f.ready && f.part:
		state = statePart
	case f.ready:
		state = stateReady
	}
	files := ""
	if f.format > aeonFormatUnowned {
		files = fmt.Sprintf("files %d\n", f.owned)
	}
	text := fmt.Sprintf("aeon data %d\nprogram %q\nstore %s\n%sstate %s\n", f.format, f.program, f.store, files, state)
	return fmt.Sprintf("%ssum %08x\n", text, crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli)))
}

// parseAeonFile reads what String writes; of a newer format only the number is known.
func parseAeonFile(text string) (f aeonFile, err error) {
	var state string
	first, _, _ := strings.Cut(text, "\n")
	if n, _ := fmt.Sscanf(first, "aeon data %d", &f.format); n != 1 {
		return f, errAeonFile
	}
	body, sum, _ := strings.Cut(text, "sum ")
	if want := fmt.Sprintf("%08x\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli))); sum != want {
		return f, errors.New("its checksum does not match")
	}
	if f.format > aeonFormat {
		return f, nil
	}
	form, into := "aeon data %d\nprogram %q\nstore %s\n", []any{&f.format, &f.program, &f.store}
	if f.format > aeonFormatUnowned {
		form, into = form+"files %d\n", append(into, &f.owned)
	}
	if n, _ := fmt.Sscanf(body, form+"state %s\n", append(into, &state)...); n != len(into)+1 {
		return f, errAeonFile
	}
	f.part = state == statePart
	f.ready = state == stateReady || f.part
	if text != f.String() {
		return f, errAeonFile
	}
	return f, nil
}

// write replaces the file.
func (f aeonFile) write(fs vfs.FS, dir string) error {
	return replaceFile(fs, dir, aeonName, f.String())
}

// replaceFile writes a file durably. A crash leaves the old one or the new one, and beside it aeonTemp perhaps.
func replaceFile(fs vfs.FS, dir, name, text string) error {
	temp := fs.PathJoin(dir, aeonTemp)
	w, err := fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	if err == nil {
		err = w.Sync()
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = fs.Rename(temp, fs.PathJoin(dir, name))
	}
	if err != nil {
		return err
	}
	return syncDir(fs, dir)
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

// readAeonFile returns what is in the file of a directory.
func readAeonFile(fs vfs.FS, dir string) (f aeonFile, err error) {
	r, err := fs.Open(fs.PathJoin(dir, aeonName))
	if err != nil {
		return f, err
	}
	text, err := io.ReadAll(io.LimitReader(r, 1<<16))
	if closed := r.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return f, err
	}
	f, err = parseAeonFile(string(text))
	if err != nil {
		err = &DamagedError{Dir: dir, What: aeonName, Why: err.Error()}
	}
	return f, err
}
