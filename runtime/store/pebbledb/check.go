package pebbledb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// checked is what check knows of a store that is whole.
type checked struct {
	manifest witnessEntry
	logs     []witnessEntry
	next     uint64 // a number above those of all files
}

// check reads the manifest and the logs of a store before pebble does, and returns a
// *DamagedError if a part that was durable is not what was written, or is another store's. Pebble checks its tables
// when it reads them.
func (d *DB) check(path string, f aeonFile) (found checked, err error) {
	names, err := d.fs.List(path)
	if errors.Is(err, os.ErrNotExist) {
		return found, &DamagedError{d.dir, pebbleDir, "it is missing", nil}
	}
	if err != nil {
		return found, err
	}
	name := currentManifest(names)
	if name == "" {
		return found, &DamagedError{d.dir, pebbleDir, "there is no store in it any more", nil}
	}
	data, err := readFile(d.fs, d.fs.PathJoin(path, name))
	if errors.Is(err, os.ErrNotExist) {
		return found, &DamagedError{d.dir, pebbleDir + "/" + name, "it is missing", nil}
	}
	if err != nil {
		return found, err
	}
	witness, err := readFile(d.fs, d.fs.PathJoin(path, witnessName))
	if errors.Is(err, os.ErrNotExist) {
		return found, &DamagedError{d.dir, pebbleDir + "/" + witnessName, "it is missing, and other files may be, too", nil}
	}
	if err != nil {
		return found, err
	}
	found.manifest, found.logs, err = witnessed(witness, manifestNumber(name), f)
	if err != nil {
		return found, &DamagedError{d.dir, pebbleDir + "/" + witnessName, err.Error(), nil}
	}
	oldest, err := checkManifest(data, found.manifest)
	if err != nil {
		return found, &DamagedError{d.dir, pebbleDir + "/" + name, err.Error(), nil}
	}
	// An older store has noted no sum: the sum of what was found takes its place.
	found.manifest.sum = crc32.Checksum(data[:found.manifest.durable], castagnoli)
	found.manifest.number = manifestNumber(name)
	for _, n := range names {
		found.next = max(found.next, numberOf(n)+1)
	}
	next, err := d.checkLogs(path, names, oldest, found.logs, f)
	found.next = max(found.next, next)
	return found, err
}

// currentManifest returns the name that the newest marker gives.
func currentManifest(names []string) string {
	const marker = "marker.manifest."
	newest, name := uint64(0), ""
	for _, n := range names {
		turn, manifest, ok := strings.Cut(strings.TrimPrefix(n, marker), ".")
		if t, err := strconv.ParseUint(turn, 10, 64); ok && err == nil && strings.HasPrefix(n, marker) && t >= newest {
			newest, name = t, manifest
		}
	}
	return name
}

func manifestNumber(name string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(name, manifestPrefix), 10, 64) // 0: none has it
	return n
}

// checkManifest returns the number of the oldest log that is in use.
func checkManifest(data []byte, known witnessEntry) (oldestLog uint64, err error) {
	var r record
	end := walk(data, 0, manifestChunk, manifestHeaderBytes, func(_ int, c chunk) {
		if r.add(c) {
			if n := oldestLogOf(r.data); n != 0 {
				oldestLog = n
			}
		}
	})
	if uint64(end) < known.durable {
		return 0, fmt.Errorf("it is broken at byte %d, and was durable up to byte %d", end, known.durable)
	}
	if known.owned && crc32.Checksum(data[:known.durable], castagnoli) != known.sum {
		return 0, errors.New("its checksum is not the one noted")
	}
	return oldestLog, nil
}

// oldestLogOf returns the number of the oldest log that a version edit names, 0 if it names
// none. Edits begin with the comparer's name and this number, if they have them.
func oldestLogOf(edit []byte) uint64 {
	const tagComparer, tagOldestLog = 1, 2
	next := func() uint64 {
		n, size := binary.Uvarint(edit)
		edit = edit[max(size, 0):]
		return n
	}
	tag := next()
	if tag == tagComparer {
		edit = edit[min(next(), uint64(len(edit))):]
		tag = next()
	}
	if tag == tagOldestLog {
		return next()
	}
	return 0
}

// logAt is a log and where it is.
type logAt struct {
	number uint64
	name   string // below the directory of the store
}

