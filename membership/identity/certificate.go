package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Certificates are valid at any time: a date on which a cluster ends by itself is a failure that all nodes share, and a node whose clock
// is wrong should be told so, and not that a certificate is. What is no longer valid is what the placement says is removed.
var (
	validFrom = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	validTo   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) // RFC 5280, 4.1.2.5: it has no end
)

// The kinds of PEM blocks.
const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "PRIVATE KEY"
)

// uriScheme is that of the URIs in certificates.
const uriScheme = "aeon"

// FingerprintOf returns the fingerprint of a certificate's public key. Any goroutine may call it.
func FingerprintOf(c *x509.Certificate) placement.Fingerprint {
	return sha256.Sum256(c.RawSubjectPublicKeyInfo)
}

// KeyFingerprint returns the fingerprint of a public key. Any goroutine may call it.
func KeyFingerprint(key ed25519.PublicKey) (placement.Fingerprint, error) {
	b, err := x509.MarshalPKIXPublicKey(key)
	return sha256.Sum256(b), err
}

// newAuthority makes the authority of a new cluster.
func newAuthority(cluster string) (ed25519.PrivateKey, []byte, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, nil, err
	}
	template, err := template(cluster, "authority")
	if err != nil {
		return nil, nil, err
	}
	template.IsCA, template.MaxPathLenZero, template.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return key, der, err
}

// certify makes the certificate of a node.
func certify(ca *x509.Certificate, caKey ed25519.PrivateKey, cluster string, node event.NodeID, key ed25519.PublicKey) ([]byte, error) {
	template, err := template(cluster, "nodes/"+strconv.FormatUint(uint64(node), 10))
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}
	return x509.CreateCertificate(rand.Reader, template, ca, key, caKey)
}

func template(cluster, path string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{Organization: []string{"aeon cluster " + cluster}, CommonName: path},
		URIs:                  []*url.URL{{Scheme: uriScheme, Host: cluster, Path: "/" + path}},
		NotBefore:             validFrom,
		NotAfter:              validTo,
		BasicConstraintsValid: true,
	}, nil
}

// CheckAuthority returns which node of a cluster a certificate is of that another one certifies, whose key has a known fingerprint. A node
// that joins knows no more than that. Any goroutine may call it.
func CheckAuthority(c, authority *x509.Certificate, key placement.Fingerprint, cluster string) (event.NodeID, error) {
	if FingerprintOf(authority) != key {
		of, _, _ := readURI(c)
		return 0, fmt.Errorf("the authority is another one than that of cluster %s: it says that it is of %q", cluster, of)
	}
	return check(c, authority, cluster)
}

// check returns which node of a cluster a certificate is of.
func check(c, ca *x509.Certificate, cluster string) (event.NodeID, error) {
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	_, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: validFrom, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	of, node, named := readURI(c)
	switch {
	case named && of != cluster:
		return 0, fmt.Errorf("the certificate is of cluster %s, and this is cluster %s", of, cluster)
	case err != nil:
		return 0, fmt.Errorf("the certificate is none of cluster %s: %w", cluster, err)
	case !named:
		return 0, fmt.Errorf("the certificate of %q names no node", c.Subject)
	}
	return node, nil
}

// readURI returns the cluster and the node that a certificate names. Nothing is proved by it.
func readURI(c *x509.Certificate) (cluster string, node event.NodeID, ok bool) {
	if len(c.URIs) != 1 || c.URIs[0].Scheme != uriScheme {
		return "", 0, false
	}
	text, ok := strings.CutPrefix(c.URIs[0].Path, "/nodes/")
	n, err := strconv.ParseUint(text, 10, 64)
	return c.URIs[0].Host, event.NodeID(n), ok && err == nil && n != 0
}

func encodeKey(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: der}), err
}

func encodeCertificate(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: der})
}

func decodeKey(b []byte) (ed25519.PrivateKey, error) {
	der, err := decodePEM(b, pemKey)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, err
	}
	of, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("it has a %T, and should have an Ed25519 key", key)
	}
	return of, nil
}

func decodeCertificate(b []byte) (*x509.Certificate, error) {
	der, err := decodePEM(b, pemCertificate)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func decodePEM(b []byte, kind string) ([]byte, error) {
	block, rest := pem.Decode(b)
	if block == nil || block.Type != kind || len(rest) > 0 {
		return nil, fmt.Errorf("it is no PEM file with one %s", kind)
	}
	return block.Bytes, nil
}
