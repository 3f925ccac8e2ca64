package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

func devCommand() *cli.Command {
	return &cli.Command{
		Name:  "dev",
		Args:  "--nodes N [--stores N] --app PROGRAM --data DIR --listen HOST:PORT [--grpc] [--adopt OLD] [--memory SIZE] [--snapshots PLACE] [--spans PLACE]",
		Short: "run a cluster of several nodes on this machine",
		Long: `
Dev runs N nodes of a cluster on this machine, each a process of its own with a directory below
DIR. Node i, from 0 on, serves clients at PORT+i; with --grpc by gRPC, too. What they write comes in one log, each line with
the node in front. Ctrl-C ends all. A second run goes on with what is in DIR. To see what a
cluster survives, kill one of the processes; "aeond status" tells their ids, and dev starts no
process again by itself. If N is larger than before the new nodes join. A node whose directory has
gone is taken out of the cluster, and joins as a new one. A new cluster divides its actors among 8
stores, each led by a node, or as many as --stores says. With --adopt a new cluster begins with the
actors in OLD, the directory of a program that ran alone, or a snapshot of a cluster that was restored.
All nodes get what is said of memory, snapshots, dropped fields and spans, as by "aeond start".

	aeond dev --nodes 3 --app ./shop --data /tmp/shop --listen 127.0.0.1:8080
	aeond dev --nodes 3 --app ./shop --data /tmp/shop --snapshots /tmp/shop.kept --snapshot-every 1m`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			nodes := fs.Int("nodes", 3, "how many nodes, a `NUMBER`")
			stores := fs.Int("stores", 0, fmt.Sprintf("among how many stores a new cluster divides its actors, a `NUMBER`; %d if not given", settings.StoresDefault))
			app := fs.String("app", "", "the `PROGRAM`, an executable or sources")
			var state settings.State
			state.Flags(fs)
			fs.Lookup("data").Usage = "the directory `DIR`, with one below for each node"
			var spans settings.Spans
			spans.Flags(fs)
			listen := fs.String("listen", "127.0.0.1:8080", "node 0 serves clients at `HOST:PORT`, node i at PORT+i")
			grpc := fs.Bool("grpc", false, "take calls by gRPC, too; PROGRAM is sources")
			adopt := fs.String("adopt", "", "begin a new cluster with the actors in `OLD`, the directory of a program that ran alone, or a snapshot of a cluster that was restored; it stays as it is, and is marked as adopted")
			return cli.NoArguments(func(env *cli.Env) error {
				if cmdline.Given(fs, "stores") && (*stores < 1 || *stores > settings.StoresMax) {
					return cli.Usagef("--stores: %d; write a number from 1 to %d", *stores, settings.StoresMax)
				}
				return dev(env, *nodes, *stores, *app, *listen, *grpc, *adopt, state, spans)
			})
		},
	}
}

// devNodesMax is how many nodes dev runs at most.
const devNodesMax = 9

func dev(env *cli.Env, nodes, stores int, app, listen string, grpc bool, adopt string, state settings.State, spans settings.Spans) error {
	dir := state.Dir
	host, text, err := net.SplitHostPort(listen)
	first, bad := strconv.ParseUint(text, 10, 16)
	switch {
	case app == "":
		return cli.Usagef("name the program with --app")
	case dir == "":
		return cli.Usagef("name the directory with --data")
	case nodes < 1 || nodes > devNodesMax:
		return cli.Usagef("--nodes: %d; write a number from 1 to %d", nodes, devNodesMax)
	case err != nil || bad != nil || first == 0 || int(first)+nodes > 65536:
		return cli.Usagef("--listen: %q is no HOST:PORT with %d ports from there on, as in 127.0.0.1:8080", listen, nodes)
	}
	// What each node would refuse of these flags is refused once; where it is reached is found later.
	for _, check := range []func() error{state.Check, spans.Check, func() error {
		return (&settings.Cluster{Listen: "127.0.0.1:1"}).Check(&state, &settings.Listen{Address: listen})
	}} {
		if err := check(); err != nil {
			return cli.Usagef("%v", err)
		}
	}
	state.Dir = "" // each node has its own
	if host == "" {
		host = "127.0.0.1"
	}
	if _, err := pebbledb.Identify(dir); err == nil {
		return fmt.Errorf("%s is the directory of a program that ran alone; name a new one with --data, and begin the cluster with what is there by --adopt %s", dir, dir)
	}
	path, err := executable(env, app, cli.Making{GRPC: grpc, Cluster: true})
	if err != nil {
		return err
	}
	env.Unwatch()
	d := &devCluster{env: env, path: path, dir: dir, host: host, port: int(first), stores: stores, adopt: adopt, ended: make(chan int, nodes),
		all: slices.Concat(state.Arguments(), spans.Arguments())}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	defer d.stop()
	begun, joining, err := d.divide(nodes)
	if err != nil {
		return err
	}
	d.first = begun[0]
	begins := !isNode(d.nodeDir(d.first)) || d.forms(d.first)
	for _, i := range begun {
		if err := d.start(i); err != nil {
			return err
		}
	}
	if len(joining) > 0 {
		if told, err := d.await(begins, signals); told || err != nil {
			return err
		}
	}
	for _, i := range joining {
		if err := d.start(i); err != nil {
			return err
		}
	}
	go d.tellServing(nodes) // ends when all serve, or with the process
	running := nodes
	for running > 0 {
		select {
		case <-signals:
			return nil
		case <-d.ended:
			running--
		}
	}
	return errors.New("all nodes have ended")
}

