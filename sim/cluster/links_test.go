// The processes at the ends of connections are found in /proc.

//go:build linux

package cluster

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// links is what the nodes reach each other through: each advertises the address of a proxy, which holds back what one node sends to another while
// that direction is cut, as a network does that loses all packets. Gossip's packets by UDP are lost always: its streams go on.
type links struct {
	w     *world
	group sync.WaitGroup

	mu        sync.Mutex
	listeners []net.Listener
	conns     map[net.Conn]bool // nil when all ends
	cut       [slots][slots]bool
	changed   chan struct{} // closed when cut is changed, or all ends
}

func newLinks(t *testing.T, w *world) *links {
	l := &links{w: w, conns: make(map[net.Conn]bool), changed: make(chan struct{})}
	for to := range slots {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.listeners = append(l.listeners, listener)
		w.advertised[to] = listener.Addr().String()
		l.group.Go(func() {
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				l.group.Go(func() { l.carry(c, to) })
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

func (l *links) end() {
	l.mu.Lock()
	conns := l.conns
	l.conns = nil
	close(l.changed)
	l.mu.Unlock()
	for _, listener := range l.listeners {
		_ = listener.Close()
	}
	for c := range conns {
		_ = c.Close()
	}
	l.group.Wait()
}

// keep notes a connection, so that end closes it. It reports whether there is one more.
func (l *links) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns == nil {
		_ = c.Close()
		return false
	}
	l.conns[c] = true
	return true
}

// carry carries a connection to a node.
func (l *links) carry(c net.Conn, to int) {
	on, err := net.Dial("tcp", l.w.own[to])
	if err != nil { // the node is down; who has dialled takes longer to find out, and four of five come here
		_ = c.Close()
		return
	}
	from := l.w.dialer(c)
	if from < 0 || !l.keep(c) || !l.keep(on) { // the process of the dialler has ended, or all ends
		_, _ = c.Close(), on.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { l.pump(on, c, from, to) })
	both.Go(func() { l.pump(c, on, to, from) })
	both.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	delete(l.conns, on)
}

// pump hands on what one node sends to another, its end included, when that direction is not cut.
func (l *links) pump(to io.WriteCloser, from io.ReadCloser, sender, receiver int) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		l.await(sender, receiver)
		if n > 0 {
			if _, failed := to.Write(b[:n]); failed != nil {
				err = failed
			}
		}
		if err != nil {
			_, _ = from.Close(), to.Close()
			return
		}
	}
}

// await returns when a direction is not cut.
func (l *links) await(from, to int) {
	for {
		l.mu.Lock()
		is, changed := l.cut[from][to] && l.conns != nil, l.changed
		l.mu.Unlock()
		if !is {
			return
		}
		<-changed
	}
}

// set cuts directions, or mends them.
func (l *links) set(is bool, directions ...[2]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range directions {
		l.cut[d[0]][d[1]] = is
	}
	if l.conns != nil {
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// dialer returns the node whose process has the other end of a connection; -1: none.
func (w *world) dialer(c net.Conn) int {
	inode, err := inodeOf(c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr))
	if err != nil {
		panic(err)
	}
	socket := fmt.Sprintf("socket:[%d]", inode)
	for i := range slots {
		w.mu.Lock()
		p := w.procs[i]
		w.mu.Unlock()
		if p == nil {
			continue
		}
		dir := filepath.Join("/proc", strconv.Itoa(p.Process.Pid), "fd")
		list, _ := os.ReadDir(dir) // none if it has ended
		for _, f := range list {
			if to, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && to == socket {
				return i
			}
		}
	}
	return -1
}

// inodeOf asks the kernel for the inode of the socket of this machine with an address, which is connected to another one; 0: there is none. The question and
// the answer are those of sock_diag(7). The table in /proc/net/tcp has it too, and costs more the more connections have ended within a minute: a
// sixth of the processor time of a test.
func inodeOf(local, remote *net.TCPAddr) (inode uint32, err error) {
	s, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, syscall.NETLINK_INET_DIAG)
	if err != nil {
		return 0, err
	}
	defer syscall.Close(s)
	const (
		byFamily           = 20     // SOCK_DIAG_BY_FAMILY
		questionLen        = 56     // of struct inet_diag_req_v2
		inodeAt, answerLen = 68, 72 // in struct inet_diag_msg
	)
	q := binary.NativeEndian.AppendUint32(nil, syscall.NLMSG_HDRLEN+questionLen)
	q = binary.NativeEndian.AppendUint16(q, byFamily)
	q = binary.NativeEndian.AppendUint16(q, syscall.NLM_F_REQUEST)
	q = append(q, make([]byte, 8)...) // number and port
	q = append(q, syscall.AF_INET, syscall.IPPROTO_TCP, 0, 0)
	q = binary.NativeEndian.AppendUint32(q, math.MaxUint32) // in any state
	q = binary.BigEndian.AppendUint16(q, uint16(local.Port))
	q = binary.BigEndian.AppendUint16(q, uint16(remote.Port))
	for _, a := range []*net.TCPAddr{local, remote} {
		q = append(append(q, a.IP.To4()...), make([]byte, 12)...)
	}
	q = binary.NativeEndian.AppendUint32(q, 0)              // any interface
	q = binary.NativeEndian.AppendUint64(q, math.MaxUint64) // any cookie
	if err := syscall.Sendto(s, q, 0, &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}); err != nil {
		return 0, err
	}
	b := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(s, b, 0)
	if err != nil {
		return 0, err
	}
	answers, err := syscall.ParseNetlinkMessage(b[:n])
	if err != nil || len(answers) != 1 {
		return 0, fmt.Errorf("%d answers: %w", len(answers), err)
	}
	switch a := answers[0]; {
	case a.Header.Type == byFamily && len(a.Data) >= answerLen:
		return binary.NativeEndian.Uint32(a.Data[inodeAt:]), nil
	case a.Header.Type == syscall.NLMSG_ERROR && len(a.Data) >= 4:
		if no := syscall.Errno(-int32(binary.NativeEndian.Uint32(a.Data))); no != syscall.ENOENT {
			return 0, no
		}
		return 0, nil
	}
	return 0, fmt.Errorf("an answer of type %d", answers[0].Header.Type)
}

// A fault of the network, as the directions that are cut between a leader and the two others.
var networkFaults = []struct {
	name  string
	flaps bool
	cut   func(leader, a, b int) [][2]int
}{
	{"the leader is cut off", false, func(l, a, b int) [][2]int { return [][2]int{{l, a}, {a, l}, {l, b}, {b, l}} }},
	{"what the leader sends is lost", false, func(l, a, b int) [][2]int { return [][2]int{{l, a}, {l, b}} }},
	{"what the leader is sent is lost", false, func(l, a, b int) [][2]int { return [][2]int{{a, l}, {b, l}} }},
	{"the leader and a follower are cut off from each other", false, func(l, a, _ int) [][2]int { return [][2]int{{l, a}, {a, l}} }},
	{"the leader is cut off again and again", true, func(l, a, b int) [][2]int { return [][2]int{{l, a}, {a, l}, {l, b}, {b, l}} }},
}
