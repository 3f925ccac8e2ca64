package identity

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// format is that of node.json.
const format = 1

// description is node.json.
type description struct {
	Format  int          `json:"format"`
	Cluster string       `json:"cluster"`
	Node    event.NodeID `json:"node"`
	Name    string       `json:"name"`
}

// Identity is what a node is known by. It does not change; any goroutine may use it.
type Identity struct {
	Cluster string
	Node    event.NodeID
	Name    string // as people call it; the placement has the name that counts

	key    ed25519.PrivateKey
	cert   *x509.Certificate
	ca     *x509.Certificate
	caKey  ed25519.PrivateKey
	folder string
}

// ErrNone is wrapped by the error of Load for a directory that has no identity: the node has to form a cluster or to join one.
var ErrNone = errors.New("there is no identity of a node")

// Form makes the identity of the first node of a new cluster. dir is its data directory: it is empty, or is made.
func Form(dir, name string) (*Identity, error) { return FormWith(dir, name, "") }

// FormWith is Form for a cluster that begins with what is in the directory adopts; "": with nothing. The identity keeps that until the node keeps a log: see
// Adopts.
func FormWith(dir, name, adopts string) (*Identity, error) {
	if err := prepareEmpty(dir); err != nil {
		return nil, err
	}
	cluster := strings.ToLower(rand.Text())
	caKey, caDER, err := newAuthority(cluster)
	if err != nil {
		return nil, fmt.Errorf("the authority of the cluster: %w", err)
	}
	ca, err := x509.ParseCertificate(caDER)
	if err != nil {
		return nil, fmt.Errorf("the authority of the cluster: %w", err)
	}
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("the key of the node: %w", err)
	}
	cert, err := certify(ca, caKey, cluster, 1, public)
	if err != nil {
		return nil, fmt.Errorf("the certificate of the node: %w", err)
	}
	if err := write(dir, description{format, cluster, 1, name}, key, cert, caDER, caKey, formedHere+adopts); err != nil {
		return nil, err
	}
	return Load(dir)
}

func write(dir string, d description, key ed25519.PrivateKey, cert, ca []byte, caKey ed25519.PrivateKey, fresh string) error {
	text, err1 := json.Marshal(d)
	keyText, err2 := encodeKey(key)
	caKeyText, err3 := encodeKey(caKey)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	return makeFolder(dir, folder, []content{
		{nodeFile, append(text, '\n'), 0o644}, {keyFile, keyText, 0o600}, {certFile, encodeCertificate(cert), 0o644},
		{caFile, encodeCertificate(ca), 0o644}, {caKeyFile, caKeyText, 0o600}, {freshFile, []byte(fresh), 0o644}})
}

// Load reads the identity in a data directory. Its error wraps ErrNone if there is none. An identity that is not whole, or whose files
// do not belong together, is refused.
func Load(dir string) (*Identity, error) {
	i := &Identity{folder: filepath.Join(dir, folder)}
	if _, err := os.Stat(i.folder); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, joining)); err == nil {
			return nil, fmt.Errorf("%w in %s: it has begun to join a cluster, and has no answer yet; join again", ErrNone, dir)
		}
		return nil, fmt.Errorf("%w in %s", ErrNone, dir)
	} else if err != nil {
		return nil, err
	}
	d := description{}
	for _, f := range []struct {
		name string
		take func([]byte) error
	}{
		{nodeFile, func(b []byte) error { return json.Unmarshal(b, &d) }},
		{keyFile, func(b []byte) (err error) { i.key, err = decodeKey(b); return err }},
		{certFile, func(b []byte) (err error) { i.cert, err = decodeCertificate(b); return err }},
		{caFile, func(b []byte) (err error) { i.ca, err = decodeCertificate(b); return err }},
		{caKeyFile, func(b []byte) (err error) { i.caKey, err = decodeKey(b); return err }},
	} {
		name := filepath.Join(i.folder, f.name)
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, i.broken("%s is missing", f.name)
		}
		if err != nil {
			return nil, err
		}
		if err := f.take(b); err != nil {
			return nil, i.broken("%s cannot be read: %v", f.name, err)
		}
	}
	if d.Format != format {
		return nil, fmt.Errorf("the identity in %s has format %d, and this version reads %d", i.folder, d.Format, format)
	}
	i.Cluster, i.Node, i.Name = d.Cluster, d.Node, d.Name
	return i, i.agrees()
}

// agrees returns an error unless the files of an identity belong together.
func (i *Identity) agrees() error {
	node, err := check(i.cert, i.ca, i.Cluster)
	switch {
	case err != nil:
		return i.broken("%s does not belong to %s and %s: %v", certFile, caFile, nodeFile, err)
	case node != i.Node:
		return i.broken("%s is of node %d, and %s of node %d", certFile, node, nodeFile, i.Node)
	case !i.key.Public().(ed25519.PublicKey).Equal(i.cert.PublicKey):
		return i.broken("%s does not belong to %s", keyFile, certFile)
	case !i.caKey.Public().(ed25519.PublicKey).Equal(i.ca.PublicKey):
		return i.broken("%s does not belong to %s", caKeyFile, caFile)
	}
	return nil
}

func (i *Identity) broken(format string, args ...any) error {
	return fmt.Errorf("the identity in %s is damaged: %s; bring the files back as they were, or remove this node from its cluster and join as a new one with an empty directory",
		i.folder, fmt.Sprintf(format, args...))
}

// Fresh reports whether the node has never kept a log, and whether it has formed its cluster.
func (i *Identity) Fresh() (fresh, formed bool, err error) {
	b, err := os.ReadFile(filepath.Join(i.folder, freshFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	return err == nil, strings.HasPrefix(string(b), formedHere), err
}

// Adopts returns what FormWith was told of a node that has formed its cluster, and has never kept a log; "" of each other one.
func (i *Identity) Adopts() (string, error) {
	b, err := os.ReadFile(filepath.Join(i.folder, freshFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	adopts, formed := strings.CutPrefix(string(b), formedHere)
	if !formed {
		return "", err
	}
	return adopts, err
}

// Begun notes, durably, that the node keeps a log from now on: if none is found later, it was lost, with the votes that the node gave.
func (i *Identity) Begun() error {
	if err := os.Remove(filepath.Join(i.folder, freshFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncFolder(i.folder)
}

// Key returns the fingerprint of the node's public key.
func (i *Identity) Key() placement.Fingerprint { return FingerprintOf(i.cert) }

// Authority returns the certificate of the cluster's authority.
func (i *Identity) Authority() *x509.Certificate { return i.ca }

// Certificate returns what the node proves by TLS that it is: its certificate, and behind it that of the authority.
func (i *Identity) Certificate() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.cert.Raw, i.ca.Raw}, PrivateKey: i.key, Leaf: i.cert}
}

// Check returns which node a certificate is of, and the fingerprint of its key, or why it is none of this cluster. It does not know
// whether the node is still a member.
func (i *Identity) Check(c *x509.Certificate) (event.NodeID, placement.Fingerprint, error) {
	node, err := check(c, i.ca, i.Cluster)
	return node, FingerprintOf(c), err
}

// Secret returns a key of 32 bytes for a purpose. All members have the same, and only they.
func (i *Identity) Secret(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, i.caKey.Seed(), []byte(i.Cluster), "aeon "+purpose, 32)
}
