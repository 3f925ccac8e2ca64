package port

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
)

// base is what is the same at both sides. Sessions are not resumed: each connection proves its node anew.
func (p *Port) base() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{p.cfg.Identity.Certificate()},
		SessionTicketsDisabled: true,
	}
}

// accepting returns the configuration for connections that come. One is for one protocol, and whether a certificate is asked for depends on which.
func (p *Port) accepting() *tls.Config {
	member := p.base()
	member.NextProtos = members
	member.ClientAuth = tls.RequireAnyClientCert
	member.VerifyConnection = p.ofCluster
	join := p.base()
	join.NextProtos = []string{string(Join)}
	choosing := p.base()
	choosing.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		switch {
		case len(hello.SupportedProtos) != 1:
			return nil, fmt.Errorf("it names %d protocols, and has to name one", len(hello.SupportedProtos))
		case hello.SupportedProtos[0] == string(Join):
			return join, nil
		case !slices.Contains(members, hello.SupportedProtos[0]):
			return nil, fmt.Errorf("%q is no protocol of this version", hello.SupportedProtos[0])
		}
		return member, nil
	}
	return choosing
}

// dialling returns the configuration for a connection to a member. Names of hosts prove nothing here; VerifyConnection does.
func (p *Port) dialling(proto Protocol) *tls.Config {
	c := p.base()
	c.NextProtos = []string{string(proto)}
	c.InsecureSkipVerify = true
	c.VerifyConnection = p.ofCluster
	return c
}

// ofCluster checks that the other side is a node of the cluster, or was.
func (p *Port) ofCluster(s tls.ConnectionState) error {
	_, _, err := p.cfg.Identity.Check(s.PeerCertificates[0])
	return err
}

// joining returns the configuration for a connection of a node that knows of a cluster no more than the key of its authority.
func joining(cluster string, authority placement.Fingerprint) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{string(Join)},
		InsecureSkipVerify:     true,
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			chain := s.PeerCertificates
			if len(chain) < 2 {
				return &StrangerError{errors.New("it shows no authority")}
			}
			if _, err := identity.CheckAuthority(chain[0], chain[len(chain)-1], authority, cluster); err != nil {
				return &StrangerError{err}
			}
			return nil
		},
	}
}

// answer tells the dialling side why it is refused; nil: it is not.
func answer(w io.Writer, refused error) error {
	text := ""
	if refused != nil {
		text = refused.Error()
		text = text[:min(len(text), reasonMax)]
	}
	_, err := w.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

// reasonMax is how many bytes a reason has at most.
const reasonMax = 1024

// awaitAnswer reads what answer has written.
func awaitAnswer(r io.Reader) (reason string, err error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return "", err
	}
	n := binary.BigEndian.Uint16(size[:])
	if n > reasonMax {
		return "", fmt.Errorf("the answer has %d bytes, and at most %d are allowed", n, reasonMax)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r, text)
	return string(text), err
}

// StrangerError says that what answers at an address is no member of the cluster that a token is of.
type StrangerError struct{ Cause error }

// Error implements error.
func (e *StrangerError) Error() string {
	return fmt.Sprintf("what answers is no member of the token's cluster: %v", e.Cause)
}

// Unwrap returns the cause.
func (e *StrangerError) Unwrap() error { return e.Cause }
