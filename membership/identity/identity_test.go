package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
)

func formed(t *testing.T) (*Identity, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	i, err := Form(dir, "n1")
	if err != nil {
		t.Fatal(err)
	}
	return i, dir
}

// admitted lets a node join the cluster of a member.
func admitted(t *testing.T, i *Identity, node event.NodeID) (*Identity, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	c, err := Prepare(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := i.Admit(node, "n9", c.Public())
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Complete(a)
	if err != nil {
		t.Fatal(err)
	}
	return other, dir
}

func fails(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: the error %q has no %q", what, err, p)
		}
	}
}

// A node that was admitted is as much a member as the first one: both know each other's certificates, have the same secrets, and can admit.
func TestMembersAreEqual(t *testing.T) {
	first, dir := formed(t)
	second, _ := admitted(t, first, 2)
	third, dir3 := admitted(t, second, 3)
	for _, i := range []*Identity{first, second, third} {
		for _, of := range []*Identity{first, second, third} {
			if n, key, err := i.Check(of.cert); err != nil || n != of.Node || key != of.Key() {
				t.Errorf("node %d sees node %d as %d, error %v", i.Node, of.Node, n, err)
			}
		}
		secret, err := i.Secret("gossip")
		other, _ := first.Secret("other")
		same, _ := first.Secret("gossip")
		if err != nil || !bytes.Equal(secret, same) || bytes.Equal(secret, other) || len(secret) != 32 {
			t.Error("secrets of members differ, or of purposes do not")
		}
	}
	for _, d := range []string{dir, dir3} {
		for name, mode := range map[string]os.FileMode{keyFile: 0o600, caKeyFile: 0o600, "": 0o700} {
			if info, err := os.Stat(filepath.Join(d, folder, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s has mode %v, error %v", name, info.Mode(), err)
			}
		}
		if _, err := os.Stat(filepath.Join(d, joining)); err == nil {
			t.Error("the folder of the join is left")
		}
	}
	if again, err := Load(dir3); err != nil || again.Node != 3 || again.Name != "n9" || again.Cluster != first.Cluster {
		t.Error(again, err)
	}
}

// A node begins in an empty directory, and once.
func TestOnlyEmptyDirectoriesBegin(t *testing.T) {
	first, dir := formed(t)
	_, err := Form(dir, "n1")
	fails(t, "forming twice", err, "identity of a node already")
	_, err = Prepare(dir)
	fails(t, "joining with an identity", err, "identity of a node already")

	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "AEON"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Form(used, "n1")
	fails(t, "forming in a directory of something else", err, "not empty", "AEON")

	empty := t.TempDir()
	if _, err := Load(empty); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(empty, "lost+found"), 0o700); err != nil { // it is the root of a file system
		t.Fatal(err)
	}
	c, err := Prepare(empty)
	if err != nil || c.Again {
		t.Fatal(c, err)
	}
	_, err = Load(empty)
	fails(t, "loading what has begun to join", err, "begun to join")
	if !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	_, err = Form(empty, "n1")
	fails(t, "forming what has begun to join", err, "begun to join")
	again, err := Prepare(empty)
	if err != nil || !again.Again || !again.Public().Equal(c.Public()) {
		t.Error("the key of a join that has not ended is another one", err)
	}
	a, err := first.Admit(2, "n2", again.Public())
	if err != nil {
		t.Fatal(err)
	}
	other, _ := formed(t)
	b := a
	b.AuthorityKey = other.caKey.Seed()
	_, err = again.Complete(b)
	fails(t, "an answer that contradicts itself", err, "ca.key does not belong")
	if _, err := again.Complete(a); err != nil {
		t.Error(err)
	}
}

// What a crash leaves of an identity that was being made was never used, and is made anew.
func TestHalfAnIdentityIsNone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, unready), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, unready, keyFile), []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := Form(dir, "n1"); err != nil {
		t.Error(err)
	}
}

