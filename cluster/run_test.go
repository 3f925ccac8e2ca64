package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aeon-lang/aeon/internal/freeport"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/replica/driver"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// trial is a node that is started in this process.
type trial struct {
	said    strings.Builder
	log     *lines
	started chan struct{} // closed with the first line
	signals chan os.Signal
	ended   chan int
}

// tryNode starts a node.
func tryNode(dir, listen, own string) *trial { return tryAdopting(dir, listen, own, "") }

// tryAdopting starts a node that begins with what a directory has.
func tryAdopting(dir, listen, own, adopt string) *trial { return try(dir, listen, own, adopt, true) }

// try starts a node that may begin a cluster.
func try(dir, listen, own, adopt string, create bool) *trial {
	return tryWith(dir, listen, settings.Cluster{Listen: own, Adopt: adopt, Stores: 1}, create)
}

func tryWith(dir, listen string, cluster settings.Cluster, create bool) *trial {
	return tryListening(dir, settings.Listen{Address: listen}, cluster, create)
}

func tryListening(dir string, listen settings.Listen, cluster settings.Cluster, create bool) *trial {
	r := &trial{log: &lines{serves: make(chan struct{})}, started: make(chan struct{}), signals: make(chan os.Signal, 1), ended: make(chan int, 1)}
	c := aeonrt.ClusterConfig{
		Package: &aeonrt.Package{Name: "bank"}, Cluster: cluster, State: settings.State{Dir: dir}, Listen: listen,
		OpenEngine: pebbledb.Open, Create: create, Log: slog.New(slog.NewTextHandler(r.log, nil)), Signals: r.signals,
		Say: func(format string, args ...any) {
			fmt.Fprintf(&r.said, format+"\n", args...)
			select {
			case <-r.started:
			default:
				close(r.started)
			}
		},
	}
	go func() { r.ended <- Run(c) }()
	return r
}

// lines is a log in memory.
type lines struct {
	serves chan struct{} // closed with the first line that says so
	once   sync.Once     // for serves

	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Contains(b, []byte("this node runs the actors")) {
		l.once.Do(func() { close(l.serves) })
	}
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// refuses checks that a node which cannot start says why, and ends.
func refuses(t *testing.T, dir, listen, own, adopt, want string) {
	t.Helper()
	r := tryAdopting(dir, listen, own, adopt)
	<-r.started
	r.signals <- syscall.SIGTERM // if it has begun
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), want) {
		t.Errorf("code %d: %s, want %q", code, r.said.String(), want)
	}
}

// A node that cannot start says why, whichever part of it fails, and leaves no directory behind if it has not begun.
func TestNodesThatCannotStart(t *testing.T) {
	t.Parallel() // it waits for nodes
	dir, parent := t.TempDir(), t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const free = "127.0.0.1:0"
	other := filepath.Join(dir, "other")
	refuses(t, other, free, taken.Addr().String(), "", "--cluster-listen: listen tcp "+taken.Addr().String())
	refuses(t, other, taken.Addr().String(), free, "", "--listen: listen tcp "+taken.Addr().String())
	packets, err := net.ListenPacket("udp", freeport.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	refuses(t, other, free, packets.LocalAddr().String(), "", "--cluster-listen: the gossip needs the number of the TCP port for UDP, too: listen udp "+packets.LocalAddr().String())
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Fatalf("a node that could not listen has begun: %v", err)
	}
	begun := filepath.Join(parent, "begun") // by a node that was ended before it had joined
	if err := os.MkdirAll(filepath.Join(begun, "identity.new"), 0o700); err != nil {
		t.Fatal(err)
	}
	for of, want := range map[string]string{dir: "is empty", begun: "is empty", other: "does not exist"} {
		r := try(of, free, free, "", false)
		if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), of+" "+want+": to begin a new cluster there, add --create") {
			t.Errorf("code %d: %s", code, r.said.String())
		}
	}

	used := filepath.Join(dir, "used")
	first := tryNode(used, free, free)
	<-first.started
	refuses(t, used, free, free, "", "is open in this process already")
	first.signals <- syscall.SIGTERM
	if code := <-first.ended; code != 0 {
		t.Errorf("the first one ends with %d: %s", code, first.said.String())
	}
	refuses(t, used, taken.Addr().String(), free, "", "--listen: listen tcp "+taken.Addr().String())
	again := tryNode(used, free, free) // what was refused has left it as it was
	<-again.started
	again.signals <- syscall.SIGTERM
	if code := <-again.ended; code != 0 {
		t.Errorf("started again it ends with %d: %s", code, again.said.String())
	}
	if err := os.RemoveAll(filepath.Join(used, replicaDir)); err != nil {
		t.Fatal(err)
	}
	refuses(t, used, free, free, "", "has lost what the node kept")
}

