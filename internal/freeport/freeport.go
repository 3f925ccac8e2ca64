// Package freeport gives tests addresses at which no process listens, and that no process gets by chance.
package freeport

import (
	"fmt"
	"net"
	"sync"
	"testing"
)

// The ports are below those that the system gives to connections and to listeners that ask for any: so a node finds its own free again when it is restarted, and a
// node that is not there stays so. A process that tests takes a block of them: it listens at the first one as long as it runs, so another process
// takes another block. A block has more than all clusters of a run need, twelve each: a port is not given again while a node that has not started yet is
// to have it.
const first, last, block = 20000, 30000, 500

var taken struct {
	sync.Mutex
	by    net.Listener // nil: no block is taken yet
	first int          // at which it listens
	given int
}

// Address returns an address, as 127.0.0.1:20001.
func Address(t testing.TB) string {
	t.Helper()
	taken.Lock()
	defer taken.Unlock()
	for port := first; port < last && taken.by == nil; port += block {
		if l, err := listen(port); err == nil {
			taken.by, taken.first = l, port
		}
	}
	for range block - 1 {
		port := taken.first + 1 + taken.given%(block-1)
		taken.given++
		if l, err := listen(port); err == nil {
			_ = l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("there is no free port")
	return ""
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
}
