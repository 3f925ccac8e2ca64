package identity

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/placement"
)

// Token lets a node join a cluster once, until it expires. Its text is a secret. The placement has its hash alone.
type Token struct {
	Cluster   string
	Authority placement.Fingerprint // of the key of the cluster's authority: the node that joins asks this cluster, and no other
	Expires   time.Time             // in seconds
	secret    [16]byte
}

// tokenPrefix begins the text of a token: a search for secrets in logs and repositories finds it.
const tokenPrefix = "aeon-join-"

// tokenSize is how many bytes follow the cluster in the text of a token: the secret, the fingerprint, the expiry, and a check.
const tokenSize = 16 + sha256.Size + 8 + tokenCheck

// tokenCheck is how many bytes tell a text that was mistyped from one that was not.
const tokenCheck = 4

var tokenText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewToken makes a token of this cluster. It is good when the placement has it: see Token.Hash. Any goroutine may call it.
func (i *Identity) NewToken(expires time.Time) Token {
	t := Token{Cluster: i.Cluster, Authority: FingerprintOf(i.ca), Expires: expires.Truncate(time.Second)}
	_, _ = rand.Read(t.secret[:]) // it never fails: see its documentation
	return t
}

// bytes returns what follows the cluster in the text.
func (t Token) bytes() []byte {
	b := append(append([]byte{}, t.secret[:]...), t.Authority[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(t.Expires.Unix()))
	sum := sha256.Sum256(append([]byte(t.Cluster), b...))
	return append(b, sum[:tokenCheck]...)
}

// Text returns the token as an operator hands it on. String has no secret: what is printed by chance gives nothing away.
func (t Token) Text() string {
	return tokenPrefix + t.Cluster + "-" + tokenText.EncodeToString(t.bytes())
}

// String implements fmt.Stringer, without the secret.
func (t Token) String() string { return tokenPrefix + t.Cluster + "-…" }

// Hash returns what the placement knows of the token.
func (t Token) Hash() placement.Fingerprint { return sha256.Sum256([]byte(t.Text())) }

// ParseToken reads what Text has written. Its errors do not repeat the text, which is a secret.
func ParseToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return Token{}, fmt.Errorf("it is no token: one begins with %s", tokenPrefix)
	}
	cluster, rest, ok := strings.Cut(rest, "-")
	if !ok || cluster == "" {
		return Token{}, fmt.Errorf("the token has no cluster, or ends behind it: copy all of it")
	}
	// The decoder skips line ends, so they would be missing from what it returns.
	if strings.ContainsAny(rest, "\r\n") {
		return Token{}, fmt.Errorf("the token has a line end within: write it in one line")
	}
	if want := tokenText.EncodedLen(tokenSize); len(rest) != want {
		return Token{}, fmt.Errorf("the token has %d characters behind its cluster, and should have %d: copy all of it", len(rest), want)
	}
	b, err := tokenText.DecodeString(rest)
	if err != nil {
		return Token{}, fmt.Errorf("the token has a character that is in no token: %w", err)
	}
	t := Token{Cluster: cluster, Expires: time.Unix(int64(binary.BigEndian.Uint64(b[48:])), 0)}
	copy(t.secret[:], b)
	copy(t.Authority[:], b[16:])
	if !bytes.Equal(t.bytes(), b) {
		return Token{}, fmt.Errorf("the token has a wrong character, or is of several: copy it again")
	}
	return t, nil
}