// A node is given a name that it can have before it has an identity, which would keep it. A directory that has one with another name, as an earlier version
// could make it, begins when the name is right.
func TestTheNameOfTheFirstNode(t *testing.T) {
	t.Parallel() // it waits for nodes
	const free = "127.0.0.1:0"
	dir := filepath.Join(t.TempDir(), "node")
	r := tryWith(dir, free, settings.Cluster{Listen: free, Stores: 1, Name: "a.example"}, true)
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), `--node-name: "a.example" is no name of a node: it has 1 to`) {
		t.Errorf("code %d: %s", code, r.said.String())
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a node without a name has begun: %v", err)
	}
	if _, err := identity.Form(dir, "a.example"); err != nil {
		t.Fatal(err)
	}
	r = tryWith(dir, free, settings.Cluster{Listen: free, Stores: 1, Name: "a"}, true)
	<-r.started
	r.signals <- syscall.SIGTERM
	if code := <-r.ended; code != 0 {
		t.Errorf("with another name it ends with %d: %s", code, r.said.String())
	}
}

// starts returns how often the store of a node was opened, as its state has it.
func starts(t *testing.T, dir string) (n uint64) {
	t.Helper()
	e, err := pebbledb.Open(filepath.Join(dir, replicaDir, "states", "0", "1"), store.EngineOptions{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	row, _, err := e.Get(store.StartsKey(), nil)
	if err == nil {
		row, err = store.Payload(store.StartsKey(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
	n, _ = binary.Uvarint(row)
	return n
}

// runs starts a node, waits until its cluster has begun, and ends it.
func runs(t *testing.T, dir, adopt string) {
	t.Helper()
	const free = "127.0.0.1:0"
	r := tryAdopting(dir, free, free, adopt)
	<-r.started
	select {
	case <-r.log.serves:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not serve: %s\n%s", dir, r.said.String(), r.log.String())
	}
	r.signals <- syscall.SIGTERM
	if code := <-r.ended; code != 0 {
		t.Errorf("%s ends with %d: %s", dir, code, r.said.String())
	}
}

// ranBefore is how often the store of ranAsOne was started.
const ranBefore = 7

// ranAsOne makes a directory of a program that ran alone.
func ranAsOne(t *testing.T, dir string) {
	t.Helper()
	for range ranBefore {
		e, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(e, store.Options{Program: "bank"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A cluster begins with what a program had that ran alone, once, and that stays as it was. What a start that was killed had begun to copy is no part of
// a cluster that begins without.
func TestAClusterBeginsWithWhatRanAlone(t *testing.T) {
	t.Parallel() // it waits for elections
	dir := t.TempDir()
	alone, node, other := filepath.Join(dir, "alone"), filepath.Join(dir, "node"), filepath.Join(dir, "other")
	ranAsOne(t, alone)
	runs(t, node, alone)
	if got := starts(t, node); got != ranBefore+1 {
		t.Errorf("the cluster began with start %d of a store that was started %d times", got, ranBefore)
	}
	runs(t, node, alone) // it has begun
	if got := starts(t, node); got != ranBefore+2 {
		t.Errorf("the second start is %d", got)
	}

	if _, err := identity.Form(other, ""); err != nil {
		t.Fatal(err)
	}
	killed := driver.NewDisk(driver.Dir{Root: filepath.Join(other, replicaDir), Opener: pebbledb.Open, Options: store.EngineOptions{Program: "bank"}, LogOptions: store.EngineOptions{Program: "bank"}})
	if err := killed.Seed(replica.Group(firstStore), func(e store.Engine) error {
		b := e.NewBatch()
		b.Set([]byte("x"), []byte("y")) // no store would open with that
		return e.Apply(b)
	}); err != nil {
		t.Fatal(err)
	}
	runs(t, other, "")
	if got := starts(t, other); got != 1 {
		t.Errorf("a cluster without anything begins with start %d", got)
	}

	stores := filepath.Join(dir, "stores")
	name, text := archive.StoresFile(3, "a snapshot")
	if err := errors.Join(os.Mkdir(stores, 0o700), pebbledb.FinishParts(stores, name, text)); err != nil {
		t.Fatal(err)
	}
	const free = "127.0.0.1:0"
	for _, c := range []struct{ dir, adopt, want string }{
		{filepath.Join(dir, "new"), filepath.Join(dir, "nowhere"), "nowhere holds no data of an aeon program"},
		{filepath.Join(dir, "new"), node, "is the directory of a node of a cluster"},
		{filepath.Join(dir, "new"), stores, "has 3 stores, and a cluster keeps the number that it began with: leave --stores out"},
		{alone, "", "is the directory of a program that ran alone"},
	} {
		r := tryWith(c.dir, free, settings.Cluster{Listen: free, Adopt: c.adopt, Stores: 2}, true)
		if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), c.want) {
			t.Errorf("code %d: %s, want %q", code, r.said.String(), c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("what was refused has left a directory: %v", err)
	}
}

// taken tells whether an address is taken.
func taken(address string) bool {
	l, err := net.Listen("tcp", address)
	if err == nil {
		_ = l.Close()
	}
	return err != nil
}

// A node that is started while another process runs in its directory is told of that, and not of the ports that the two share. The process that ends leaves the
// directory last: what waits for that finds the ports free.
func TestADirectoryThatIsInUse(t *testing.T) {
	t.Parallel() // it waits for elections
	dir, listen, own := filepath.Join(t.TempDir(), "node"), freeport.Address(t), freeport.Address(t)
	inUse := errors.New("the directory is in use by process 7")
	var opened, closedBeforePorts atomic.Bool
	config := func() *aeonrt.ClusterConfig {
		return &aeonrt.ClusterConfig{
			Package: &aeonrt.Package{Name: "bank"}, Cluster: settings.Cluster{Listen: own, Stores: 1}, State: settings.State{Dir: dir}, Listen: settings.Listen{Address: listen},
			Create: true, Log: slog.New(slog.DiscardHandler), OpenEngine: func(at string, o store.EngineOptions) (store.Engine, error) {
				if filepath.Base(at) != placementDir {
					return pebbledb.Open(at, o)
				}
				if !opened.CompareAndSwap(false, true) {
					return nil, inUse
				}
				e, err := pebbledb.Open(at, o)
				return closes{e, func() {
					closedBeforePorts.Store(taken(own))
					opened.Store(false)
				}}, err
			},
		}
	}
	for range 2 { // it forms a cluster, and is started again
		n, l, err := begin(t.Context(), config(), nil, func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := begin(t.Context(), config(), nil, func(error) {}); !errors.Is(err, inUse) {
			t.Errorf("a second process: %v", err)
		}
		_ = l.Close()
		closeSoon(n.close)
		if closedBeforePorts.Load() {
			t.Error("the directory is free, and its port is not")
		}
	}
	// One that is refused leaves the directory to others.
	blocked, err := net.Listen("tcp", own)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := begin(t.Context(), config(), nil, func(error) {}); err == nil || !strings.Contains(err.Error(), "--cluster-listen: ") || opened.Load() {
		t.Errorf("without a port: %v, and the directory is in use: %v", err, opened.Load())
	}
	_ = blocked.Close()
}

// closes is an engine of which something is called when it is closed.
type closes struct {
	store.Engine
	then func()
}

func (e closes) Close() error {
	e.then()
	return e.Engine.Close()
}

// What a cluster has begun with is for it alone: a start on the empty mount point of a lost disk, whose flags are those of the first, begins no second one. It does
// when the mark is taken away on purpose.
func TestWhatWasAdoptedIsAdoptedOnce(t *testing.T) {
	t.Parallel() // it waits for elections
	dir := t.TempDir()
	alone, node, other := filepath.Join(dir, "alone"), filepath.Join(dir, "node"), filepath.Join(dir, "other")
	ranAsOne(t, alone)
	runs(t, node, alone)
	if err := errors.Join(os.Rename(node, node+" away"), os.Mkdir(node, 0o700)); err != nil {
		t.Fatal(err)
	}
	id, err := identity.Load(node + " away")
	if err != nil {
		t.Fatal(err)
	}
	const free = "127.0.0.1:0"
	mark := filepath.Join(alone, "ADOPTED")
	for _, at := range []string{node, other} {
		refuses(t, at, free, free, alone, "--adopt: "+alone+" was adopted by the node in "+node+", and its actors go on in cluster "+id.Cluster[:8]+
			": start that node, and see that its disk is mounted; to use "+alone+" all the same, as it was then, remove "+mark)
		if _, err := identity.Load(at); !errors.Is(err, identity.ErrNone) {
			t.Errorf("what was refused has an identity: %v", err)
		}
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	runs(t, other, alone)
	if got := starts(t, other); got != ranBefore+1 {
		t.Errorf("the second cluster begins with start %d of a store that was started %d times", got, ranBefore)
	}
}

// failing is the engine of the placement's log of a node that fails right behind the first batch.
type failing struct{ store.Engine }

func (e failing) Sync() error { return errors.Join(e.Engine.Sync(), errors.New("power is lost")) }

// A cluster is the one that its first start was to form, though that ended behind the first batch of the placement's log: what is adopted is in as many
// stores as there are, whatever the flags of the next start are.
func TestAFirstStartThatEndsSoon(t *testing.T) {
	t.Parallel()          // it waits for elections
	const alone = "alone" // stands for a directory of each case: one process uses a directory at a time
	for _, c := range []struct {
		what         string
		first, again settings.Cluster
		stores       int
	}{
		{"adopt, and again", settings.Cluster{Adopt: alone}, settings.Cluster{Adopt: alone}, settings.StoresDefault},
		{"adopt with stores, then nothing", settings.Cluster{Adopt: alone, Stores: 4}, settings.Cluster{}, 4},
		{"create with stores, then nothing", settings.Cluster{Stores: 4}, settings.Cluster{}, 4},
	} {
		for _, noted := range []bool{false, true} { // whether the identity says that there is a log
			t.Run(fmt.Sprint(c.what, ", noted ", noted), func(t *testing.T) {
				t.Parallel()
				dir, ran := filepath.Join(t.TempDir(), "node"), filepath.Join(t.TempDir(), alone)
				if c.first.Adopt != "" {
					ranAsOne(t, ran)
				}
				config := func(cluster settings.Cluster, open store.Opener) *aeonrt.ClusterConfig {
					cluster.Listen = "127.0.0.1:0"
					if cluster.Adopt != "" {
						cluster.Adopt = ran
					}
					return &aeonrt.ClusterConfig{
						Package: &aeonrt.Package{Name: "bank"}, Cluster: cluster, State: settings.State{Dir: dir}, Listen: settings.Listen{Address: "127.0.0.1:0"},
						OpenEngine: open, Create: cluster.Stores != 0, Log: slog.New(slog.DiscardHandler),
					}
				}
				_, _, err := begin(t.Context(), config(c.first, func(dir string, o store.EngineOptions) (store.Engine, error) {
					e, err := pebbledb.Open(dir, o)
					if err == nil && filepath.Base(dir) == placementDir {
						e = failing{e}
					}
					return e, err
				}), nil, func(error) {})
				if err == nil || !strings.Contains(err.Error(), "power is lost") {
					t.Fatal(err)
				}
				if noted {
					id, err := identity.Load(dir)
					if err == nil {
						err = id.Begun()
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				n, l, err := begin(t.Context(), config(c.again, pebbledb.Open), nil, func(err error) { t.Error(err) })
				if err != nil {
					t.Fatal(err)
				}
				awaitReady(t, n)
				if got := len(n.placement.State().Stores); got != c.stores {
					t.Errorf("there are %d stores", got)
				}
				closeSoon(n.close)
				_ = l.Close()
				want := uint64(1)
				if c.first.Adopt != "" {
					want += ranBefore
				}
				if got := starts(t, dir); got != want {
					t.Errorf("this is start %d of the first store, want %d", got, want)
				}
			})
		}
	}
}

// adopting configures a node that adopts a directory.
func adopting(dir, adopt string, open store.Opener) *aeonrt.ClusterConfig {
	const free = "127.0.0.1:0"
	return &aeonrt.ClusterConfig{
		Package: &aeonrt.Package{Name: "bank"}, Cluster: settings.Cluster{Listen: free, Adopt: adopt, Stores: 1}, State: settings.State{Dir: dir},
		Listen: settings.Listen{Address: free}, OpenEngine: open, Create: true, Log: slog.New(slog.DiscardHandler),
	}
}

// beginAdopting begins a node, which ends with the test.
func beginAdopting(t *testing.T, dir, adopt string, open store.Opener) error {
	t.Helper()
	n, l, err := begin(t.Context(), adopting(dir, adopt, open), nil, func(err error) { t.Error(err) })
	if err == nil {
		closeSoon(n.close)
		_ = l.Close()
	}
	return err
}

// A cluster whose first start ended while it copied what is adopted begins with that, and with nothing else, whatever the flags of the next start are.
func TestACopyThatEndsSoon(t *testing.T) {
	t.Parallel() // it waits for nodes
	dir := t.TempDir()
	alone, other, node, empty := filepath.Join(dir, "alone"), filepath.Join(dir, "other"), filepath.Join(dir, "node"), filepath.Join(dir, "empty")
	ranAsOne(t, alone)
	ranAsOne(t, other)
	fails := func(dir, adopt string, open store.Opener, want string) {
		t.Helper()
		if err := beginAdopting(t, dir, adopt, open); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--adopt %q: %v, want %q", adopt, err, want)
		}
	}
	fails(node, alone, func(dir string, o store.EngineOptions) (store.Engine, error) {
		e, err := pebbledb.Open(dir, o)
		if err == nil && strings.Contains(dir, filepath.Join("node", replicaDir, "states")) {
			e = failing{e}
		}
		return e, err
	}, "power is lost")
	refused := "the node in " + node + " has begun to copy " + alone + ": start it with --adopt " + alone + ", or remove this directory"
	fails(node, "", pebbledb.Open, refused)
	fails(node, other, pebbledb.Open, refused)
	if _, err := identity.Form(empty, ""); err != nil {
		t.Fatal(err)
	}
	fails(empty, alone, pebbledb.Open, "has formed a cluster that begins with nothing: start it without --adopt")

	runs(t, node, alone+"/")
	if got := starts(t, node); got != ranBefore+1 {
		t.Errorf("the cluster began with start %d of a store that was started %d times", got, ranBefore)
	}
	runs(t, node, "") // it has begun
}

// A node that copies what it adopts ends when it is told to, in the middle of a store and behind the last, and its cluster has not begun.
func TestANodeThatCopiesEnds(t *testing.T) {
	t.Parallel()                                 // it waits for nodes
	for _, synced := range []bool{false, true} { // whether the signal comes when all rows are copied
		dir := t.TempDir()
		ctx, tell := context.WithCancelCause(t.Context())
		alone, node := filepath.Join(dir, "alone"), filepath.Join(dir, "node")
		ranAsOne(t, alone)
		told := &toldError{sig: syscall.SIGTERM}
		onSync := func() { tell(told) }
		if !synced {
			tell(told)
			onSync = func() { t.Error("all rows are copied though a signal came before") }
		}
		c := adopting(node, alone, func(dir string, o store.EngineOptions) (store.Engine, error) {
			e, err := pebbledb.Open(dir, o)
			if err == nil && strings.Contains(dir, filepath.Join(replicaDir, "states")) {
				e = signaling{e, onSync}
			}
			return e, err
		})
		if _, _, err := begin(ctx, c, nil, func(err error) { t.Error(err) }); !errors.Is(err, told) || err.Error() != "--adopt: terminated; to go on, start the node again with the same flags" {
			t.Errorf("synced %v: %v", synced, err)
		}
		if id, err := identity.Load(node); err != nil {
			t.Error(err)
		} else if fresh, _, err := id.Fresh(); !fresh || err != nil {
			t.Errorf("synced %v: the cluster has begun, error %v", synced, err)
		}
		if err := archive.NotAdopted(alone); err != nil {
			t.Errorf("synced %v: %v", synced, err)
		}
		runs(t, node, alone)
		if got := starts(t, node); got != ranBefore+1 {
			t.Errorf("synced %v: the cluster began with start %d of a store that was started %d times", synced, got, ranBefore)
		}
	}
}

// signaling is an engine during whose sync a signal comes.
type signaling struct {
	store.Engine
	signal func()
}

func (e signaling) Sync() error {
	e.signal()
	return e.Engine.Sync()
}

// A node that waits for a member to admit it ends when it is told to. A directory of another cluster than that of the token is refused.
func TestJoins(t *testing.T) {
	dir := t.TempDir()
	const free = "127.0.0.1:0"
	other, err := identity.Form(filepath.Join(dir, "other"), "")
	if err != nil {
		t.Fatal(err)
	}
	join := other.NewToken(time.Now().Add(time.Hour)).Text() + "@127.0.0.1:1" // where nothing listens
	r := tryWith(filepath.Join(dir, "new"), free, settings.Cluster{Listen: free, Join: "@" + filepath.Join(dir, "none")}, false)
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), "--join: open "+filepath.Join(dir, "none")) {
		t.Errorf("without the file of the token: code %d: %s", code, r.said.String())
	}
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(join+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	waits := tryWith(filepath.Join(dir, "new"), free, settings.Cluster{Listen: free, Join: "@" + file}, false)
	waits.signals <- syscall.SIGINT
	select {
	case code := <-waits.ended:
		if code != 0 || waits.said.String() != "--join: interrupt; to go on, join again with the same token and directory\n" {
			t.Errorf("code %d: %s", code, waits.said.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	if _, err := identity.Form(filepath.Join(dir, "mine"), ""); err != nil {
		t.Fatal(err)
	}
	r = tryWith(filepath.Join(dir, "mine"), free, settings.Cluster{Listen: free, Join: "@" + file}, false)
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), "and the token is of cluster "+other.Cluster[:8]) {
		t.Errorf("code %d: %s", code, r.said.String())
	}
}

// A signal ends a node that opens its stores, of which one does not end to.
func TestASignalEndsANodeThatOpens(t *testing.T) {
	signals, hangs, gone := make(chan os.Signal, 2), make(chan struct{}), make(chan struct{})
	defer close(gone)
	c := adopting(filepath.Join(t.TempDir(), "node"), "", func(dir string, o store.EngineOptions) (store.Engine, error) {
		if strings.Contains(dir, replicaDir) {
			close(hangs)
			<-gone
			return nil, errors.New("the process has ended")
		}
		return pebbledb.Open(dir, o)
	})
	var said strings.Builder
	c.Signals, c.Say = signals, func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	ended := make(chan int, 1)
	go func() { ended <- Run(*c) }()
	<-hangs
	signals <- syscall.SIGTERM
	signals <- syscall.SIGTERM
	select {
	case code := <-ended:
		if code != 128+15 || said.String() != "terminated: the node ends at once, and had not opened its stores yet\n" {
			t.Errorf("code %d: %s", code, said.String())
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
}

// A signal ends a node that begins: after a time, or at once if a second one comes. One that has begun by then is closed.
func TestASignalEndsANodeThatBegins(t *testing.T) {
	for _, c := range []struct {
		what   string
		begins time.Duration
		signal time.Duration // after which a second one comes
		took   time.Duration
		code   int // of the process, if starting has an error
		says   string
	}{
		{"it begins", time.Second, time.Hour, time.Second, 0, ""},
		{"it does not begin", time.Hour, 2 * time.Hour, endMax, 0, "terminated: the node had not opened its stores yet"},
		{"a second signal comes", time.Hour, 2 * time.Second, 2 * time.Second, 128 + 2, "interrupt: the node ends at once, and had not opened its stores yet"},
	} {
		synctest.Test(t, func(t *testing.T) {
			signals, gone := make(chan os.Signal, 2), make(chan struct{})
			defer close(gone) // the process ends
			signals <- syscall.SIGTERM
			time.AfterFunc(c.signal, func() { signals <- syscall.SIGINT })
			start := time.Now()
			sig, err := starting(signals, func(ctx context.Context) error {
				<-ctx.Done()
				select {
				case <-time.After(c.begins):
				case <-gone:
				}
				return nil
			})
			took := time.Since(start)
			told := new(toldError)
			switch {
			case took != c.took:
				t.Errorf("%s: it ends after %v", c.what, took)
			case c.says == "" && (err != nil || sig != syscall.SIGTERM):
				t.Errorf("%s: %v, %v", c.what, sig, err)
			case c.says != "" && (!errors.As(err, &told) || told.code != c.code || err.Error() != c.says):
				t.Errorf("%s: %v", c.what, err)
			}
		})
	}
}

// A node that is told to end does so though its parts do not: when it fails, at a further signal, or after a time.
func TestNodesThatDoNotEnd(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		what                   string
		parts, failure, signal time.Duration // after which the parts end, the node fails, a signal comes
		want                   time.Duration
		code                   int
		says                   string
	}{
		{"the parts end", time.Second, never, never, time.Second, 0, ""},
		{"the disk fails", never, 2 * time.Second, never, 2 * time.Second, aeonrt.ExitStore, "the disk hangs\n"},
		{"a signal comes", never, never, 3 * time.Second, 3 * time.Second, 128 + 15, "terminated: the node ends at once\n"},
		{"nothing comes", never, never, never, endMax + partsMax, aeonrt.ExitStore, "the node has not ended within 10s, as when its disk hangs: it ends without that\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			failed, signals := make(chan error, 1), make(chan os.Signal, 1)
			time.AfterFunc(c.failure, func() { failed <- errors.New("the disk hangs") })
			time.AfterFunc(c.signal, func() { signals <- syscall.SIGTERM })
			over := make(chan struct{})
			defer close(over)
			var said strings.Builder
			began := time.Now()
			code := end(&aeonrt.ClusterConfig{Signals: signals, Say: func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }}, func(ctx context.Context) {
				if at, is := ctx.Deadline(); !is || at.Sub(began) != endMax {
					t.Errorf("%s: what is waited for has until %v", c.what, at.Sub(began))
				}
				select {
				case <-time.After(c.parts):
				case <-over:
				}
			}, failed)
			if took := time.Since(began); took != c.want || code != c.code || said.String() != c.says {
				t.Errorf("%s: the node ends after %v with %d: %q", c.what, took, code, said.String())
			}
		})
	}
}

// A node that cannot start says so, also when a part of it does not end.
func TestANodeThatCannotStartEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still, but for pauses
		began, hangs := time.Now(), make(chan struct{})
		closeSoon(func(context.Context) { <-hangs })
		if took := time.Since(began); took != endMax+partsMax {
			t.Errorf("it has waited for %v", took)
		}
		close(hangs)
		began = time.Now()
		if closeSoon(func(context.Context) {}); time.Since(began) != 0 {
			t.Error("it waits for what has ended")
		}
	})
}

// awaitReady returns when a node serves.
func awaitReady(t *testing.T, n *node) {
	t.Helper()
	look, deadline := time.NewTicker(10*time.Millisecond), time.After(20*time.Second)
	defer look.Stop()
	for err := n.readiness(); err != nil; err = n.readiness() {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal(err)
		}
	}
}
