package span

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
)

// Lines writes each request as a line of JSON. Any goroutine may call it. What is written has one Lines, which knows whether the last line is whole.
type Lines struct {
	To   io.Writer
	mu   sync.Mutex // for torn, and while a line is written
	torn bool       // the last line has no end, as that of a disk that was full
}

// Export implements Sink.
func (l *Lines) Export(_ context.Context, request []byte) (refused int, err error) {
	line := append(request, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.To.Write(line)
	if n > 0 {
		l.torn = line[n-1] != '\n'
	}
	return 0, err
}

// OpenFile opens a file to which lines are appended; it is made if it is not there. The caller closes it.
func OpenFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the file of --spans cannot be opened: %w", err)
	}
	if err := endLine(f); err != nil {
		_ = f.Close() // the error that counts is the first
		return nil, fmt.Errorf("the file of --spans cannot be used: %w", err)
	}
	return f, nil
}

// endLine ends a line of which a process that was killed has written only a part.
func endLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err = f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
		_, err = f.WriteString("\n")
	}
	return err
}
