package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/membership/gossip"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/placement"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// How long a node that ends may take: what it waits for until then, and the parts that it waits for without a bound, as a disk that hangs holds them.
const (
	endMax   = 5 * time.Second
	partsMax = 5 * time.Second
)

// Run runs a program as a node of a cluster, until a signal comes or the node fails. It returns the exit code.
func Run(c aeonrt.ClusterConfig) int { return run(c, nil) }

// RunWith is Run for a program that takes calls by gRPC, too.
func RunWith(g GRPC) aeonrt.ClusterRunner {
	return func(c aeonrt.ClusterConfig) int { return run(c, &g) }
}

func run(c aeonrt.ClusterConfig, g *GRPC) int {
	failed := make(chan error, 1)
	var n *node
	var l net.Listener
	sig, err := starting(c.Signals, func(ctx context.Context) (err error) {
		n, l, err = begin(ctx, &c, g, func(err error) { failed <- err })
		return err
	})
	if err != nil {
		c.Say("%v", err)
		if told := new(toldError); errors.As(err, &told) {
			return told.code
		}
		return aeonrt.ExitRefused
	}
	if sig != nil {
		c.Say("%v", sig)
		_ = l.Close() // nothing was accepted
		return end(&c, n.close, failed)
	}
	n.serve(l)
	if s, err := httpdoor.SocketIn(c.State.Dir); err != nil {
		c.Log.Warn("aeond cannot ask this process: there is no socket in its data directory", "error", err.Error())
	} else {
		n.serveOn(s, n.inner(n.control()))
	}
	c.Say("node %d of cluster %s, reached by other nodes at %s, listening on %s://%s", n.id.Node, n.id.Cluster[:8], c.Address(), c.Listen.Scheme(), l.Addr())
	select {
	case err := <-failed:
		return ended(&c, err)
	case sig := <-c.Signals:
		c.Say("%v", sig)
		return end(&c, n.close, failed)
	}
}

// toldError says that a signal has ended a node before it ran. That is no failure.
type toldError struct {
	sig  os.Signal
	code int // of the process
}

// Error implements error.
func (e *toldError) Error() string { return e.sig.String() }

// starting calls begin, and returns its error. A signal that comes meanwhile ends the context: a node that joins a cluster, or copies what it adopts, ends by itself then.
// If another one begins all the same, starting returns the signal. If that takes too long, or a further signal comes, the process ends as if it were killed, and nothing of
// what begin does is used any more: the disk may not answer, or there is much to recover, and no caller has an answer yet.
func starting(signals <-chan os.Signal, begin func(context.Context) error) (sig os.Signal, err error) {
	ctx, tell := context.WithCancelCause(context.Background())
	defer tell(nil)
	began := make(chan error, 1)
	go func() { began <- begin(ctx) }() // ends when all is open, or with the process
	select {
	case err := <-began:
		return nil, err
	case sig = <-signals:
		tell(&toldError{sig: sig})
	}
	select {
	case err := <-began:
		return sig, err
	case further := <-signals:
		return nil, fmt.Errorf("%w: the node ends at once, and had not opened its stores yet", &toldError{further, aeonrt.SignalCode(further)})
	case <-time.After(endMax):
		return nil, fmt.Errorf("%w: the node had not opened its stores yet", &toldError{sig: sig})
	}
}

// ended returns the exit code of a node that has failed.
func ended(c *aeonrt.ClusterConfig, err error) int {
	c.Say("%v", err)
	if removed := new(removedError); errors.As(err, &removed) {
		return aeonrt.ExitRefused
	}
	return aeonrt.ExitStore // what was not answered is unknown; nothing more is written
}

// end closes the node, and returns the exit code. It returns without the end of that if the node fails meanwhile, as by the deadline of a disk that hangs, if a
// further signal comes, or if it takes too long.
func end(c *aeonrt.ClusterConfig, closeParts func(context.Context), failed <-chan error) int {
	select {
	case <-closing(closeParts):
		return 0
	case err := <-failed:
		return ended(c, err)
	case sig := <-c.Signals:
		c.Say("%v: the node ends at once", sig)
		return aeonrt.SignalCode(sig)
	case <-time.After(endMax + partsMax):
		return ended(c, fmt.Errorf("the node has not ended within %v, as when its disk hangs: it ends without that", endMax+partsMax))
	}
}

// closing closes the parts of the node; the channel is closed when that is done.
func closing(closeParts func(context.Context)) <-chan struct{} {
	closed := make(chan struct{})
	go func() { // ends with the parts, or with the process
		ctx, cancel := context.WithTimeout(context.Background(), endMax)
		defer cancel()
		closeParts(ctx)
		close(closed)
	}()
	return closed
}

// closeSoon closes the parts of a node that could not start, and returns without the end of that if it takes too long, as when a disk hangs: the process ends,
// and says why it could not start.
func closeSoon(closeParts func(context.Context)) {
	select {
	case <-closing(closeParts):
	case <-time.After(endMax + partsMax):
	}
}

