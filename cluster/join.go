package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"crypto/sha256"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// joinRequest is what a new node sends to a member.
type joinRequest struct {
	Secret  []byte    `json:"secret"` // of the token
	Program string    `json:"program"`
	Name    string    `json:"name"` // "": node and its number
	Address string    `json:"address"`
	Key     []byte    `json:"key"` // its public key, PKIX
	Clock   time.Time `json:"clock"`
}

// joinReply is the answer.
type joinReply struct {
	Error   string       `json:"error,omitempty"`
	Unknown bool         `json:"unknown,omitempty"` // it may have joined all the same
	Cluster string       `json:"cluster"`
	Node    event.NodeID `json:"node"`
	Cert    []byte       `json:"certificate"`
	CACert  []byte       `json:"authority"`
	CAKey   []byte       `json:"authorityKey"`
	Members []byte       `json:"members"` // the state of the placement
}

const (
	joinMax      = 15 * time.Second // for all of it
	joinBytesMax = 16 << 10
	clockOffMax  = 500 * time.Millisecond
)

// joinCluster makes this node a member, and writes what it is known by into its directory.
func joinCluster(dir, text, name, address, program string) (*identity.Identity, error) {
	tokenText, addresses, _ := strings.Cut(text, "@")
	token, err := identity.ParseToken(tokenText)
	if err != nil {
		return nil, fmt.Errorf("--join: %w", err)
	}
	key, _, err := identity.NewKey()
	if err != nil {
		return nil, err
	}
	public, err := identity.PublicKey(key)
	if err != nil {
		return nil, err
	}
	var failures []error
	for _, at := range strings.Split(addresses, ",") {
		r, err := askToJoin(at, token, joinRequest{Secret: token.Secret[:], Program: program, Name: name, Address: address, Key: public})
		switch {
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", at, err))
			continue
		case r.Unknown:
			return nil, fmt.Errorf("%s: %s; see \"aeond status\": if a member with the address %s is there, remove it (aeond remove), and join with a new token", at, r.Error, address)
		case r.Error != "":
			return nil, fmt.Errorf("%s refuses: %s", at, r.Error)
		}
		id := &identity.Identity{Cluster: r.Cluster, Node: r.Node, Program: program, Key: key, Cert: r.Cert, CAKey: r.CAKey, CACert: r.CACert}
		return id, errors.Join(id.Save(dir), noteMembers(dir, r.Members))
	}
	return nil, fmt.Errorf("no member could be asked: %w", errors.Join(failures...))
}

func askToJoin(at string, token identity.Token, q joinRequest) (r joinReply, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), joinMax)
	defer cancel()
	c, err := port.DialToJoin(ctx, at, token)
	if err != nil {
		return r, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(joinMax))
	q.Clock = time.Now()
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return r, err
	}
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return joinReply{Unknown: true, Error: "the connection has broken before the answer"}, nil
	}
	return r, nil
}

// serveJoins admits nodes that have a token.
func (n *node) serveJoins(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		n.tasks.Go(func() {
			defer c.Close()
			_ = c.SetDeadline(time.Now().Add(joinMax))
			var q joinRequest
			if err := json.NewDecoder(io.LimitReader(c, joinBytesMax)).Decode(&q); err != nil {
				return
			}
			_ = json.NewEncoder(c).Encode(n.admit(q)) // the node asks what has become of it if this fails
		})
	}
}

// admit makes a node a member.
func (n *node) admit(q joinRequest) joinReply {
	if off := time.Since(q.Clock).Abs(); off > clockOffMax {
		return joinReply{Error: fmt.Sprintf("the clocks of the two nodes differ by %v, and by %v they may; set them by a time server", off.Round(time.Millisecond), clockOffMax)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinMax/2)
	defer cancel()
	r, err := n.placement.Propose(ctx, placement.Command{Join: &placement.Join{
		Token: sha256.Sum256(q.Secret), Program: q.Program, Name: q.Name, Address: q.Address, Key: sha256.Sum256(q.Key),
	}})
	var refused *placement.Refusal
	switch {
	case errors.As(err, &refused):
		return joinReply{Error: refused.Reason}
	case err != nil:
		return joinReply{Error: err.Error(), Unknown: !errors.Is(err, errNoLeader)}
	}
	cert, err := n.id.Sign(r.Node, q.Key)
	if err != nil {
		return joinReply{Error: err.Error(), Unknown: true}
	}
	n.log.Info("a node has joined", "node", r.Node, "address", q.Address)
	return joinReply{Cluster: n.id.Cluster, Node: r.Node, Cert: cert, CACert: n.id.CACert, CAKey: n.id.CAKey, Members: n.members.known().Encode()}
}
