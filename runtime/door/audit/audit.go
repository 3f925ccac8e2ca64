// Package audit keeps account of what callers have done: a line of JSON for each call that may change something, and for
// each that was refused for want of a token or a right. A line has the caller, the method, the time and the outcome, but never
// arguments, results or tokens.
package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
)

// Log is a file that grows by lines. Any goroutine may use it. It stays open until the process ends.
type Log struct {
	mu struct {
		sync.Mutex
		to  *os.File
		err error // the first; from then on nothing is written
	}
}

// Entry is what a line says.
type Entry struct {
	Time    time.Time     `json:"time"`            // when the request came
	Token   string        `json:"token,omitempty"` // the name of the caller; "": not known, or the door asks for no token
	Remote  string        `json:"remote"`          // address
	Class   bytejson.Text `json:"class,omitempty"` // these as the request has them; "": it was no call
	Key     bytejson.Text `json:"key,omitempty"`
	Method  bytejson.Text `json:"method,omitempty"`
	Outcome string        `json:"outcome"` // Done, or the code of the failure
	Once    bool          `json:"once"`    // the request has a key of its own
	Took    float64       `json:"ms"`      // in milliseconds, until the line was written
}

// Done is the outcome of a call that has not failed.
const Done = "done"

// Open opens a file, which is made if it is not there. Its lines stay.
func Open(path string) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the file of --audit cannot be opened: %w", err)
	}
	l := &Log{}
	l.mu.to = f
	if err := l.endLine(); err != nil {
		_ = f.Close() // the error that counts is the first
		return nil, fmt.Errorf("the file of --audit cannot be used: %w", err)
	}
	return l, nil
}

// endLine ends a line of which a full disk has taken only a part, so that the next one can be read.
func (l *Log) endLine() error {
	info, err := l.mu.to.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err = l.mu.to.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
		_, err = l.mu.to.WriteString("\n")
	}
	return err
}

// Append writes a line. When it returns the system has the line: it survives the end of the process, and is on the disk when
// the system has written it there. After an error each call returns it.
func (l *Log) Append(e *Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		panic(err) // entries always marshal
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.err != nil {
		return l.mu.err
	}
	if _, err := l.mu.to.Write(append(line, '\n')); err != nil {
		l.mu.err = fmt.Errorf("the file of --audit cannot be written: %w", err)
	}
	return l.mu.err
}

// Err returns the error that has ended the writing.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.err
}
