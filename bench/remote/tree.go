package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/runtime/event"
)

// TreePart is the far node of SerialTree.
const TreePart = "a serial tree"

// A binary tree of a depth is on both nodes: what is on an even level is near, with the root, so each parent is on another node than its children. A path has a bit for each
// level below the root.

// walker has a share of the nodes of the tree, each with the number of its visits.
type walker struct {
	*line
	mu     sync.Mutex
	visits map[uint64]uint64
	done   func(client uint32) // a path has come to its end; nil at the far node
}

func (*walker) Up(event.NodeID)   {}
func (*walker) Down(event.NodeID) {}

// A message has the client in its first 4 bytes, then whether the path is done, the path, and behind it the node of the tree, which has a 1 in front of the bits that lead to it, and the
// number of levels below.
func (w *walker) Message(from event.NodeID, m []byte) {
	if m[4] != 0 {
		w.done(binary.LittleEndian.Uint32(m))
		return
	}
	w.visit(from, slices.Clone(m))
}

// visit visits a node, and sends the message on to its child, which is on the other node of the cluster.
func (w *walker) visit(to event.NodeID, m []byte) {
	path, at, below := binary.LittleEndian.Uint64(m[5:]), binary.LittleEndian.Uint64(m[13:]), m[21]
	w.mu.Lock()
	w.visits[at]++
	w.mu.Unlock()
	if below == 0 {
		m[4] = 1
		if w.done != nil {
			w.done(binary.LittleEndian.Uint32(m))
			return
		}
	}
	binary.LittleEndian.PutUint64(m[5:], path/2)
	binary.LittleEndian.PutUint64(m[13:], 2*at+path%2)
	m[21] = below - 1
	w.Send(to, m)
}

// ServeTree is the server.Part of TreePart.
func ServeTree(dir string) (address string, close func() error, err error) {
	w := &walker{visits: make(map[uint64]uint64)}
	if _, err = open(dir, "", func(l *line) listener {
		w.line = l
		return w
	}); err != nil {
		return "", nil, err
	}
	return w.port.Addr().String(), w.close, nil
}

// SerialTree is the baseline of figure 4.7: the simple way to have all requests visit the nodes of a tree in one order is to let one request at a time into it.
func SerialTree(dir string, peer Peer, clients, depth int) (load.System, error) {
	came := make([]chan struct{}, clients)
	for i := range came {
		came[i] = make(chan struct{}, 1)
	}
	w := &walker{visits: make(map[uint64]uint64), done: func(client uint32) { came[client] <- struct{}{} }}
	l, err := openLine(filepath.Join(dir, nearDir), peer.Address(), w)
	if err != nil {
		return load.System{}, err
	}
	w.line = l
	var requests uint64
	var root sync.Mutex
	return load.System{
		NewClient: func(i, _ int) load.Client {
			return func(r *rand.Rand) error {
				m := newMessage(i, 0, r.Uint64N(1<<(depth-1)))
				m[13], m[21] = 1, byte(depth-1)
				root.Lock()
				defer root.Unlock()
				requests++
				w.visit(far, m)
				_, err := awaited(l, came[i])
				return err
			}
		},
		Check: func() error {
			if got := w.visits[1]; got != requests {
				return fmt.Errorf("the root was visited %d times by %d requests", got, requests)
			}
			return nil
		},
		Notes: func() []string { return l.notes(requests) },
		Close: func() { _ = l.close() },
	}, nil
}

// Tree is the same tree as actors, each of which owns its children: walks are events. write has them write each node, and else they only read.
func Tree(dir string, peer Peer, depth int, write bool) (load.System, error) {
	n, err := openNear(dir, peer.Address(), false)
	if err != nil {
		return load.System{}, err
	}
	all := []app.BranchRef{{}} // by the node of the tree
	for level := range depth {
		at := near
		if level%2 == 1 {
			at = far
		}
		for range 1 << level {
			all = append(all, app.BranchRef{Ref: n.named(&app.AeonClassBranch, at, len(all))})
		}
	}
	inner := 1<<(depth-1) - 1
	for i := inner; i > 0; i-- { // so that what is joined below has no owner yet
		if err := all[i].Join(n.System.Client(), all[2*i], all[2*i+1]); err != nil {
			return load.System{}, errors.Join(err, n.close())
		}
	}
	var requests atomic.Int64
	return load.System{
		NewClient: func(int, int) load.Client {
			cl := n.System.Client()
			walk := app.BranchRef.Look
			if write {
				walk = app.BranchRef.Walk
			}
			return func(r *rand.Rand) error {
				got, err := walk(all[1], cl, r.Int64N(1<<(depth-1)))
				if err == nil && got != int64(depth) {
					err = fmt.Errorf("a walk visits %d nodes", got)
				}
				requests.Add(1)
				return err
			}
		},
		Check: func() error {
			if !write {
				return nil
			}
			var leaves int64
			for _, b := range all[inner+1:] {
				v, err := b.Visited(n.System.Client())
				if err != nil {
					return err
				}
				leaves += v
			}
			if leaves != requests.Load() {
				return fmt.Errorf("the leaves were visited %d times by %d requests", leaves, requests.Load())
			}
			return nil
		},
		Retries: n.withdrawn,
		Notes:   n.notes,
		Close:   func() { _ = n.close() },
	}, nil
}