// checkLogs reads the logs that are in use, among which are those of the witnessed ones that are not older than
// the oldest. It returns a number above all of theirs.
func (d *DB) checkLogs(path string, names []string, oldest uint64, witnessed []witnessEntry, f aeonFile) (next uint64, err error) {
	var logs []logAt
	add := func(dir string, names []string) {
		for _, n := range names {
			base, ok := strings.CutSuffix(n, logSuffix)
			if number, err := strconv.ParseUint(base, 10, 64); ok && err == nil && number >= oldest {
				logs = append(logs, logAt{number, dir + n})
			}
		}
	}
	add("", names)
	inDir, err := d.fs.List(d.fs.PathJoin(path, logDirName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	add(logDirName+"/", inDir)
	durable := make(map[uint64]uint64)
	for _, e := range witnessed {
		if e.number >= oldest && !slices.ContainsFunc(logs, func(l logAt) bool { return l.number == e.number }) {
			return 0, &DamagedError{d.dir, fmt.Sprintf("%s/%s/%06d%s", pebbleDir, logDirName, e.number, logSuffix), "it is missing", nil}
		}
		durable[e.number] = e.durable
		next = max(next, e.number+1)
	}
	slices.SortFunc(logs, func(a, b logAt) int { return int(int64(a.number) - int64(b.number)) })
	for i, l := range logs {
		data, err := readFile(d.fs, d.fs.PathJoin(path, l.name))
		if err != nil {
			return 0, err
		}
		next = max(next, l.number+1)
		err = checkLog(data, uint32(l.number), durable[l.number], i < len(logs)-1)
		if err == nil {
			err = checkOwner(data, uint32(l.number), idOf(f.store), l.number >= f.ownedFrom())
		}
		if err != nil {
			return 0, &DamagedError{d.dir, pebbleDir + "/" + l.name, err.Error(), nil}
		}
	}
	return next, nil
}

// checkLog returns an error unless the log is whole up to where it is known to have been
// durable. followed says that there is a later log, before which this one was completed.
func checkLog(data []byte, number uint32, durable uint64, followed bool) error {
	parse := func(b []byte) (chunk, bool) { return logChunk(b, number) }
	end := walk(data, 0, parse, logHeaderBytes, func(int, chunk) {})
	complete := isTrailer(data[end:], number)
	durable = max(durable, provenDurable(data, end, number))
	if durable > uint64(end) && !(complete && durable <= uint64(end+trailerBytes)) {
		return fmt.Errorf("it is broken at byte %d, and was durable up to byte %d", end, durable)
	}
	if followed && !complete {
		return fmt.Errorf("it is broken at byte %d, and was complete when the next one was begun", end)
	}
	return nil
}

// checkOwner returns an error if a log belongs to another store. With must, each record names its store; the first is
// looked at.
func checkOwner(data []byte, number uint32, id storeID, must bool) error {
	first, ok := logChunk(data[:min(len(data), blockBytes)], number)
	if !ok {
		return nil // there is none
	}
	s, ok := sealOf(first.payload)
	switch owned := ok && s.owner != (storeID{}); {
	case owned && s.owner != id:
		return errors.New(ofAnother(s.owner))
	case must && !owned:
		return errors.New(unowned)
	}
	return nil
}

// isTrailer reports whether b begins with what ends a log that was closed.
func isTrailer(b []byte, number uint32) bool {
	want := make([]byte, trailerBytes)
	want[6] = kindTrailer
	binary.LittleEndian.PutUint32(want[7:], number+1)
	return bytes.HasPrefix(b, want)
}

// provenDurable returns up to where the chunks behind a broken place say that the log was
// durable.
func provenDurable(data []byte, broken int, number uint32) (proven uint64) {
	parse := func(b []byte) (chunk, bool) { return logChunk(b, number) }
	var r record
	visit := func(_ int, c chunk) {
		proven = max(proven, binary.LittleEndian.Uint64(c.header[trailerBytes:]))
		if !r.add(c) {
			return
		}
		if m, ok := sealOf(r.data); ok && m.log == number {
			proven = max(proven, m.offset)
		}
	}
	for at := broken; at < len(data); {
		rest := data[at:min(len(data), at-at%blockBytes+blockBytes)]
		if _, ok := parse(rest); ok {
			at = walk(data, at, parse, logHeaderBytes, visit)
			continue
		}
		// The length of a broken chunk may be what is wrong with it: the next one can be anywhere
		// in the block.
		at++
	}
	return proven
}

func readFile(fs vfs.FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var data bytes.Buffer
	if err == nil {
		data.Grow(int(info.Size()) + bytes.MinRead) // one read, and one that meets the end
		_, err = data.ReadFrom(f)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return data.Bytes(), err
}
