// Package identity has what a node of a cluster is known by: its id, its key, and a certificate of the cluster's own authority that binds the two.
//
// The authority is a key pair that the first node makes. Every member has it, so that any of them can admit a node; a member that is lost could
// admit others with it, but only what placement has agreed on is let in. Certificates have no end that matters: a cluster that was off for years
// has to come up again, and a node is removed by placement and not by its certificate.
package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// File is the name of the file with the identity, in the directory of the node.
const File = "node.json" // as package cluster/status has it

// Identity is what a node is known by.
type Identity struct {
	Cluster string       `json:"cluster"` // the id of the cluster, 32 hexadecimal digits
	Node    event.NodeID `json:"node"`
	Program string       `json:"program"`
	Key     []byte       `json:"key"`         // PKCS #8, DER
	Cert    []byte       `json:"certificate"` // of Key, DER
	CAKey   []byte       `json:"authorityKey"`
	CACert  []byte       `json:"authority"`
	Formed  bool         `json:"formed"` // the node has formed the cluster
	// Peers are addresses of other members, as known when the node was admitted.
	Peers []string `json:"peers"`

	cert tls.Certificate
	pool *x509.CertPool
}

// NewKey makes a key pair, as PKCS #8, and the fingerprint of its public key.
func NewKey() (key []byte, print placement.Fingerprint, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, print, err
	}
	if key, err = x509.MarshalPKCS8PrivateKey(k); err != nil {
		return nil, print, err
	}
	public, err := x509.MarshalPKIXPublicKey(&k.PublicKey)
	return key, sha256.Sum256(public), err
}

func parseKey(b []byte) (*ecdsa.PrivateKey, error) {
	k, err := x509.ParsePKCS8PrivateKey(b)
	if err != nil {
		return nil, err
	}
	e, ok := k.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a key is of the type %T", k)
	}
	return e, nil
}

// PublicKey returns the public key of a key, as PKIX.
func PublicKey(key []byte) ([]byte, error) {
	k, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKIXPublicKey(&k.PublicKey)
}

// Fingerprint returns the fingerprint of the public key of a certificate.
func Fingerprint(c *x509.Certificate) placement.Fingerprint {
	return sha256.Sum256(c.RawSubjectPublicKeyInfo)
}

// The times of all certificates.
var (
	begins = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	ends   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) // none, as RFC 5280 writes it
)

// Form makes the identity of the first node of a new cluster, which has id 1.
func Form(program string) (*Identity, error) {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	i := &Identity{Cluster: hex.EncodeToString(id), Node: 1, Program: program, Formed: true}
	ca, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "aeon cluster " + i.Cluster}, NotBefore: begins, NotAfter: ends,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, MaxPathLenZero: true,
	}
	if i.CACert, err = x509.CreateCertificate(rand.Reader, template, template, &ca.PublicKey, ca); err != nil {
		return nil, err
	}
	if i.CAKey, err = x509.MarshalPKCS8PrivateKey(ca); err != nil {
		return nil, err
	}
	if i.Key, _, err = NewKey(); err != nil {
		return nil, err
	}
	public, err := PublicKey(i.Key)
	if err != nil {
		return nil, err
	}
	if i.Cert, err = i.Sign(1, public); err != nil {
		return nil, err
	}
	return i, i.complete()
}

// Sign makes the certificate of a node with this public key.
func (i *Identity) Sign(n event.NodeID, public []byte) ([]byte, error) {
	caKey, err := parseKey(i.CAKey)
	if err != nil {
		return nil, err
	}
	ca, err := x509.ParseCertificate(i.CACert)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "node " + strconv.FormatUint(uint64(n), 10)}, NotBefore: begins, NotAfter: ends,
		URIs: []*url.URL{uriOf(i.Cluster, n)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, ca, key, caKey)
}

func uriOf(cluster string, n event.NodeID) *url.URL {
	return &url.URL{Scheme: "aeon", Host: cluster, Path: "/nodes/" + strconv.FormatUint(uint64(n), 10)}
}

// NodeOf returns which node of the cluster a certificate is of. It was verified with the cluster's authority.
func (i *Identity) NodeOf(c *x509.Certificate) (event.NodeID, error) {
	for _, u := range c.URIs {
		if u.Scheme != "aeon" || u.Host != i.Cluster {
			continue
		}
		if text, ok := strings.CutPrefix(u.Path, "/nodes/"); ok {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil && n != 0 {
				return event.NodeID(n), nil
			}
		}
	}
	return 0, errors.New("the certificate names no node of this cluster")
}

// complete parses the parts.
func (i *Identity) complete() error {
	key, err := parseKey(i.Key)
	if err != nil {
		return fmt.Errorf("the key of the node: %w", err)
	}
	leaf, err := x509.ParseCertificate(i.Cert)
	if err != nil {
		return fmt.Errorf("the certificate of the node: %w", err)
	}
	ca, err := x509.ParseCertificate(i.CACert)
	if err != nil {
		return fmt.Errorf("the certificate of the cluster: %w", err)
	}
	i.pool = x509.NewCertPool()
	i.pool.AddCert(ca)
	i.cert = tls.Certificate{Certificate: [][]byte{i.Cert, i.CACert}, PrivateKey: key, Leaf: leaf}
	if !key.PublicKey.Equal(leaf.PublicKey) {
		return errors.New("the certificate of the node is of another key")
	}
	if n, err := i.NodeOf(leaf); err != nil || n != i.Node {
		return fmt.Errorf("the certificate is of node %d of another cluster, or of another node than %d (%v)", n, i.Node, err)
	}
	return nil
}

// Print returns the fingerprint of the node's key.
func (i *Identity) Print() placement.Fingerprint { return Fingerprint(i.cert.Leaf) }

// Certificate returns the certificate that the node shows, with that of the authority.
func (i *Identity) Certificate() tls.Certificate { return i.cert }

// Authorities returns the authority by which the node knows others.
func (i *Identity) Authorities() *x509.CertPool { return i.pool }

// ErrNone means that a directory has no identity.
var ErrNone = errors.New("the directory is of no node of a cluster")

// Load reads the identity in a directory. ErrNone: there is none.
func Load(dir string) (*Identity, error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	i := &Identity{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(i); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w\n\ta node that has lost its identity is a new node: remove the directory, and join again", filepath.Join(dir, File), err)
	}
	if err := i.complete(); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, File), err)
	}
	return i, nil
}

// Save writes the identity into a directory that has none, durably.
func (i *Identity) Save(dir string) error {
	if err := i.complete(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(i, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(dir, "."+File+".new")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp, filepath.Join(dir, File)); err != nil { // unlike a rename, it replaces no identity
		return err
	}
	if err := os.Remove(tmp); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
