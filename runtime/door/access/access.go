// Package access says which callers a door knows, and which methods each may call. It reads the file of tokens, which a
// person writes:
//
//	# name  hashes of its tokens  what it may call
//	ann     sha256:9f86d0…        Shop.order Shop.left Ledger.*
//	ops     sha256:60303a…        *
//
// The file has the hash of a token and never the token, so that a copy of it lets nothing in.
package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/runtime/door"
)

// Caller is a caller that a door knows. It does not change.
type Caller struct {
	Name    string // as the file has it; "": Anyone
	all     bool
	classes map[*door.Class]bool
	methods map[*door.Method]bool
}

// Anyone is each caller of a door that asks for no token. It may call all methods.
var Anyone = &Caller{all: true}

// May reports whether the caller may call a method. What is not there is nil: a method that its class does not have, or a
// class that the program does not have, and then the method, too. So a caller learns only of what it may call what is there.
func (c *Caller) May(class *door.Class, m *door.Method) bool {
	return c.all || c.classes[class] || c.methods[m]
}

// MayBe reports whether the caller may have an object of a client class, so that it receives callbacks: if it may call a
// method that takes one. As for May, nil is what the program does not have.
func (c *Caller) MayBe(class *door.ClientClass) bool {
	return c.all || class != nil && class.Taken(c.May)
}

// Tokens are the callers of a door, by their tokens. Any goroutine may use them.
type Tokens struct {
	hashes []hash
}

type hash struct {
	sum [sha256.Size]byte
	of  *Caller
}

// Find returns the caller that has a token, nil if it is known for none. Its time says nothing of the hashes.
func (t *Tokens) Find(token string) (c *Caller) {
	sum := sha256.Sum256([]byte(token))
	for i := range t.hashes {
		if subtle.ConstantTimeCompare(sum[:], t.hashes[i].sum[:]) == 1 {
			c = t.hashes[i].of
		}
	}
	return c
}

// prefix begins each token that New makes: people and scanners of secrets tell by it what they have found.
const prefix = "aeon_"

// New returns a token of 256 random bits.
func New() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it does not fail
	return prefix + base64.RawURLEncoding.EncodeToString(b)
}

// Line returns the line of the file for a token. The rights are looked up by Read alone, as only it knows the program.
func Line(name, token string, rights []string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	for i, r := range rights {
		if err := checkRight(r); err != nil {
			return "", fmt.Errorf("right %d of %s: %w", i+1, name, err)
		}
	}
	return fmt.Sprintf("%s  %s%x  %s", name, hashPrefix, sha256.Sum256([]byte(token)), strings.Join(rights, " ")), nil
}
