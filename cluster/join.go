package cluster

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/atomicfile"
	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// joinRequest is what a new node sends to a member.
type joinRequest struct {
	Token   string            `json:"token"`
	Program string            `json:"program"`
	Name    string            `json:"name"` // "": node and its number
	Address string            `json:"address"`
	Key     ed25519.PublicKey `json:"key"`
	// Proof is a signature, by Key, of what is signed: the node has the key. So one that has got no answer can ask again.
	Proof []byte    `json:"proof"`
	Clock time.Time `json:"clock"`
}

// signed is what a node signs that asks to join.
func (q *joinRequest) signed() []byte { return []byte("aeon join " + q.Token) }

// joinReply is the answer.
type joinReply struct {
	Error     string             `json:"error,omitempty"`
	Admission identity.Admission `json:"admission"`
	Members   []byte             `json:"members"` // the state of the placement
}

const (
	joinMax      = 15 * time.Second // for all of it
	joinBytesMax = 16 << 10
	clockOffMax  = 500 * time.Millisecond
)

// joinCluster makes this node a member, and writes what it is known by into its directory. If it has no answer, it can be tried again with the
// same token and directory.
func joinCluster(dir, text, name, address, program string) (*identity.Identity, error) {
	tokenText, addresses, _ := strings.Cut(text, "@")
	token, err := identity.ParseToken(tokenText)
	if err != nil {
		return nil, fmt.Errorf("--join: %w", err)
	}
	candidate, err := identity.Prepare(dir)
	if err != nil {
		return nil, err
	}
	q := joinRequest{Token: token.Text(), Program: program, Name: name, Address: address, Key: candidate.Public()}
	q.Proof = candidate.Sign(q.signed())
	var failures []error
	for _, at := range strings.Split(addresses, ",") {
		r, err := askToJoin(at, token, q)
		switch {
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", at, err))
			continue
		case r.Error != "":
			return nil, fmt.Errorf("%s refuses: %s", at, r.Error)
		}
		id, err := candidate.Complete(r.Admission)
		if err != nil {
			return nil, err
		}
		return id, atomicfile.Write(filepath.Join(dir, membersFile), bytes.NewReader(r.Members), 0o600)
	}
	return nil, fmt.Errorf("no member has answered; the same command can be tried again: %w", errors.Join(failures...))
}

func askToJoin(at string, token identity.Token, q joinRequest) (r joinReply, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), joinMax)
	defer cancel()
	c, err := port.DialJoin(ctx, at, token)
	if err != nil {
		return r, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(joinMax))
	q.Clock = time.Now()
	if err := json.NewEncoder(c).Encode(q); err != nil {
		return r, err
	}
	return r, json.NewDecoder(c).Decode(&r)
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
			_ = json.NewEncoder(c).Encode(n.admit(q)) // the node asks again if this fails
		})
	}
}

// admit makes a node a member. One that has been made a member, and asks again with the same key, gets the answer again.
func (n *node) admit(q joinRequest) joinReply {
	if off := time.Since(q.Clock).Abs(); off > clockOffMax {
		return joinReply{Error: fmt.Sprintf("the clocks of the two nodes differ by %v, and may by %v; set them by a time server", off.Round(time.Millisecond), clockOffMax)}
	}
	key, err := identity.KeyFingerprint(q.Key)
	if err != nil || len(q.Key) != ed25519.PublicKeySize || !ed25519.Verify(q.Key, q.signed(), q.Proof) {
		return joinReply{Error: "the node has not proved that it has its key"}
	}
	id, is := memberOf(n.members.known(), key)
	if !is {
		token, err := identity.ParseToken(q.Token)
		if err != nil {
			return joinReply{Error: err.Error()}
		}
		ctx, cancel := context.WithTimeout(context.Background(), joinMax/2)
		defer cancel()
		r, err := n.placement.Propose(ctx, placement.Command{Join: &placement.Join{Token: token.Hash(), Program: q.Program, Name: q.Name, Address: q.Address, Key: key}})
		if err != nil {
			return joinReply{Error: err.Error()}
		}
		id = r.Node
		n.log.Info("a node has joined", "node", id, "address", q.Address)
	}
	a, err := n.id.Admit(id, cmp.Or(q.Name, placement.NameOf(id)), q.Key)
	if err != nil {
		return joinReply{Error: err.Error()}
	}
	return joinReply{Admission: a, Members: n.members.known().Encode()}
}

// memberOf returns the member that has a key.
func memberOf(s *placement.State, key placement.Fingerprint) (event.NodeID, bool) {
	for id, m := range s.Members {
		if m.Key == key && m.Membership != placement.Removed {
			return id, true
		}
	}
	return 0, false
}