// devCluster is the processes of the nodes.
type devCluster struct {
	env    *cli.Env
	path   string
	dir    string
	host   string
	port   int
	stores int      // of a new cluster; 0: that is not said
	adopt  string   // what node 0 begins with; "": nothing
	all    []string // flags of all nodes
	first  int      // the node that lets others join
	ended  chan int // gets the numbers of those that have ended

	ending atomic.Bool // the nodes are told to end

	mu    sync.Mutex // held while a line is written
	tasks sync.WaitGroup
	procs []*exec.Cmd
}

func nodeName(i int) string { return "node" + strconv.Itoa(i) }

func (d *devCluster) nodeDir(i int) string { return filepath.Join(d.dir, nodeName(i)) }

// tokenFile returns the name of the file with the token by which a node joins.
func (d *devCluster) tokenFile(i int) string { return d.nodeDir(i) + ".join" }

func (d *devCluster) listen(i int) string { return net.JoinHostPort(d.host, strconv.Itoa(d.port+i)) }

// clusterAddress returns the address at which other nodes reach a node. It must not change, so it is kept in a file.
func (d *devCluster) clusterAddress(i int) (string, error) {
	name := filepath.Join(d.dir, nodeName(i)+".address")
	if b, err := os.ReadFile(name); err == nil {
		return strings.TrimSpace(string(b)), nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return "", err
	}
	return address, os.WriteFile(name, []byte(address+"\n"), 0o600)
}

// divide returns the nodes that have run before, or node 0, which begins a new cluster, and those that join. It says which nodes are left out.
func (d *devCluster) divide(nodes int) (begun, joining []int, err error) {
	var away []string
	all := nodes
	for i := range devNodesMax {
		switch is := isNode(d.nodeDir(i)); {
		case i >= nodes && is:
			away, all = append(away, nodeName(i)), i+1
		case i < nodes && is:
			begun = append(begun, i)
		case i < nodes:
			joining = append(joining, i)
		}
	}
	switch names := strings.Join(away, ", "); {
	case len(begun) > 0 && len(away) > 0:
		d.write(fmt.Sprintf("dev   | left out: %s; nothing is served if that is a majority, and --nodes %d runs all", names, all))
	case len(away) > 0:
		return nil, nil, fmt.Errorf("of the cluster in %s there is only %s: start that, too, by --nodes %d", d.dir, names, all)
	case len(begun) == 0:
		return joining[:1], joining[1:], nil
	}
	return begun, joining, nil
}

// start starts a node.
func (d *devCluster) start(i int) error {
	address, err := d.clusterAddress(i)
	if err != nil {
		return err
	}
	args := append([]string{"--serve", "--data", d.nodeDir(i), "--listen", d.listen(i), "--cluster-listen", address}, d.all...)
	again := slices.Clone(args) // it needs no more when it has begun
	if !isNode(d.nodeDir(i)) || d.forms(i) {
		how, err := d.begin(i)
		if err != nil {
			return err
		}
		args = append(append(args, "--node-name", nodeName(i)), how...)
	}
	c := exec.Command(d.path, args...)
	c.SysProcAttr = ownGroup() // Ctrl-C reaches dev alone, which ends the nodes in turn
	r, w := io.Pipe()
	c.Stdout, c.Stderr = w, w
	if err := c.Start(); err != nil {
		return err
	}
	d.procs = append(d.procs, c)
	copied := make(chan struct{})
	d.tasks.Go(func() {
		defer close(copied)
		d.copy(i, r)
	})
	d.tasks.Go(func() {
		err := c.Wait()
		_ = os.Remove(d.tokenFile(i)) // the first node has none
		_ = w.Close()                 // it never fails
		<-copied                      // why it has ended stands before that it has
		d.line(i, fmt.Sprintf("process %d has ended: %v", c.Process.Pid, exitOf(err)))
		if d.forms(i) { // it was ended before its cluster had begun
			again = args
		}
		if isNode(d.nodeDir(i)) && !d.ending.Load() {
			d.line(i, "to start it again: "+strings.Join(append([]string{d.path}, again...), " "))
		}
		d.ended <- i
	})
	return nil
}

