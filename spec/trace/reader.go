package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads the records of a trace.
type Reader struct {
	in   *bufio.Reader
	scan scanner
	long []byte // a line that does not fit the buffer
	// Line is the number of the line of the last record.
	Line int
	// Torn counts the lines that a process which was killed has left half done.
	Torn int

	begun  bool  // a record was returned: blank lines may be before it
	read   int64 // bytes, up to the end of the last line
	damage error // of a line that was no record: torn, if a section or nothing follows
	event  Event
	call   Callback
	list   []Answer
}

const (
	bufferBytes  = 256 << 10
	lineBytesMax = 512 << 20 // the record of an event on several million actors
)

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, bufferBytes), scan: scanner{strings: make(map[string]string)}}
}

// DamageError says that a line is no record and was not torn off at the end of what a
// process has written.
type DamageError struct {
	Line int
	Err  error
}

// Error names the line.
func (e *DamageError) Error() string {
	return fmt.Sprintf("line %d is damaged: %v", e.Line, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

// Next returns the next record, io.EOF behind the last. It is valid until the next call.
func (r *Reader) Next() (rec Record, err error) {
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && r.damage != nil {
				r.Torn++
				r.damage = nil
			}
			return rec, err
		}
		r.Line++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		rec, err = r.parse(line)
		switch {
		case r.damage != nil && (err != nil || rec.Header == nil):
			return Record{}, r.damage
		case err != nil && !r.begun:
			return Record{}, fmt.Errorf("this is no trace: %w", err)
		case err != nil:
			r.damage = &DamageError{r.Line, err}
			continue
		}
		if r.damage != nil {
			r.Torn++
			r.damage = nil
		}
		if !r.begun && rec.Header == nil {
			return Record{}, errors.New("this is no trace: it does not begin with a header")
		}
		if rec.Header != nil && rec.Header.Version < 1 {
			return Record{}, fmt.Errorf("line %d: there is no version %d of the format", r.Line, rec.Header.Version)
		}
		if rec.Header != nil && rec.Header.Version > Version {
			return Record{}, fmt.Errorf("line %d: the trace has version %d of the format, newer than %d", r.Line, rec.Header.Version, Version)
		}
		r.begun = true
		return rec, nil
	}
}

// line returns the next line without its end, io.EOF behind the last.
func (r *Reader) line() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		r.read += int64(len(part))
		switch {
		case err == nil && len(r.long) == 0:
			return part[:len(part)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
			if r.long = append(r.long, part...); len(r.long) > lineBytesMax {
				return nil, fmt.Errorf("line %d is longer than %d bytes", r.Line+1, lineBytesMax)
			}
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		r.long = append(r.long, part...)
		if len(r.long) == 0 {
			return nil, io.EOF
		}
		return bytes.TrimSuffix(r.long, []byte("\n")), nil
	}
}

// parse takes a record out of a line.
func (r *Reader) parse(line []byte) (rec Record, err error) {
	s := &r.scan
	s.begin(line)
	defer s.caught(&err)
	if s.expect('{'); s.peek() == '}' {
		s.fail()
	}
	key := s.text() // the first member tells which record it is
	s.begin(line)
	switch key {
	case "trace":
		rec.Header = s.header()
	case "order":
		r.event = Event{Reads: r.event.Reads[:0], Writes: r.event.Writes[:0], Clients: r.event.Clients[:0], Timers: r.event.Timers[:0], Parts: r.event.Parts[:0]}
		s.eventRecord(&r.event)
		rec.Event = &r.event
	case "answers":
		r.list = r.list[:0]
		s.object(func(string) { r.list = s.answers(r.list) })
		rec.Answers = r.list
	case "callback":
		r.call = Callback{}
		s.callbackRecord(&r.call)
		rec.Callback = &r.call
	case "gone":
		s.object(func(string) { rec.Gone = s.uint() })
	case "end":
		rec.End = s.end()
	default:
		s.fail()
	}
	if len(bytes.TrimSpace(s.line[s.at:])) > 0 {
		s.fail()
	}
	return rec, nil
}

