package trace

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
)

const (
	bufferBytesMax = 64 << 10               // then the buffer is written
	flushInterval  = 200 * time.Millisecond // and so often, if anything is in it
	answersMax     = 64                     // answers in one line
)

// Writer is a Recorder that writes a file. It belongs to one system at a time, which
// Begin and End enclose: a file has one section for each. What comes from a system whose
// section has ended is dropped.
type Writer struct {
	file *os.File
	made bool   // it was not there before
	stop func() // what flushes now and then
	mu   struct {
		sync.Mutex
		buf     []byte
		answers []byte      // of the line to be written next
		pending int         // answers in it
		events  uint64      // of the section
		dropped uint64      // callbacks of the section
		inside  bool        // a section has begun and has not ended
		begun   bool        // so has one before, or this one
		grouped bool        // Flush is called in time
		err     error       // the first that the file system returned
		failed  func(error) // see OnFailure; nil: err has been told, or need not be
	}
}

// Create starts a file, or, to append, goes on with the sections of one that another process has left.
// A file that holds something else than a trace of systems of this kind is refused, and is as it was.
// The caller closes the result.
func Create(name string, kind SystemKind, toAppend bool) (*Writer, error) {
	f, made, err := openFile(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f, made: made}
	if err = kind.prepare(f, toAppend); err == nil {
		err = w.seekEnd()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	open.Lock()
	open.writers = append(open.writers, w)
	open.Unlock()
	stop, done := make(chan struct{}), make(chan struct{})
	w.stop = sync.OnceFunc(func() {
		close(stop)
		<-done
	})
	go w.flushLoop(stop, done)
	return w, nil
}

// openFile opens a file; made tells that it was not there before.
func openFile(name string) (f *os.File, made bool, err error) {
	if f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666); !errors.Is(err, fs.ErrExist) {
		return f, err == nil, err
	}
	f, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	return f, false, err
}

// open are the writers that were not closed.
var open struct {
	sync.Mutex
	writers []*Writer
}

// FlushOpen writes what all open writers have recorded, for a process that is about to end
// because of a bug. It waits for no lock: a writer that is in use may have been left in
// that state.
func FlushOpen() {
	if !open.TryLock() {
		return
	}
	defer open.Unlock()
	for _, w := range open.writers {
		if w.mu.TryLock() {
			w.flush()
			w.mu.Unlock()
		}
	}
}

// seekEnd goes to the end of the file, and ends the line that a process which was killed
// has left half done.
func (w *Writer) seekEnd() error {
	size, err := w.file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	var last [1]byte
	if _, err := w.file.ReadAt(last[:], size-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		w.mu.buf = append(w.mu.buf, '\n')
	}
	return nil
}

// flushLoop writes what has been recorded, so that little is lost if the process is
// killed, and a reader can follow. It ends with Close, or Simulate.
func (w *Writer) flushLoop(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	t := time.NewTicker(flushInterval)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			w.mu.Lock()
			w.flush()
			err, failed := w.mu.err, w.mu.failed
			if err != nil {
				w.mu.failed = nil
			}
			w.mu.Unlock()
			if err != nil && failed != nil {
				go failed(err) // Close does not wait for a log that is not read
			}
		}
	}
}

// OnFailure has f told, once and soon, the first error of the file system. Close returns it, too, but perhaps much later.
func (w *Writer) OnFailure(f func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.failed = f
}

// Simulate has the file be written at moments of the run alone, as that of a system in simulated time: a run that is repeated leaves the
// same file, also if it crashes.
func (w *Writer) Simulate() { w.stop() }

// flush writes the buffer. Caller holds mu.
func (w *Writer) flush() {
	if len(w.mu.buf) > 0 && w.mu.err == nil {
		_, w.mu.err = w.file.Write(w.mu.buf)
	}
	w.mu.buf = w.mu.buf[:0]
}

// Flush writes what has been recorded.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
}

// Group implements Grouping.
func (w *Writer) Group() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.grouped = true
}

// full writes the buffer if it is long. Caller holds mu.
func (w *Writer) full() {
	if len(w.mu.buf) >= bufferBytesMax {
		w.flush()
	}
}

// Err returns the first error that the file system has returned.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.err
}

// Begin starts the section of a system.
func (w *Writer) Begin(h Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	line, err := json.Marshal(struct {
		Trace int `json:"trace"`
		Header
		Started time.Time `json:"started"`
	}{Version, h, h.Started.UTC()})
	if err != nil {
		panic(err) // a struct of strings and numbers always marshals
	}
	w.mu.events, w.mu.dropped, w.mu.inside, w.mu.begun, w.mu.grouped = 0, 0, true, true, false
	w.mu.buf = append(append(w.mu.buf, line...), '\n')
}

