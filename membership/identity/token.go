package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/placement"
)

// Token lets a node join, once. It is written as aeon-join-, and then in base64 the secret and the hash of the cluster's authority, by which the node
// knows that it talks to this cluster before it sends the secret.
type Token struct {
	Secret    [16]byte
	Authority [32]byte // SHA-256 of the public key of the authority
}

const tokenPrefix = "aeon-join-"

// NewToken makes a token of a cluster.
func (i *Identity) NewToken() (t Token, err error) {
	ca, err := x509.ParseCertificate(i.CACert)
	if err != nil {
		return t, err
	}
	_, _ = rand.Read(t.Secret[:]) // never fails
	t.Authority = Fingerprint(ca)
	return t, nil
}

// String returns the token as text.
func (t Token) String() string {
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(t.Secret[:], t.Authority[:]...))
}

// Hash is what the cluster keeps of a token.
func (t Token) Hash() placement.Fingerprint { return sha256.Sum256(t.Secret[:]) }

// ParseToken reads a token.
func ParseToken(text string) (t Token, err error) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return t, fmt.Errorf("a token to join begins with %s", tokenPrefix)
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err != nil || len(b) != len(t.Secret)+len(t.Authority) {
		return t, fmt.Errorf("the token is not whole: it has %d characters behind %s, and needs %d", len(rest), tokenPrefix, base64.RawURLEncoding.EncodedLen(len(t.Secret)+len(t.Authority)))
	}
	copy(t.Secret[:], b)
	copy(t.Authority[:], b[len(t.Secret):])
	return t, nil
}

// Of reports whether a certificate is that of the authority that the token names.
func (t Token) Of(ca *x509.Certificate) bool {
	print := Fingerprint(ca)
	return subtle.ConstantTimeCompare(print[:], t.Authority[:]) == 1
}
