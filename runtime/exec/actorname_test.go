package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/state/archive"
)

// An actor is found by its label in a trace or in the list of snapshots, and by no other text.
func TestActorsAreFoundByTheirLabels(t *testing.T) {
	n := startNode(t, Config{})
	b, _ := openBank(t, n.sys, "one", 1)
	bank, account := b.ID(), accountAt(t, n, "one", "a0").ID()
	for text, want := range map[string]event.ActorID{
		"Bank/one": bank, "bank.Bank/one": bank, bank.String(): bank,
		"Account:" + account.String(): account, "bank.Account:" + account.String(): account, account.String(): account,
	} {
		name, err := archive.ParseActorName("bank", text)
		mustNot(t, err)
		if got, err := name.Find(n.store); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"Bank/two":                 "there is no actor bank.Bank/two; there are: one",
		"other.Bank/one":           "the program has no actorclass other.Bank; it has Account, Bank, t.Desk, test.Hangar, w.Node",
		"Bnk/one":                  "the program has no actorclass Bnk, did you mean Bank? it has Account, Bank, t.Desk, test.Hangar, w.Node",
		"Nothing:9:9":              "the program has no actorclass Nothing; it has Account, Bank, t.Desk, test.Hangar, w.Node",
		"Account:9:9":              "there is no actor 9:9",
		"Bank:" + account.String(): "there is no Bank:" + account.String() + ", but Account:" + account.String(),
		"Bank:" + bank.String():    "there is no Bank:" + bank.String() + ", but Bank/one",
	} {
		name, err := archive.ParseActorName("bank", text)
		mustNot(t, err)
		if id, err := name.Find(n.store); err == nil || err.Error() != want {
			t.Errorf("%s is %v, %v, want error %s", text, id, err, want)
		}
	}
	for _, text := range []string{"", "Bank", "/one", "Bank/", ":1:1", "0:0", "Bank:0:0", "Bank:x", "1:1:1:1", "1:1 "} {
		if name, err := archive.ParseActorName("bank", text); err == nil {
			t.Errorf("%q is read as %+v", text, name)
		}
	}
	n.close()
}

// A name means the actor that has it when the snapshot is taken. Where no actor has it, nothing is counted and nothing left.
func TestSnapshotNamedFollowsTheName(t *testing.T) {
	n := startNode(t, Config{})
	ctx, to := context.Background(), snapshot.Dir(t.TempDir())
	name, err := archive.ParseActorName("bank", "Bank/one")
	mustNot(t, err)
	none := func(when string) {
		t.Helper()
		var missing *archive.NoActorError
		if _, err := n.archive().SnapshotNamed(ctx, to, name); !errors.As(err, &missing) {
			t.Errorf("%s: %v", when, err)
		}
	}
	none("before it is made")
	var roots []string
	for want := range 2 {
		b, _ := openBank(t, n.sys, "one", 2)
		s, err := n.archive().SnapshotNamed(ctx, to, name)
		mustNot(t, err)
		if s.Actor != "bank.Bank/one" || s.Actors != 3 || s.Root != b.ID().String() || s.Number != uint64(want+1) {
			t.Errorf("the manifest is %+v", s.Manifest)
		}
		roots = append(roots, s.Root)
		mustNot(t, n.sys.Client().Delete(b.Ref))
		none("after its deletion")
	}
	if roots[0] == roots[1] {
		t.Errorf("both are of %s", roots[0])
	}
	n.close()
}
