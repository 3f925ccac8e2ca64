package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// endMax is how long a node that ends may take.
const endMax = 5 * time.Second

// Run runs a program as a node of a cluster, until a signal comes or the node fails. It returns the exit code.
func Run(c aeonrt.ClusterConfig) int {
	id, err := identify(&c)
	if err != nil {
		c.Say("%v", err)
		return aeonrt.ExitRefused
	}
	failed := make(chan error, 1)
	n, err := start(&c, id, func(err error) { failed <- err })
	if err != nil {
		c.Say("%v", err)
		return aeonrt.ExitRefused
	}
	l, err := listen(&c)
	if err != nil {
		c.Say("%v", err)
		n.close(context.Background())
		return aeonrt.ExitRefused
	}
	n.serve(l)
	if s, err := httpdoor.SocketIn(c.State.Dir); err != nil {
		c.Log.Warn("aeond cannot ask this process: there is no socket in its data directory", "error", err.Error())
	} else {
		server := &http.Server{Handler: n.control(), ReadHeaderTimeout: time.Second}
		n.servers = append(n.servers, server)
		go func() { _ = server.Serve(s) }() // it ends with the node
	}
	c.Say("node %d of cluster %s, reached by other nodes at %s, listening on %s://%s", id.Node, id.Cluster[:8], c.Address, c.Listen.Scheme(), l.Addr())
	select {
	case err := <-failed:
		c.Say("%v", err)
		if removed := new(removedError); errors.As(err, &removed) {
			return aeonrt.ExitRefused
		}
		return aeonrt.ExitStore // what was not answered is unknown; nothing more is written
	case sig := <-c.Signals:
		c.Say("%v", sig)
		ctx, cancel := context.WithTimeout(context.Background(), endMax)
		defer cancel()
		n.close(ctx)
		return 0
	}
}

// identify returns what the node is known by: as its directory has it, or as it is made when the directory is new.
func identify(c *aeonrt.ClusterConfig) (*identity.Identity, error) {
	dir := c.State.Dir
	id, err := identity.Load(dir)
	switch {
	case err == nil || !errors.Is(err, identity.ErrNone):
		return id, err
	case c.Join != "":
		return joinCluster(dir, c.Join, c.Name, c.Address, c.Package.Name)
	}
	return identity.Form(dir, c.Name)
}

func listen(c *aeonrt.ClusterConfig) (net.Listener, error) {
	l, err := net.Listen("tcp", c.Listen.Address)
	if err != nil || c.Listen.Cert == "" {
		return l, err
	}
	config, err := httpdoor.Certificate(c.Listen.Cert, c.Listen.CertKey)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return tls.NewListener(l, config), nil
}
