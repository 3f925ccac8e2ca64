package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// SystemKind tells apart the systems of which there are traces: a file has those of one kind.
type SystemKind string

// The kinds.
const (
	Memory SystemKind = "that keep their state in memory"
	Stored SystemKind = "that keep their state on disk, with --data"
)

// headerBytesMax bounds what is read to find out what a file is.
const headerBytesMax = 64 << 10

// prepare empties a file, unless toAppend, if it holds nothing but a trace of systems of this kind.
func (k SystemKind) prepare(f *os.File, toAppend bool) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err // a device keeps nothing
	}
	start := make([]byte, min(info.Size(), headerBytesMax))
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, info.Size()), start); err != nil {
		return err
	}
	found, err := kindOf(start)
	switch {
	case err != nil:
		return fmt.Errorf("%s %w, and is left as it is; name another file", f.Name(), err)
	case found != "" && found != k:
		return fmt.Errorf("%s is the trace of programs %s, and this is one of those %s; name another file, or delete it", f.Name(), found, k)
	case toAppend:
		return nil
	}
	return f.Truncate(0)
}

var errNoTrace = errors.New("is no trace")

// kindOf returns the kind of the trace that begins with start, "" if that cannot be told: a process that was
// killed while it wrote the first line has left it torn, and the next process has gone on behind it.
func kindOf(start []byte) (SystemKind, error) {
	full := len(start) == headerBytesMax
	for line := range bytes.Lines(start) {
		if !bytes.HasPrefix(line, []byte(`{"trace":`)) || full && !bytes.HasSuffix(line, []byte("\n")) {
			return "", errNoTrace
		}
		var h struct {
			Trace int `json:"trace"`
			Header
		}
		switch err := json.Unmarshal(line, &h); {
		case err != nil:
			continue
		case h.Trace < 1:
			return "", errNoTrace
		case h.Trace > Version:
			return "", errors.New("is the trace of a newer version")
		case h.Store != "":
			return Stored, nil
		}
		return Memory, nil
	}
	return "", nil
}
