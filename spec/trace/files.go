package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// File is a trace, or a part of one: each node of a cluster writes files of its own.
type File struct {
	Name string // for reports; "" if there is one file
	In   io.ReadSeeker
}

// Check reads a trace, twice, and decides. The error says that it could not be read; a
// violation is none.
func Check(in io.ReadSeeker) (*Report, error) { return CheckFiles([]File{{In: in}}, 0) }

// CheckFiles is Check for a trace in several files, in any order: the starts of one store are put in theirs. The clocks of the nodes that have
// written them are apart by no more than clocks.
func CheckFiles(files []File, clocks time.Duration) (*Report, error) {
	list, err := sections(files)
	if err != nil {
		return nil, err
	}
	if list, err = inOrder(list); err != nil {
		return nil, err
	}
	rep := &Report{}
	var c *Checker
	clusters := make(map[string]*joint)
	var names []string // files, by section
	for i := range list {
		s := &list[i]
		if s.header != nil {
			if c, err = c.next(s, clocks); err != nil {
				return nil, err
			}
			if h := s.header; h.Stores > 0 {
				if clusters[h.Cluster] == nil {
					clusters[h.Cluster] = newJoint()
				}
				c.joint = clusters[h.Cluster]
				c.joint.begin(c, len(rep.Sections))
			}
			if i+1 < len(list) && list[i+1].header.follows(s.header) {
				c.survived = list[i+1].header.Recovered
			}
		}
		torn, err := s.check(c)
		if err != nil {
			return nil, err
		}
		rep.Torn += torn
		if s.header != nil {
			rep.Sections = append(rep.Sections, c.section)
			names = append(names, c.File)
		}
	}
	for _, j := range clusters {
		j.judge(rep, names, clocks)
	}
	if len(rep.Sections) == 0 {
		return nil, errors.New("this is no trace: it is empty")
	}
	return rep, nil
}

// First returns the header with which a trace begins, nil if it is empty.
func First(in io.Reader) (*Header, error) {
	rec, err := NewReader(in).Next()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	return rec.Header, err
}

// section is where the trace of one system is.
type section struct {
	file     *File
	from, to int64 // bytes
	line     int   // before the first
	header   *Header
}

// sections finds the sections of files. What is before the first section of a file is one without a header, so that it is reported.
func sections(files []File) (list []section, err error) {
	for i := range files {
		f := &files[i]
		r := NewReader(f.In)
		first := len(list)
		for {
			at := r.read
			line, err := r.line()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, f.failed(err)
			}
			r.Line++
			var h *Header
			if bytes.HasPrefix(line, []byte(`{"trace":`)) {
				rec, _ := r.parse(line) // torn or damaged: the check says so
				h = rec.Header
			}
			if h != nil || len(list) == first {
				list = append(list, section{file: f, from: at, line: r.Line - 1, header: h})
			}
			list[len(list)-1].to = r.read
		}
	}
	return list, nil
}

// failed is an error of a file.
func (f *File) failed(err error) error {
	if f.Name == "" {
		return err
	}
	return fmt.Errorf("%s: %w", f.Name, err)
}

// inOrder puts the starts of each store in their order. All else stays as it is.
func inOrder(list []section) ([]section, error) {
	first := make(map[string]int) // section of a store
	place := func(i int) int {
		h := list[i].header
		if h == nil || h.Store == "" {
			return i
		}
		if _, is := first[h.Store]; !is {
			first[h.Store] = i
		}
		return first[h.Store]
	}
	type placed struct {
		section
		at int
	}
	all := make([]placed, len(list))
	for i := range list {
		all[i] = placed{list[i], place(i)}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.at != b.at || a.header == nil || b.header == nil || a.header.Store == "" {
			return a.at - b.at
		}
		return int(a.header.Run) - int(b.header.Run)
	})
	for i := range all {
		list[i] = all[i].section
		if i == 0 || list[i].header == nil || list[i-1].header == nil {
			continue
		}
		if a, b := list[i-1].header, list[i].header; a.Store != "" && a.Store == b.Store && a.Run == b.Run {
			return nil, fmt.Errorf("start %d of store %s is there twice, at %s and %s; name each file once", a.Run, a.Store, list[i-1].place(), list[i].place())
		}
	}
	return list, nil
}

// place says where a section begins.
func (s *section) place() string {
	return strings.TrimSpace(fmt.Sprintf("%s line %d", s.file.Name, s.line+1))
}

// next returns the checker for a section that comes behind those that c has checked; c may be nil.
func (c *Checker) next(s *section, clocks time.Duration) (*Checker, error) {
	h := s.header
	switch {
	case c == nil || !h.follows(&c.section.Header):
		c = NewChecker(*h)
		c.partial = h.Continues
		c.earlier = h.Continues || h.Run > 1
		c.stored = h.Recovered
	case c.stored != h.Recovered:
		return nil, &MissingError{Store: h.Store, Run: h.Run, Before: c.section.Header.Run, Order: h.Recovered, At: s.place(), End: c.File}
	default:
		c.resume(*h, clocks)
	}
	c.File = s.file.Name
	return c, nil
}

// check has c check a section, and returns how many lines a process that was killed has left half done.
func (s *section) check(c *Checker) (torn int, err error) {
	if _, err := s.file.In.Seek(s.from, io.SeekStart); err != nil {
		return 0, s.file.failed(err)
	}
	r := NewReader(io.LimitReader(s.file.In, s.to-s.from))
	r.Line = s.line
	var end *End
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			if c != nil {
				c.End(end)
			}
			return r.Torn, nil
		case err != nil:
			return 0, s.file.failed(err)
		case rec.Header != nil:
		case end != nil:
			return 0, s.file.failed(fmt.Errorf("line %d belongs to no section", r.Line))
		default:
			c.Line = r.Line
			if end = rec.End; end == nil {
				c.take(rec)
			}
		}
	}
}

// take takes a record within a section.
func (c *Checker) take(rec Record) {
	switch {
	case rec.Event != nil:
		c.Event(rec.Event)
	case rec.Callback != nil:
		c.Callback(rec.Callback)
	case rec.Gone != 0:
		c.Gone(rec.Gone)
	default:
		for _, a := range rec.Answers {
			c.Answer(a)
		}
	}
}
