package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// scanner takes apart one line of JSON. It knows what a trace consists of: objects,
// arrays, strings, whole numbers and truth values; members that it does not know are
// skipped. It is several times as fast as a decoder that works by reflection.
type scanner struct {
	line    []byte
	at      int
	strings map[string]string // each string is kept once
}

var errSyntax = errors.New("no record of a trace")

func (s *scanner) fail() { panic(errSyntax) }

func (s *scanner) peek() byte {
	for s.at < len(s.line) && (s.line[s.at] == ' ' || s.line[s.at] == '\t' || s.line[s.at] == '\r') {
		s.at++
	}
	if s.at == len(s.line) {
		s.fail()
	}
	return s.line[s.at]
}

func (s *scanner) expect(c byte) {
	if s.peek() != c {
		s.fail()
	}
	s.at++
}

// list calls item for each element up to close; the opening is behind.
func (s *scanner) list(end byte, item func()) {
	if s.peek() == end {
		s.at++
		return
	}
	for {
		item()
		switch s.peek() {
		case ',':
			s.at++
		case end:
			s.at++
			return
		default:
			s.fail()
		}
	}
}

// object calls member for each member, which takes the value.
func (s *scanner) object(member func(key string)) {
	s.expect('{')
	s.list('}', func() {
		key := s.text()
		s.expect(':')
		member(key)
	})
}

func (s *scanner) array(item func()) {
	s.expect('[')
	s.list(']', item)
}

// raw returns a string as it stands, quotes included.
func (s *scanner) raw() (quoted []byte, plain bool) {
	s.expect('"')
	start := s.at
	plain = true
	for s.at < len(s.line) {
		switch s.line[s.at] {
		case '"':
			s.at++
			return s.line[start-1 : s.at], plain
		case '\\':
			plain = false
			s.at++
		}
		s.at++
	}
	s.fail()
	return nil, false
}

func (s *scanner) text() string {
	quoted, plain := s.raw()
	inner := quoted[1 : len(quoted)-1]
	if !plain {
		inner = s.unescape(inner)
	}
	if kept, ok := s.strings[string(inner)]; ok {
		return kept
	}
	text := string(inner)
	s.strings[text] = text
	return text
}

// passing is text for a string that will hardly occur again.
func (s *scanner) passing() string {
	quoted, plain := s.raw()
	if plain {
		return string(quoted[1 : len(quoted)-1])
	}
	return string(s.unescape(quoted[1 : len(quoted)-1]))
}

// escapes are those of one character.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns what stands between quotes without its escapes. \udc80 to \udcff are bytes that are no UTF-8.
func (s *scanner) unescape(inner []byte) (text []byte) {
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			text = append(text, inner[i])
			continue
		}
		i++ // raw has seen to it that something follows
		if c, ok := escapes[inner[i]]; ok {
			text = append(text, c)
			continue
		}
		unit := s.unit(inner[i:])
		i += 4
		switch {
		case unit >= 0xdc80 && unit <= 0xdcff:
			text = append(text, byte(unit))
		case utf16.IsSurrogate(unit) && i+2 < len(inner) && inner[i+1] == '\\' && inner[i+2] == 'u':
			if r := utf16.DecodeRune(unit, s.unit(inner[i+2:])); r != utf8.RuneError {
				unit, i = r, i+6
			}
			text = utf8.AppendRune(text, unit)
		default:
			text = utf8.AppendRune(text, unit)
		}
	}
	return text
}

// unit reads uXXXX.
func (s *scanner) unit(in []byte) rune {
	if len(in) < 5 || in[0] != 'u' {
		s.fail()
	}
	n, err := strconv.ParseUint(string(in[1:5]), 16, 16)
	if err != nil {
		s.fail()
	}
	return rune(n)
}

func (s *scanner) uint() (n uint64) {
	s.peek()
	start := s.at
	for s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		d := uint64(s.line[s.at] - '0')
		if n > (1<<64-1-d)/10 {
			s.fail()
		}
		n = n*10 + d
		s.at++
	}
	if s.at == start {
		s.fail()
	}
	return n
}

func (s *scanner) int() int64 {
	n := s.uint()
	if n > 1<<63-1 {
		s.fail()
	}
	return int64(n)
}

func (s *scanner) bool() bool {
	is := s.peek() == 't'
	s.skip()
	return is
}

func (s *scanner) hex() uint64 {
	quoted, _ := s.raw()
	n, err := strconv.ParseUint(string(quoted[1:len(quoted)-1]), 16, 64)
	if err != nil {
		s.fail()
	}
	return n
}

func (s *scanner) eventID() (id EventID) {
	quoted, _ := s.raw()
	inner := string(quoted[1 : len(quoted)-1])
	for i := range len(inner) {
		if inner[i] == '-' {
			var err1, err2 error
			id.Origin, err1 = strconv.ParseUint(inner[:i], 16, 64)
			id.Seq, err2 = strconv.ParseUint(inner[i+1:], 16, 64)
			if err1 != nil || err2 != nil {
				s.fail()
			}
			return id
		}
	}
	s.fail()
	return id
}

// skip passes over a value of any kind, without recursion.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.peek() {
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth--; depth < 0 {
				s.fail()
			}
			s.at++
		case '"':
			s.raw()
		case ',', ':':
			if depth == 0 {
				s.fail()
			}
			s.at++
			continue
		default:
			start := s.at
			for s.at < len(s.line) {
				c := s.line[s.at]
				if c == ',' || c == ']' || c == '}' || c == ' ' || c == ':' {
					break
				}
				s.at++
			}
			if !json.Valid(s.line[start:s.at]) {
				s.fail()
			}
		}
		if depth == 0 {
			return
		}
	}
}

// access reads [actor, version], with a state or "deleted" behind them.
func (s *scanner) access() (a Access) {
	n := 0
	s.array(func() {
		switch n {
		case 0:
			a.Actor = s.text()
		case 1:
			a.Version = s.uint()
		case 2:
			if quoted, _ := s.raw(); string(quoted) == `"deleted"` {
				a.Deleted = true
			} else {
				s.at -= len(quoted)
				a.State = s.hex()
			}
		default:
			s.skip()
		}
		n++
	})
	if n < 2 {
		s.fail()
	}
	return a
}

// begin puts a line into the scanner.
func (s *scanner) begin(line []byte) { s.line, s.at = line, 0 }

// caught turns what fail has unwound into an error.
func (s *scanner) caught(err *error) {
	switch p := recover(); p {
	case nil:
	case errSyntax:
		*err = fmt.Errorf("%w (byte %d)", errSyntax, s.at)
	default:
		panic(p)
	}
}