// End ends the section. how says whether the system has come to its end: "closed", or
// "interrupted" if events may still have been running.
func (w *Writer) End(how string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.inside {
		return
	}
	w.flushAnswers()
	b := append(w.mu.buf, `{"end":`...)
	b = bytejson.Append(b, how)
	b = append(b, `,"events":`...)
	b = strconv.AppendUint(b, w.mu.events, 10)
	if w.mu.dropped > 0 {
		b = append(b, `,"dropped":`...)
		b = strconv.AppendUint(b, w.mu.dropped, 10)
	}
	w.mu.buf = append(b, "}\n"...)
	w.mu.inside = false
}

// Crash leaves in the file what a process that is killed now would leave: what has not been written is lost, and so is what comes. The
// section has no end. Close closes the file.
func (w *Writer) Crash() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.inside = false
	w.mu.buf, w.mu.answers, w.mu.pending = w.mu.buf[:0], w.mu.answers[:0], 0
}

// Close writes what is left and closes the file, which goes if it is new and has no section. It returns
// the first error that there was; then the file is not complete.
func (w *Writer) Close() error {
	w.stop()
	open.Lock()
	open.writers = slices.DeleteFunc(open.writers, func(o *Writer) bool { return o == w })
	open.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	err := errors.Join(w.mu.err, w.file.Close())
	if w.made && !w.mu.begun {
		err = errors.Join(err, os.Remove(w.file.Name()))
	}
	return err
}

// Prepare implements Recorder: it encodes all but what Ended adds.
func (w *Writer) Prepare(e *Event) {
	b := append(e.Line[:0], `,"event":"`...)
	b = appendEventID(b, e.ID)
	b = append(b, `","attempt":`...)
	b = strconv.AppendUint(b, uint64(e.Attempt), 10)
	b = e.Origin.append(b)
	b = e.Across.append(b, e.Origin.Kind)
	b = append(b, `,"target":`...)
	b = bytejson.Append(b, e.Label)
	b = append(b, `,"method":`...)
	b = bytejson.Append(b, e.Method)
	if e.Err != nil {
		b = append(b, `,"abort":`...)
		b = bytejson.Append(b, e.Err.Error())
	}
	if e.Position != 0 {
		b = append(b, `,"position":`...)
		b = strconv.AppendUint(b, uint64(e.Position), 10)
	}
	b = append(b, `,"start":`...)
	b = strconv.AppendInt(b, e.Start, 10)
	b = appendAccesses(b, `,"reads":[`, e.Reads)
	b = appendAccesses(b, `,"writes":[`, e.Writes)
	e.Line = append(b, "}\n"...)
}

// Transient says that an event may be used again.
func (w *Writer) Transient() {}

// Ended implements Recorder.
func (w *Writer) Ended(e *Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.inside {
		return
	}
	w.mu.events++
	b := append(w.mu.buf, `{"order":`...)
	b = strconv.AppendInt(b, e.Order, 10)
	if e.Batch {
		b = append(b, `,"batch":true`...)
	}
	b = e.appendIssued(b)
	w.mu.buf = append(b, e.Line...)
	if e.Batch && !w.mu.grouped {
		w.flush() // before the batch is in the store: what survives a crash is in the record
		return
	}
	w.full()
}

// Answered implements Recorder.
func (w *Writer) Answered(e *Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.inside {
		return
	}
	b := w.mu.answers
	if len(b) == 0 {
		b = append(b, `{"answers":[[`...)
	} else {
		b = append(b, ",["...)
	}
	b = strconv.AppendInt(b, e.Order, 10)
	b = append(b, ',')
	b = strconv.AppendInt(b, e.End, 10)
	w.mu.answers = append(b, ']')
	if w.mu.pending++; w.mu.pending >= answersMax {
		w.flushAnswers()
		w.full()
	}
}

// flushAnswers makes a line of the answers so far. Caller holds mu.
func (w *Writer) flushAnswers() {
	if w.mu.pending > 0 {
		w.mu.buf = append(append(w.mu.buf, w.mu.answers...), "]}\n"...)
		w.mu.answers, w.mu.pending = w.mu.answers[:0], 0
	}
}

// Called implements Recorder.
func (w *Writer) Called(c *Callback) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.inside {
		return
	}
	b := append(w.mu.buf, `{"callback":`...)
	b = bytejson.Append(b, c.Method)
	b = c.Origin.append(b)
	b = append(b, `,"start":`...)
	b = strconv.AppendInt(b, c.Start, 10)
	w.mu.buf = append(b, "}\n"...)
	w.full()
}

// Dropped implements Recorder: it counts. What was dropped, and has committed, the trace of the home tells.
func (w *Writer) Dropped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.dropped++
}

// Gone implements Recorder.
func (w *Writer) Gone(c event.ClientID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.mu.inside {
		return
	}
	b := append(w.mu.buf, `{"gone":`...)
	b = strconv.AppendUint(b, uint64(c), 10)
	w.mu.buf = append(b, "}\n"...)
}

// Timed is a Writer that is Clocked: ticks are nanoseconds since 1970.
type Timed struct {
	*Writer
	Clock func() time.Time // of the node
}

// Now implements Clocked.
func (t Timed) Now() int64 { return t.Clock().UnixNano() }
