package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// forClients is what a node needs to serve clients, whichever stores it leads. It is read before the node forms or joins a cluster: one that could not serve
// would take the lead of stores again and again, and what happens to the files later changes nothing.
type forClients struct {
	program *door.Program
	tokens  *access.Tokens // nil: it asks for none
	pages   fs.FS          // for browsers; nil: there are none
	calls   string         // aeonrt.InterfaceOf the program
}

func openClients(c *aeonrt.ClusterConfig) (f forClients, err error) {
	if c.Listen.Static != "" {
		if f.pages, err = httpdoor.OpenPages(c.Listen.Static); err != nil {
			return f, err
		}
	}
	f.calls = aeonrt.InterfaceOf(c.Package)
	f.program, err = door.ProgramOf(aeonrt.AllClasses(c.Package), aeonrt.AllClientClasses(c.Package))
	if err == nil && c.Listen.Tokens != "" {
		f.tokens, err = access.Read(c.Listen.Tokens, f.program, c.Log)
	}
	return f, err
}

func listen(c *aeonrt.ClusterConfig) (net.Listener, error) {
	l, err := net.Listen("tcp", c.Listen.Address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if c.Listen.Cert == "" {
		return l, nil
	}
	config, err := httpdoor.Certificate(c.Listen.Cert, c.Listen.CertKey)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	config.NextProtos = []string{"h2", "http/1.1"}
	return tls.NewListener(l, config), nil
}
