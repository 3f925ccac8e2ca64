package raftnode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// A question to another node goes over a connection of its own as a line of JSON, and so does the reply. Commands are rare, and a connection takes
// two milliseconds.

// question asks one thing.
type question struct {
	Command json.RawMessage `json:"command,omitempty"` // to the leader: perform it
	Current bool            `json:"current,omitempty"` // to the leader: what index does the current state have?
	Applied bool            `json:"applied,omitempty"` // what entry has the node applied last?
	Members bool            `json:"members,omitempty"` // which ones does the node know?
}

// reply answers a question.
type reply struct {
	Result  placement.Result                  `json:"result"`
	Index   uint64                            `json:"index,omitempty"`   // of Command, Current, Applied
	Refusal string                            `json:"refusal,omitempty"` // the command was refused
	Retry   string                            `json:"retry,omitempty"`   // nothing was done, for this reason
	Unknown string                            `json:"unknown,omitempty"` // it is not known whether the command is performed
	Members map[event.NodeID]placement.Member `json:"members,omitempty"`
}

const (
	questionMax     = 64 << 20         // bytes
	questionTimeMax = 30 * time.Second // of a question to this node, until it is answered
)

// errRetry is wrapped by errors after which nothing was done, and another try may succeed.
var errRetry = errors.New("nothing was done")

// serve answers the questions of other nodes until the listener is closed.
func (n *Node) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		n.wg.Go(func() {
			ctx, cancel := context.WithTimeout(n.ctx, questionTimeMax)
			defer cancel()
			defer closeAtEnd(ctx, c)()
			var q question
			if err := json.NewDecoder(io.LimitReader(c, questionMax)).Decode(&q); err != nil {
				return
			}
			r := n.answer(ctx, &q)
			_ = json.NewEncoder(c).Encode(&r)
		})
	}
}

// closeAtEnd closes a connection when a context ends, or the function is called that it returns.
func closeAtEnd(ctx context.Context, c net.Conn) func() {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return func() {
		if stop() {
			_ = c.Close()
		}
	}
}

func (n *Node) answer(ctx context.Context, q *question) reply {
	switch {
	case q.Command != nil:
		if _, err := decodeCommand(q.Command); err != nil {
			return reply{Refusal: fmt.Sprintf("the leader cannot read the command; a newer version has proposed it, which all nodes must have first: %v", err)}
		}
		return n.perform(ctx, q.Command)
	case q.Current:
		return n.current()
	case q.Applied:
		return reply{Index: n.raft.AppliedIndex()}
	case q.Members:
		s, _ := n.machine.read()
		return reply{Members: s.Members}
	}
	return reply{Refusal: "the question is empty: a newer version has asked it, which all nodes must have first"}
}

// ask asks another node. Its error wraps errRetry if the question has not arrived.
func (n *Node) ask(ctx context.Context, of event.NodeID, q *question) (r reply, err error) {
	c, err := n.Dial(ctx, of, port.Proposals)
	if err != nil {
		return r, fmt.Errorf("%w: %w", errRetry, err)
	}
	defer closeAtEnd(ctx, c)()
	if err = json.NewEncoder(c).Encode(q); err == nil {
		err = json.NewDecoder(io.LimitReader(c, questionMax)).Decode(&r)
	}
	if err != nil {
		err = fmt.Errorf("node %d has not answered: %w", of, errors.Join(err, ctx.Err()))
	}
	return r, err
}

// Dial connects to a node for a protocol, where the placement says that it is, or where else it may be. An address that does not answer, as that of a machine that
// has gone, leaves the next ones their shares of the time. Any goroutine may call it.
func (n *Node) Dial(ctx context.Context, of event.NodeID, proto port.Protocol) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	var addresses []string
	if a, ok := n.cfg.Members.Address(of); ok {
		addresses = append(addresses, a)
	}
	if n.cfg.Addresses != nil {
		for _, a := range n.cfg.Addresses(of) {
			if !slices.Contains(addresses, a) {
				addresses = append(addresses, a)
			}
		}
	}
	err := fmt.Errorf("the address of node %d is not known", of)
	for i, a := range addresses {
		var c *port.Conn
		if c, err = n.dialWithin(ctx, len(addresses)-i, a, proto, of); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// dialWithin connects by one of so many addresses that are left, within its share of the time that is left.
func (n *Node) dialWithin(ctx context.Context, left int, address string, proto port.Protocol, of event.NodeID) (*port.Conn, error) {
	if end, bounded := ctx.Deadline(); bounded {
		share, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
		ctx = share
	}
	return n.cfg.Port.Dial(ctx, address, proto, of)
}
