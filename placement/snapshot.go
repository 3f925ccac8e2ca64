package placement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
)

// format is that of snapshots.
const format = 1

// snapshot is a state as it is written: a line of JSON behind its checksum in hexadecimal digits, so that a person can read it.
type snapshot struct {
	Format int    `json:"format"`
	State  *State `json:"state"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the state as bytes. Equal states have equal bytes.
func (s *State) Encode() []byte {
	text, err := json.Marshal(snapshot{format, s})
	if err != nil {
		panic(err) // it has nothing that JSON has not
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(text, castagnoli), text)
}

// Decode returns the state that Encode has written.
func Decode(b []byte) (*State, error) {
	var sum uint32
	text, ok := bytes.CutSuffix(b, []byte("\n"))
	if _, err := fmt.Sscanf(string(text[:min(len(text), 9)]), "%08x ", &sum); !ok || err != nil || len(text) < 9 || text[8] != ' ' {
		return nil, fmt.Errorf("it is no state of a placement, or ends early")
	}
	if text = text[9:]; crc32.Checksum(text, castagnoli) != sum {
		return nil, fmt.Errorf("the state of the placement is damaged: its checksum is %08x, and should be %08x", crc32.Checksum(text, castagnoli), sum)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	s := snapshot{State: &State{}}
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("the state of the placement cannot be read, by this version at least: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("the state of the placement has something behind it")
	}
	switch {
	case s.Format != format:
		return nil, fmt.Errorf("the state of the placement has format %d, and this version reads %d", s.Format, format)
	case s.State == nil:
		return nil, fmt.Errorf("the state of the placement is missing")
	}
	if s.State.Cluster != "" {
		s.State.numberTexts()
		if err := s.State.check(); err != nil {
			return nil, fmt.Errorf("the state of the placement contradicts itself: %w", err)
		}
	}
	return s.State, nil
}