func (s *scanner) header() *Header {
	h := &Header{}
	s.object(func(key string) {
		switch key {
		case "trace":
			h.Version = int(s.int())
		case "program":
			h.Program = s.text()
		case "test":
			h.Test = s.text()
		case "seed":
			h.Seed = s.uint()
		case "started":
			h.Started = s.passing()
		case "states":
			h.States = s.bool()
		case "store":
			h.Store = s.text()
		case "run":
			h.Run = s.uint()
		case "recovered":
			h.Continues, h.Recovered = true, s.int()
		case "node":
			h.Node = s.uint()
		case "cluster":
			h.Cluster = s.text()
		case "stores":
			h.Stores = s.uint()
		case "number":
			h.Number = s.uint()
		default:
			s.skip()
		}
	})
	return h
}

func (s *scanner) eventRecord(e *Event) {
	known := false
	s.object(func(key string) {
		switch key {
		case "order":
			e.Order = s.int()
		case "event":
			e.ID, known = s.eventID(), true
		case "attempt":
			e.Attempt = s.uint()
		case "target":
			e.Target = s.text()
		case "method":
			e.Method = s.text()
		case "abort":
			e.Aborted, e.Why = true, s.passing()
		case "position":
			e.Position = s.uint()
		case "start":
			e.Start = s.int()
		case "subs":
			e.Subs = int(s.int())
		case "callbacks":
			s.clients(e)
		case "timers":
			s.array(func() { e.Timers = append(e.Timers, s.timerOp()) })
		case "keeps":
			e.Keeps = s.bool()
		case "batch":
			e.Batch = s.bool()
		case "try":
			e.Try = s.uint()
		case "at":
			e.At = s.int()
		case "parts":
			s.array(func() { e.Parts = append(e.Parts, s.uint()) })
		case "restored":
			e.Restored = s.bool()
		case "reads":
			s.array(func() { e.Reads = append(e.Reads, s.access()) })
		case "writes":
			s.array(func() { e.Writes = append(e.Writes, s.access()) })
		default:
			s.origin(&e.Origin, key)
		}
	})
	if !known {
		s.fail()
	}
}

func (s *scanner) callbackRecord(c *Callback) {
	s.object(func(key string) {
		switch key {
		case "callback":
			c.Method = s.text()
		case "start":
			c.Start = s.int()
		default:
			s.origin(&c.Origin, key)
		}
	})
}

// clients takes the clients that the callbacks of an event are for. Before version 3 it takes how
// many callbacks there are.
func (s *scanner) clients(e *Event) {
	if s.peek() != '[' {
		e.Callbacks = int(s.int())
		return
	}
	s.array(func() { e.Clients = append(e.Clients, s.uint()) })
	e.Callbacks = len(e.Clients)
}

func (s *scanner) timerOp() (o TimerOp) {
	s.object(func(key string) {
		switch key {
		case "set":
			if o.Set = s.uint(); o.Set == 0 {
				s.fail()
			}
		case "cancel", "name":
			o.Name = s.text()
		case "issuer":
			o.Issuer = s.text()
		case "every":
			o.Every = s.bool()
		default:
			s.skip()
		}
	})
	return o
}

// origin takes a member that events and callbacks have in common.
func (s *scanner) origin(o *Origin, key string) {
	switch key {
	case "kind":
		o.Kind = s.text()
	case "client":
		o.Client = s.uint()
	case "parent":
		o.Parent = s.eventID()
	case "index":
		o.Index = int(s.int())
	case "issuer":
		o.Issuer = s.text()
	case "timer":
		o.Timer = s.uint()
	case "issued":
		o.Issued = s.bool()
	case "home":
		o.Elsewhere, o.Home = true, s.uint()
	default:
		s.skip()
	}
}

func (s *scanner) answers(list []Answer) []Answer {
	s.array(func() {
		var pair [2]int64
		n := 0
		s.array(func() {
			if n == len(pair) {
				s.fail()
			}
			pair[n] = s.int()
			n++
		})
		if n < len(pair) {
			s.fail()
		}
		list = append(list, Answer{pair[0], pair[1]})
	})
	return list
}

func (s *scanner) end() *End {
	e := &End{}
	s.object(func(key string) {
		switch key {
		case "end":
			e.How = s.text()
		case "events":
			e.Events = s.uint()
		case "dropped":
			e.Dropped = s.uint()
		default:
			s.skip()
		}
	})
	return e
}