// begin starts the node, and returns what clients reach it by. A new node listens before all else: one that has joined, and cannot listen, would be a
// member that no other one reaches. One that is started again listens to clients last: what connects earlier would wait until it serves, and be
// served elsewhere meanwhile. Before it listens it takes its directory: another process that runs there has the ports, too. A toldError ends ctx.
// fail is called once if the node must end.
func begin(ctx context.Context, c *aeonrt.ClusterConfig, g *GRPC, fail func(error)) (n *node, l net.Listener, err error) {
	clients, err := openClients(c)
	if err != nil {
		return nil, nil, err
	}
	agreed, err := openUsed(c)
	if err != nil {
		return nil, nil, err
	}
	own, err := listenToNodes(c.Cluster.Listen)
	if err != nil {
		if agreed != nil {
			_ = agreed.Close() // the error that counts is the first
		}
		return nil, nil, fmt.Errorf("--cluster-listen: %w", err)
	}
	adopted, err := openAdopted(c)
	_, none := identity.Load(c.State.Dir)
	if err == nil && none != nil {
		l, err = listen(c)
	}
	var id *identity.Identity
	var told map[event.NodeID]placement.Member
	if err == nil {
		id, told, err = identify(ctx, c)
	}
	if err == nil {
		n, err = start(ctx, c, g, id, own, told, agreed, adopted, clients, fail)
	} else if agreed != nil {
		_ = agreed.Close() // the error that counts is the first
	}
	if closed := adopted.close(); err == nil && closed != nil {
		c.Log.Warn("the directory of --adopt was not closed well", "error", closed)
	}
	if err == nil && l == nil {
		if l, err = listen(c); err != nil {
			closeSoon(n.close)
			return nil, nil, err
		}
	}
	if err != nil {
		own.close() // the error that counts is the first
		if l != nil {
			_ = l.Close()
		}
		return nil, nil, err
	}
	return n, l, nil
}

// openUsed opens the log of the placement in a directory that a node has used, which no other process opens meanwhile; nil: there is none, and nothing is made,
// as the node may be refused yet.
func openUsed(c *aeonrt.ClusterConfig) (store.Engine, error) {
	id, err := identity.Load(c.State.Dir)
	if errors.Is(err, identity.ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if fresh, _, err := id.Fresh(); err != nil || fresh {
		return nil, err
	}
	o := c.LogOptions()
	o.MustExist = true
	e, err := c.OpenEngine(filepath.Join(c.State.Dir, placementDir), o)
	switch {
	case errors.Is(err, store.ErrMissing):
		return nil, nil // the node says what it has lost
	case err != nil:
		return nil, err // e may be an interface with a nil in it
	}
	return e, nil
}

// identify returns what the node is known by: as its directory has it, or as it is made when the directory is new. A node that joins is told which
// members there are.
func identify(ctx context.Context, c *aeonrt.ClusterConfig) (id *identity.Identity, told map[event.NodeID]placement.Member, err error) {
	dir := c.State.Dir
	id, err = identity.Load(dir)
	switch {
	case err == nil:
		text, _, _ := c.JoinBy() // a member needs none
		if t, bad := identity.ParseToken(text); bad == nil && t.Cluster != id.Cluster {
			return nil, nil, fmt.Errorf("--join: %s is of node %d of cluster %s, and the token is of cluster %s: join that with a new directory", dir, id.Node, id.Cluster[:8], t.Cluster[:min(8, len(t.Cluster))])
		}
		return id, nil, nil
	case !errors.Is(err, identity.ErrNone):
		return nil, nil, err
	case c.Join != "":
		return joinCluster(ctx, c)
	}
	// A disk that was lost leaves its mount point, or nothing: a node that came back on it would be a cluster of its own, and know nothing.
	list, err := os.ReadDir(dir)
	what := "is empty"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "does not exist"
	case err != nil:
		return nil, nil, err
	}
	if !c.Create && c.Adopt == "" && !slices.ContainsFunc(list, identity.Counts) {
		return nil, nil, fmt.Errorf("%s %s: to begin a new cluster there, add --create; to join one, --join TOKEN@HOST:PORT, or @FILE with that; if the disk of a node was lost, \"aeond replace\" on another node takes it out, and writes a token", dir, what)
	}
	if err == nil && ranAlone(c, dir) {
		return nil, nil, fmt.Errorf("%s is the directory of a program that ran alone: a node begins in a new directory; name that with --data, and begin the cluster with what is there by --adopt %s", dir, dir)
	}
	if c.Name != "" { // a directory with an identity would keep the name
		if err := placement.CheckName(c.Name); err != nil {
			return nil, nil, fmt.Errorf("--node-name: %w", err)
		}
	}
	adopts, err := adopts(c)
	if err == nil {
		id, err = identity.FormWith(dir, c.Name, adopts)
	}
	return id, nil, err
}

func listenToNodes(address string) (*doors, error) {
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	udp, err := gossip.Bind(tcp.Addr())
	if err != nil {
		return nil, errors.Join(err, tcp.Close())
	}
	return &doors{tcp, udp}, nil
}
