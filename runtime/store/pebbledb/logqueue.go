package pebbledb

import (
	"strconv"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logQueue holds what is to be done to the logs. Lock order: work, then mu.
type logQueue struct {
	fs      vfs.FS
	witness *witness
	zeros   []byte // by so much the file of a log grows at once

	// work is held by the goroutine that works the queue off.
	work sync.Mutex
	// before is called before that; guarded by work. nil: nothing is called.
	before func()

	mu struct {
		sync.Mutex
		ops     []logOp
		spare   []byte // a buffer for the next write
		err     error  // the first one; the queue takes nothing from then on
		durable mark
		records uint64 // that were written whole
		// expected is closed when record number want, and a sync behind it, are in the queue; nil: no goroutine
		// waits.
		expected chan struct{}
		want     uint64
	}
}

// mark is a place in a log.
type mark struct {
	log    uint32
	offset uint64
}

type opKind uint8

const (
	opCreate opKind = iota
	opReuse
	opSyncDir
	opWrite
	opSync
	opClose
)

type logOp struct {
	kind opKind
	file *logFile
	data []byte // opWrite
	old  string // opReuse: the former name; opSyncDir: the directory
}

const (
	// spareBytes is the largest buffer that is kept for reuse.
	spareBytes = 4 << 20
	// fillBytes is by how much the file of a log grows at once, fillLess in the file systems of tests, which grow
	// byte by byte.
	fillBytes, fillLess = 256 << 10, 8 << 10
)

// logNumber returns the number in the name of a log, as far as its chunks tell it.
func logNumber(base string) uint32 {
	n, _ := strconv.ParseUint(strings.TrimSuffix(base, logSuffix), 10, 64) // pebble has made the name
	return uint32(n)
}

// push appends to the queue. It returns no error to pebble, which would panic and leave its
// locks in a state in which that ends the process. The goroutine that works the queue off gets
// the errors.
func (q *logQueue) push(op logOp) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.err != nil {
		return
	}
	q.mu.ops = append(q.mu.ops, op)
	if op.kind == opSync && q.mu.expected != nil && q.mu.records >= q.mu.want {
		close(q.mu.expected)
		q.mu.expected = nil
	}
}

// expect returns what is closed when drain would make record number n, counted from 1, durable. One waits at a time.
func (q *logQueue) expect(n uint64) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.expected, q.mu.want = make(chan struct{}), n
	return q.mu.expected
}

// records returns how many records pebble has written whole, and the error because of which not all are counted.
func (q *logQueue) records() (uint64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.records, q.mu.err
}

func (q *logQueue) write(f *logFile, p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.err != nil {
		return
	}
	q.mu.records += uint64(recordsIn(p, f.size))
	if n := len(q.mu.ops); n > 0 && q.mu.ops[n-1].kind == opWrite && q.mu.ops[n-1].file == f {
		q.mu.ops[n-1].data = append(q.mu.ops[n-1].data, p...)
	} else {
		q.mu.ops = append(q.mu.ops, logOp{kind: opWrite, file: f, data: append(q.mu.spare[:0], p...)})
		q.mu.spare = nil
	}
}

// bytes returns how much memory the writes in the queue have, and the buffer for the next one.
func (q *logQueue) bytes() (sum int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, op := range q.mu.ops {
		sum += int64(cap(op.data))
	}
	return sum + int64(cap(q.mu.spare))
}

// durable returns up to where the newest log is durable.
func (q *logQueue) durable() mark {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.durable
}

// drain works the queue off, up to the last thing in it that is no write: writes behind that
// one stay, as pebble has not asked to sync them. When it returns nil, what was there when it
// was called is durable.
func (q *logQueue) drain() error {
	q.work.Lock()
	defer q.work.Unlock()
	q.mu.Lock()
	n := len(q.mu.ops)
	if n > 0 && q.mu.ops[n-1].kind == opWrite {
		n--
	}
	todo := append([]logOp(nil), q.mu.ops[:n]...)
	q.mu.ops = append(q.mu.ops[:0], q.mu.ops[n:]...)
	err := q.mu.err
	q.mu.Unlock()
	if q.before != nil && len(todo) > 0 {
		q.before()
	}
	for _, op := range todo {
		if err == nil {
			err = q.do(op)
		}
	}
	if err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.mu.err == nil {
			q.mu.err = err
		}
	}
	return err
}

func (q *logQueue) do(op logOp) error {
	f := op.file
	switch op.kind {
	case opCreate:
		real, err := q.fs.Create(f.name, "pebble-wal")
		if err != nil {
			return err
		}
		f.real = real
	case opReuse:
		// These are the two steps of ReuseForWrite, which deadlocks on a file system of pebble's
		// in memory while an image of it is taken.
		if err := q.fs.Rename(op.old, f.name); err != nil {
			return err
		}
		real, err := q.fs.OpenReadWrite(f.name, "pebble-wal")
		if err != nil {
			return err
		}
		f.real, f.filled = real, f.reused
	case opSyncDir:
		return syncDir(q.fs, op.old)
	case opWrite:
		if err := q.fill(f, f.written+int64(len(op.data))); err != nil {
			return err
		}
		n, err := f.real.Write(op.data)
		f.written += int64(n)
		q.recycle(op.data)
		return err
	case opSync:
		if err := f.real.SyncData(); err != nil {
			return err
		}
		if err := q.witness.log(uint64(f.number), uint64(f.written), false); err != nil {
			return err
		}
		q.mu.Lock()
		q.mu.durable = mark{f.number, uint64(f.written)}
		q.mu.Unlock()
	case opClose:
		return f.real.Close()
	}
	return nil
}

// fill writes zeros in front of what is going to be written, up to size at least. To sync what replaces
// written blocks takes one write of the disk. Where a file grows, or uses blocks that were only
// reserved, the file system has to write its own journal, too (on ext4 that makes 200 us of 150).
func (q *logQueue) fill(f *logFile, size int64) error {
	for f.filled < size {
		n, err := f.real.WriteAt(q.zeros, f.filled)
		f.filled += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *logQueue) recycle(data []byte) {
	if cap(data) > spareBytes {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if cap(data) > cap(q.mu.spare) {
		q.mu.spare = data[:0]
	}
}
