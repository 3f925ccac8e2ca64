package identity

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aeon-lang/aeon/runtime/event"
)

// Candidate is a node that is about to join a cluster. It belongs to one goroutine.
type Candidate struct {
	dir string
	key ed25519.PrivateKey
	// Again says that the node has asked before, and has kept no answer. Its key is the one of then.
	Again bool
}

// Prepare makes the private key of a node that is about to join, in its data directory, which is empty or is made; or takes the key of a
// join that has not ended. The key is durable before anything is told about it: a node that was admitted has the key that it was admitted with.
func Prepare(dir string) (*Candidate, error) {
	if err := prepareEmpty(dir, joining); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, joining, keyFile)
	b, err := os.ReadFile(name)
	if err == nil {
		key, err := decodeKey(b)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w; name an empty directory", name, err)
		}
		return &Candidate{dir, key, true}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("the key of the node: %w", err)
	}
	text, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	return &Candidate{dir, key, false}, makeFolder(dir, joining, []content{{keyFile, text, 0o600}})
}

// Public returns the public key of the node.
func (c *Candidate) Public() ed25519.PublicKey { return c.key.Public().(ed25519.PublicKey) }

// Sign signs a message with the key of the node.
func (c *Candidate) Sign(message []byte) []byte { return ed25519.Sign(c.key, message) }

// Admission is what a member answers to a node that it has admitted.
type Admission struct {
	Cluster      string
	Node         event.NodeID
	Name         string
	Certificate  []byte // DER
	Authority    []byte // its certificate, DER
	AuthorityKey []byte // seed of the private key
}

// Admit makes what a node needs that was given an id. Any goroutine may call it.
func (i *Identity) Admit(node event.NodeID, name string, key ed25519.PublicKey) (Admission, error) {
	cert, err := certify(i.ca, i.caKey, i.Cluster, node, key)
	return Admission{i.Cluster, node, name, cert, i.ca.Raw, i.caKey.Seed()}, err
}

// Complete writes the identity of a node that was admitted. After it the candidate is of no use.
func (c *Candidate) Complete(a Admission) (*Identity, error) {
	if len(a.AuthorityKey) != ed25519.SeedSize {
		return nil, fmt.Errorf("the key of the authority has %d bytes, and should have %d", len(a.AuthorityKey), ed25519.SeedSize)
	}
	caKey := ed25519.NewKeyFromSeed(a.AuthorityKey)
	cert, err1 := x509.ParseCertificate(a.Certificate)
	ca, err2 := x509.ParseCertificate(a.Authority)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	i := &Identity{Cluster: a.Cluster, Node: a.Node, Name: a.Name, key: c.key, cert: cert, ca: ca, caKey: caKey, folder: filepath.Join(c.dir, folder)}
	if err := i.agrees(); err != nil {
		return nil, fmt.Errorf("the answer of the cluster contradicts itself: %w", err)
	}
	if err := write(c.dir, description{format, a.Cluster, a.Node, a.Name}, c.key, a.Certificate, a.Authority, caKey, joinedThere); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(c.dir, joining)); err != nil {
		return nil, err
	}
	return Load(c.dir)
}
