package cluster

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/settings"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// trial is a node that is started in this process.
type trial struct {
	said    strings.Builder
	started chan struct{} // closed with the first line
	signals chan os.Signal
	ended   chan int
}

// tryNode starts a node.
func tryNode(dir, listen, own string) *trial {
	r := &trial{started: make(chan struct{}), signals: make(chan os.Signal, 1), ended: make(chan int, 1)}
	c := aeonrt.ClusterConfig{
		Package: &aeonrt.Package{Name: "bank"}, Cluster: settings.Cluster{Listen: own}, State: settings.State{Dir: dir}, Listen: settings.Listen{Address: listen},
		OpenEngine: pebbledb.Open, Log: slog.New(slog.DiscardHandler), Signals: r.signals,
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

// refuses checks that a node which cannot start says why, and ends.
func refuses(t *testing.T, dir, listen, own, want string) {
	t.Helper()
	r := tryNode(dir, listen, own)
	if code := <-r.ended; code != aeonrt.ExitRefused || !strings.Contains(r.said.String(), want) {
		t.Errorf("code %d: %s, want %q", code, r.said.String(), want)
	}
}

// A node that cannot start says why, whichever part of it fails, and leaves no directory behind if it has not begun.
func TestNodesThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	const free = "127.0.0.1:0"
	other := filepath.Join(dir, "other")
	refuses(t, other, free, taken.Addr().String(), "--cluster-listen: listen tcp "+taken.Addr().String())
	refuses(t, other, taken.Addr().String(), free, "--listen: listen tcp "+taken.Addr().String())
	if _, err := os.Stat(other); !os.IsNotExist(err) {
		t.Errorf("a node that could not listen has begun: %v", err)
	}
	refuses(t, dir, free, free, "is empty: to begin a new cluster there, add --create")

	used := filepath.Join(dir, "used")
	first := tryNode(used, free, free)
	<-first.started
	refuses(t, used, free, free, "is open in this process already")
	first.signals <- syscall.SIGTERM
	if code := <-first.ended; code != 0 {
		t.Errorf("the first one ends with %d: %s", code, first.said.String())
	}
	refuses(t, used, taken.Addr().String(), free, "--listen: listen tcp "+taken.Addr().String())
	again := tryNode(used, free, free) // what was refused has left it as it was
	<-again.started
	again.signals <- syscall.SIGTERM
	if code := <-again.ended; code != 0 {
		t.Errorf("started again it ends with %d: %s", code, again.said.String())
	}
	if err := os.RemoveAll(filepath.Join(used, replicaDir)); err != nil {
		t.Fatal(err)
	}
	refuses(t, used, free, free, "has lost what the node kept")
}
