package access

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
)

const (
	hashPrefix = "sha256:"
	// What the permissions of a file let users do that are neither its owner nor of its group.
	othersRead  = 0o004
	othersWrite = 0o002
)

// Read reads the file of tokens of a program. The error has all that is wrong with it, each with its line. It never quotes
// what may be a token that was written into the wrong place.
func Read(path string, p *door.Program, log *slog.Logger) (*Tokens, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the file of tokens cannot be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is open: the name may get another one
	if err != nil {
		return nil, fmt.Errorf("the file of tokens cannot be read: %w", err)
	}
	switch mode := info.Mode(); {
	case runtime.GOOS == "windows": // permissions there do not tell
	case mode&othersWrite != 0:
		return nil, fmt.Errorf("%s: every user of this machine can write to the file of tokens, and so give itself any right; run chmod o= %[1]s, and check what is in it", path)
	case mode&othersRead != 0:
		log.Warn("every user of this machine can read the file of tokens; run chmod o= for it", "file", path)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("the file of tokens cannot be read: %w", err)
	}
	return parse(path, string(text), p)
}

// parse reads the text of a file.
func parse(path, text string, p *door.Program) (*Tokens, error) {
	r := reader{program: p, names: make(map[string]int), tokens: &Tokens{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := r.line(n, line); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s:%d: %w", path, n, err))
		}
	}
	if len(r.names) == 0 && r.errs == nil {
		return nil, fmt.Errorf("%s: the file of tokens has none, so that nothing could be called; \"aeond token NAME\" makes one, and its line", path)
	}
	if r.errs != nil {
		return nil, errors.Join(r.errs...)
	}
	return r.tokens, nil
}

// reader reads a file line by line.
type reader struct {
	program *door.Program
	names   map[string]int // the line of each
	tokens  *Tokens
	errs    []error
}

func (r *reader) line(n int, line string) error {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	for _, f := range fields {
		if isToken(f) {
			return errors.New("a token stands there, which belongs to its caller alone: make another one by \"aeond token NAME\", and write the line that it prints")
		}
	}
	name, rights := fields[0], fields[1:]
	c := &Caller{Name: name, classes: make(map[*door.Class]bool), methods: make(map[*door.Method]bool)}
	var hashes []hash
	for len(rights) > 0 && strings.HasPrefix(rights[0], hashPrefix) {
		h := hash{of: c}
		b, err := hex.DecodeString(rights[0][len(hashPrefix):])
		if err != nil || copy(h.sum[:], b) != len(h.sum) || len(b) != len(h.sum) {
			return errWrongHash
		}
		hashes, rights = append(hashes, h), rights[1:]
	}
	if len(hashes) == 0 {
		return errNoHash
	}
	if err := checkName(name); err != nil {
		return err
	}
	if before := r.names[name]; before > 0 {
		return fmt.Errorf("line %d is of %s already; write all its hashes and rights on one line", before, name)
	}
	r.names[name] = n
	for _, h := range hashes {
		for _, known := range r.tokens.hashes {
			if known.sum == h.sum {
				return fmt.Errorf("%s and %s have one token; make each its own by \"aeond token NAME\"", known.of.Name, name)
			}
		}
		r.tokens.hashes = append(r.tokens.hashes, h)
	}
	if len(rights) == 0 {
		return fmt.Errorf("%s may call nothing; write what it may call behind the hash: CLASS.METHOD, CLASS.* or *", name)
	}
	var errs []error
	for i, text := range rights {
		if err := r.grant(c, text); err != nil {
			errs = append(errs, fmt.Errorf("right %d of %s: %w", i+1, name, err))
		}
	}
	return errors.Join(errs...)
}

var (
	errNoHash    = errors.New("there is no hash of a token; a line is NAME sha256:HASH RIGHTS, as \"aeond token NAME\" prints it")
	errWrongHash = errors.New("the hash is not sha256: and 64 hexadecimal digits; take it from what \"aeond token NAME\" prints")
)

// grant gives a caller a right.
func (r *reader) grant(c *Caller, text string) error {
	if err := checkRight(text); err != nil {
		return err
	}
	if text == "*" {
		c.all = true
		return nil
	}
	i := strings.LastIndexByte(text, '.')
	class, err := r.program.Class(text[:i])
	switch {
	case err != nil:
		return err
	case text[i+1:] == "*":
		// Invariant: no caller has a right to nil, which stands for what is not there.
		assert.That(class != nil, "%s names no class", text)
		c.classes[class] = true
		return nil
	}
	m, err := class.Method(text[i+1:])
	if err == nil {
		assert.That(m != nil, "%s names no method", text)
		c.methods[m] = true
	}
	return err
}

// isToken reports whether a field may be a token that New has made, whole or in part.
func isToken(field string) bool {
	return strings.HasPrefix(field, prefix) && !strings.Contains(field, ".")
}

// checkName checks the name of a caller.
func checkName(name string) error {
	if n := len(name); n == 0 || n > door.CallerMax {
		return fmt.Errorf("the name has %d bytes; it has 1 to %d", n, door.CallerMax)
	}
	for i := range len(name) {
		if c := name[i]; !word(c) && c != '-' && c != '.' && c != '@' {
			return errors.New("a name has letters from a to z, digits, and - _ . @ only")
		}
	}
	return nil
}

// checkRight checks the form of a right.
func checkRight(text string) error {
	if text == "*" {
		return nil
	}
	parts := strings.Split(text, ".")
	ok := len(parts) == 2 || len(parts) == 3 // a class may stand behind its package
	for i, p := range parts {
		ok = ok && (identifier(p) || i == len(parts)-1 && p == "*")
	}
	if !ok {
		return errors.New("it is none of CLASS.METHOD, CLASS.* and *")
	}
	return nil
}

func identifier(text string) bool {
	for i := range len(text) {
		if !word(text[i]) {
			return false
		}
	}
	return text != ""
}

// word reports whether names of programs have a byte.
func word(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
