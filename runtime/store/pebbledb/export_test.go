package pebbledb

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aeon-lang/aeon/runtime/store"
)

// Flush writes what is in memory into tables, so that small tests have some.
func (d *DB) Flush() (err error) {
	if err := d.err(); err != nil {
		return err
	}
	defer d.guard(&err)
	flushed, err := d.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-flushed:
		return nil
	case <-d.failed:
		return d.err()
	}
}

// Stuck is closed when a goroutine of pebble has stopped for ever, with the locks that it holds.
func (d *DB) Stuck() <-chan struct{} { return d.stuck }

// Stop stops the engine as a goroutine of pebble does that has failed.
func (d *DB) Stop(err error) { d.stop(err) }

// OpenSmall opens a store whose logs are so short that they rotate all the time.
func OpenSmall(fs vfs.FS, dir string, o store.EngineOptions) (*DB, error) {
	return openTables(fs, dir, o, 16<<10)
}

// OpenLight opens a store whose logs do not rotate before they have 64 KiB. Its first memtables have a quarter of the usual size: they
// are what opening a store takes longest for.
func OpenLight(fs vfs.FS, dir string, o store.EngineOptions) (*DB, error) {
	return openTables(fs, dir, o, 64<<10)
}

func openTables(fs vfs.FS, dir string, o store.EngineOptions, bytes uint64) (*DB, error) {
	d := newDB(fs, dir, o)
	d.tune = func(p *pebble.Options) {
		p.MemTableSize = bytes
		p.MemTableStopWritesThreshold = 100
	}
	return d.opened(o)
}

// NewerAeonFile is the AEON of a version to come.
func NewerAeonFile() string {
	return aeonFile{format: aeonFormat + 1, program: "bank", store: store.NewStoreID(), ready: true}.String()
}

// MakeDir makes a directory that outlasts a crash.
func MakeDir(fs vfs.FS, dir string) error { return makeDir(fs, dir, 0o755) }

// MakeOn is Make in a directory of fs.
func MakeOn(fs vfs.FS, dir string, o store.EngineOptions, fill func(*DB) error) error {
	return makeOn(fs, dir, o, fill)
}

// WitnessBytes is the length of a whole WITNESS.
const WitnessBytes = witnessBytes

// OldWitness makes of a WITNESS what older versions wrote: it ends behind its last entry, and no entry says how long
// the file is, nor names its store.
func OldWitness(data []byte) []byte {
	end := 0
	for _, e := range witnessEntries(data) {
		b := data[e.slot*witnessStride:][:witnessEntryBytes]
		clear(b[witnessUnownedBytes:])
		b = b[:witnessUnownedBytes]
		binary.BigEndian.PutUint64(b, e.turn&^witnessWhole)
		body := b[:len(b)-4]
		binary.BigEndian.PutUint32(b[len(body):], crc32.Checksum(body, castagnoli))
		end = e.slot*witnessStride + len(b)
	}
	return data[:end]
}

// OldAeonFile is the AEON of a store whose WITNESS and logs do not name it.
func OldAeonFile(data []byte) []byte {
	f, err := parseAeonFile(string(data))
	if err != nil {
		panic(err)
	}
	f.format, f.owned = aeonFormatUnowned, 0
	return []byte(f.String())
}

// OpenReadOnlyFS is OpenReadOnly for a directory of fs.
func OpenReadOnlyFS(fs vfs.FS, dir string, o store.EngineOptions) (*DB, error) {
	return openReadOnlyFS(fs, dir, o)
}