// forms reports whether a node has an identity, and has ended before its cluster had begun: it is to be told again what that begins with.
func (d *devCluster) forms(i int) bool {
	id, err := identity.Load(d.nodeDir(i))
	if err != nil {
		return false // the node itself says why
	}
	_, formed, err := id.Fresh()
	return formed && err == nil
}

func exitOf(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// begin returns what a new node is told: to begin the cluster, or to join it.
func (d *devCluster) begin(i int) (args []string, err error) {
	if i != d.first {
		token, err := d.token(i)
		if err == nil { // not on the command line, which all users of the machine see
			err = os.WriteFile(d.tokenFile(i), []byte(token+"\n"), 0o600)
		}
		return []string{"--join", "@" + d.tokenFile(i)}, err
	}
	if d.stores > 0 {
		args = append(args, "--stores", strconv.Itoa(d.stores))
	}
	if d.adopt != "" {
		return append(args, "--adopt", d.adopt), nil
	}
	return append(args, "--create"), nil
}

// token asks the first node for a token by which a node joins.
func (d *devCluster) token(i int) (string, error) {
	var b strings.Builder
	deadline := time.Now().Add(devPatience)
	for {
		err := d.takeOut(i)
		if err == nil {
			err = order(&b, d.nodeDir(d.first), status.TokenPath, nil)
		}
		if err == nil {
			return strings.TrimSpace(b.String()), nil
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("%s cannot join: %w", nodeName(i), err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// takeOut takes the node out of the cluster that had the name of a new one, if its directory has gone. One that has something has not ended to join.
func (d *devCluster) takeOut(i int) error {
	s, err := statusOf("", d.listen(d.first))
	if err != nil || !slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.Name == nodeName(i) }) {
		return err
	}
	if list, _ := os.ReadDir(d.nodeDir(i)); len(list) > 0 {
		return nil
	}
	err = order(io.Discard, d.nodeDir(d.first), status.RemovePath, url.Values{"node": {nodeName(i)}, "lost": {"true"}})
	if err == nil {
		d.write(fmt.Sprintf("dev   | the directory of %s has gone: it is taken out of the cluster, and joins as a new node", nodeName(i)))
	}
	return err
}

// devPatience is how long nodes may take to begin to serve.
const devPatience = 30 * time.Second

// await waits until all stores are served, or dev is told to end; begins says that the first node begins a cluster.
func (d *devCluster) await(begins bool, signals <-chan os.Signal) (told bool, err error) {
	deadline := time.After(devPatience)
	if begins && d.adopt != "" { // what is large takes long, and the node says how far it is
		deadline = nil
	}
	for {
		s, err := statusOf("", d.listen(d.first))
		if err == nil && len(s.Stores) > 0 && !slices.ContainsFunc(s.Stores, func(st status.Store) bool { return st.Leader == 0 }) {
			return false, nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			if err == nil {
				return false, fmt.Errorf("no node can join, as the others do not serve: %s", strings.Join(s.Why, "; "))
			}
			return false, fmt.Errorf("%s has not begun to serve; what it has written says why", nodeName(d.first))
		case <-signals:
			return true, nil
		case i := <-d.ended:
			return false, fmt.Errorf("%s has ended before others could join; what it has written says why", nodeName(i))
		}
	}
}

// tellServing waits until all nodes serve and the cluster is well, and says so.
func (d *devCluster) tellServing(nodes int) {
	for ; !d.ending.Load(); time.Sleep(100 * time.Millisecond) {
		s, err := statusOf("", d.listen(0))
		if err == nil && len(s.Nodes) == nodes && (nodes < 3 || s.Health == status.Healthy) {
			var at []string
			for i := range nodes {
				at = append(at, "http://"+d.listen(i))
			}
			d.write("dev   | the cluster serves at " + strings.Join(at, ", ") + "; Ctrl-C ends all nodes")
			return
		}
	}
}

// copy writes the lines of a node.
func (d *devCluster) copy(i int, r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			d.line(i, strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return
		}
	}
}

func (d *devCluster) line(i int, text string) { d.write(fmt.Sprintf("node%d | %s", i, text)) }

func (d *devCluster) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintln(d.env.Stdout, line)
}

// stop ends all nodes, and waits for them.
func (d *devCluster) stop() {
	d.ending.Store(true)
	for _, c := range d.procs {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
	}
	ended := make(chan struct{})
	go func() { d.tasks.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * devStopMax):
		for _, c := range d.procs {
			_ = c.Process.Kill()
		}
		<-ended
	}
}

const devStopMax = 5 * time.Second