// An identity that lacks a file, or has one of another node or cluster, is refused.
func TestDamagedIdentities(t *testing.T) {
	first, _ := formed(t)
	_, dir := admitted(t, first, 2)
	_, sibling := admitted(t, first, 3)
	_, stranger := formed(t)
	for _, name := range []string{nodeFile, keyFile, certFile, caFile, caKeyFile} {
		file := filepath.Join(dir, folder, name)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		_, err = Load(dir)
		fails(t, name+" is missing", err, name+" is missing", "damaged")
		if errors.Is(err, ErrNone) {
			t.Error("a damaged identity is taken for none")
		}
		for _, b := range [][]byte{nil, []byte("{"), whole[:len(whole)/2]} {
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Load(dir)
			fails(t, name+" is cut", err, name+" cannot be read")
		}
		for what, from := range map[string]string{"another cluster": stranger, "another node": sibling} {
			foreign, err := os.ReadFile(filepath.Join(from, folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Equal(foreign, whole) {
				continue // the authority is that of both nodes
			}
			if err := os.WriteFile(file, foreign, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = Load(dir)
			fails(t, name+" is of "+what, err, "damaged")
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir); err != nil {
		t.Error(err)
	}
}

// Certificates of other clusters, of the authority itself, and those that are made up, are of no node.
func TestForeignCertificates(t *testing.T) {
	first, _ := formed(t)
	other, _ := formed(t)
	_, _, err := first.Check(other.cert)
	fails(t, "a node of another cluster", err, "of cluster "+other.Cluster, "this is cluster "+first.Cluster)
	_, _, err = first.Check(first.ca)
	fails(t, "the authority", err, "names no node")
	_, key, _ := ed25519.GenerateKey(nil)
	der, err := certify(first.cert, key, first.Cluster, 1, first.key.Public().(ed25519.PublicKey))
	if err == nil {
		t.Error("a node has certified", der)
	}
	pretended, _, err := newAuthority(first.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	forged := *first.ca
	forged.PublicKey = pretended.Public()
	der, err = certify(&forged, pretended, first.Cluster, 7, first.key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = first.Check(cert)
	fails(t, "a certificate by an authority of the same name", err, "none of cluster")
}

// The first node of a cluster keeps what that begins with, until it keeps a log.
func TestAdopts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	adopting, err := FormWith(dir, "n1", "/var/lib/an old\nbank")
	if err != nil {
		t.Fatal(err)
	}
	joined, _ := admitted(t, adopting, 2)
	nothing, _ := formed(t)
	for i, want := range map[*Identity]string{adopting: "/var/lib/an old\nbank", joined: "", nothing: ""} {
		if got, err := i.Adopts(); got != want || err != nil {
			t.Errorf("node %d adopts %q, error %v", i.Node, got, err)
		}
	}
	if fresh, formedHere, err := adopting.Fresh(); !fresh || !formedHere || err != nil {
		t.Error(fresh, formedHere, err)
	}
	if err := adopting.Begun(); err != nil {
		t.Fatal(err)
	}
	if got, err := adopting.Adopts(); got != "" || err != nil {
		t.Errorf("what has begun adopts %q, error %v", got, err)
	}
}

// A node that has kept a log says so for ever.
func TestBegun(t *testing.T) {
	first, dir := formed(t)
	second, _ := admitted(t, first, 2)
	if fresh, formedHere, err := first.Fresh(); !fresh || !formedHere || err != nil {
		t.Error(fresh, formedHere, err)
	}
	if fresh, formedHere, err := second.Fresh(); !fresh || formedHere || err != nil {
		t.Error(fresh, formedHere, err)
	}
	if err := errors.Join(first.Begun(), first.Begun()); err != nil {
		t.Error(err)
	}
	again, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if fresh, _, err := again.Fresh(); fresh || err != nil {
		t.Error("it is fresh again", err)
	}
}
