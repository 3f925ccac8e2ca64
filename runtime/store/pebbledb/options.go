package pebbledb

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/wal"

	"github.com/aeon-lang/aeon/runtime/store"
)

const (
	cacheDefault = 64 << 20
	// memTableBytes: a batch costs most where its place in a memtable is found, and a small memtable stays in the
	// processor's cache (32 MiB: 15 % more processor time per transfer). A smaller one still has to be merged more
	// often.
	memTableBytes = 8 << 20
	// memTablesMax is how many memtables may wait to be written before Apply blocks. That
	// needs a disk that takes none of 128 MiB, far above the journal's credit, while it goes on syncing the log.
	memTablesMax = 16
	// shortTableBytes is memTableBytes for rows that are short-lived. Most of them are deleted before so many have come, so that no table ever has
	// them. They come in the order of their keys, which makes the place of each cheap to find.
	shortTableBytes = 64 << 20
	// shortTablesMax is memTablesMax for such rows.
	shortTablesMax = 4
	// level0Max is how many sorted runs level 0 may have before Apply blocks: more than a disk
	// that works at all ever leaves there.
	level0Max = 1000
	// bytesPerSync makes the kernel begin to write tables before they are synced.
	bytesPerSync = 512 << 10
	filterBits   = 10
)

// options returns what pebble is opened with. The newest format is what tells a damaged log
// from one that a crash has cut short.
func (d *DB) options(o store.EngineOptions) *pebble.Options {
	fs := d.forPebble(d.logs)
	p := &pebble.Options{
		FS:                          fs,
		Comparer:                    d.group.yieldingComparer(),
		WALDir:                      pebble.MakeStoreRelativePath(fs, logDirName),
		WALRecoveryDirs:             []wal.Dir{{FS: fs, Dirname: pebble.MakeStoreRelativePath(fs, "")}}, // where a checkpoint has its logs
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: memTablesMax,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       level0Max,
		LBaseMaxBytes:               64 << 20,
		BytesPerSync:                bytesPerSync,
		MaxOpenFiles:                1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, max(1, min(3, runtime.GOMAXPROCS(0)/2)) },
		Logger:                      logger{d},
		BlockPropertyCollectors:     []func() pebble.BlockPropertyCollector{func() pebble.BlockPropertyCollector { return tableOwner{d.id} }},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { d.fail(err) },
			DataCorruption: func(i pebble.DataCorruptionInfo) {
				if ofSystem(i.Details) { // pebble takes what cannot be read for damaged
					d.fail(i.Details)
					return
				}
				file := strings.TrimPrefix(i.Path, d.fs.PathJoin(d.dir, "")+"/")
				d.fail(&DamagedError{d.dir, file, whyBytes, i.Details})
			},
			WriteStallBegin: func(i pebble.WriteStallBeginInfo) {
				d.log.Warn("writes wait for the disk", "reason", i.Reason)
			},
		},
	}
	p.Experimental.CompactionScheduler = newCompactions()
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(filterBits)
	}
	compression := pebble.DBCompressionFastest
	if o.ShortLived {
		p.MemTableSize, p.MemTableStopWritesThreshold, compression = shortTableBytes, shortTablesMax, pebble.DBCompressionNone
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return compression })
	if d.tune != nil {
		d.tune(p)
	}
	return p
}

// logger takes what pebble has to say. Its everyday reports are dropped.
type logger struct{ d *DB }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.d.log.Warn("pebble reports an error", "error", fmt.Sprintf(format, args...))
}

// fatalError is what a call into pebble panics with after Fatalf.
type fatalError struct{ error }

// Fatalf is where pebble would end the process.
func (l logger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("%s", strings.TrimPrefix(fmt.Sprintf(format, args...), "pebble: "))
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err = cause
		}
	}
	l.d.fatal(err)
}

// fatal does not return to pebble. Called below a method of DB, it unwinds to that method. While pebble opens the store
// (see forPebble), and in a goroutine of pebble's own, the goroutine must not go on: it stops for ever, with the locks
// it holds, and the process is about to end.
func (d *DB) fatal(err error) {
	if !d.opening.Load() && belowDB() {
		panic(fatalError{err})
	}
	d.stop(err)
	select {}
}

// belowDB reports whether the running goroutine is in a method that recovers.
func belowDB() bool {
	pc := make([]uintptr, 128)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)]) // above fatal, a method of DB itself
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "pebbledb.(*DB).") || strings.Contains(f.Function, "pebbledb.(*iterator).") {
			return true
		}
		if !more {
			return false
		}
	}
}
