package exec

import (
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// The error for an actor that is not there names actors that are: a few of them, how many in all, and the nearest.
func TestActorsThatThereAre(t *testing.T) {
	n := startNode(t, Config{})
	said := func(when, text, want string) {
		t.Helper()
		name, err := archive.ParseActorName("bank", text)
		mustNot(t, err)
		if id, err := name.Find(n.store); err == nil || err.Error() != want {
			t.Errorf("%s: %s is %v, %v, want error\n%s", when, text, id, err, want)
		}
	}
	said("before any", "Bank/none", "there is no actor bank.Bank/none, nor any other of its class that has a name")
	b, _ := openBank(t, n.sys, "main", 1)
	said("with one", "Bank/none", "there is no actor bank.Bank/none; there are: main")
	said("with one", "Bank/mian", "there is no actor bank.Bank/mian, did you mean main? there are: main")
	said("of another class", "Account/main", "there is no actor bank.Account/main, nor any other of its class that has a name")
	mustNot(t, n.sys.Client().Delete(b.Ref))
	said("after its deletion", "Bank/main", "there is no actor bank.Bank/main, nor any other of its class that has a name")
	for _, name := range []string{"f", "c", "a, b", "e", "b", "d"} {
		openBank(t, n.sys, name, 1)
	}
	said("with six", "Bank/main", `there is no actor bank.Bank/main; there are: "a, b", b, c, d, e, … (6 in all)`)
	batch := n.store.NewBatch()
	for i := range 3 * archive.NamesRead {
		key := row.NameKey("bank.Bank", fmt.Sprintf("many%04d", i), n.sys.cfg.Partitions)
		batch.Set(key, store.AppendRow(nil, key, []byte{0, 0}))
	}
	mustNot(t, n.store.Wait(t.Context(), n.store.Append(batch)))
	name, err := archive.ParseActorName("bank", "Bank/main")
	mustNot(t, err)
	_, err = name.Find(n.store)
	if e, ok := err.(*archive.NoActorError); !ok || !e.More || len(e.Others) != archive.NamesRead {
		t.Errorf("with thousands: %v", err)
	}
	n.close()
}

func TestNoActorErrorIsShort(t *testing.T) {
	long := "long" + fmt.Sprintf("%0100d", 0)
	for want, e := range map[string]archive.NoActorError{
		"there is no actor b.C/x": {More: true, Others: []string{}},
		"there is no actor b.C/x; there are: a, b, c, d, e, … (more than 6 in all)": {More: true, Others: []string{"a", "b", "c", "d", "e", "f"}},
		`there is no actor b.C/x; there are: "", "a\nb", ä, ` + long[:40] + "…":     {Others: []string{"", "a\nb", "ä", long}},
	} {
		e.Class, e.Name = "b.C", "x"
		if got := e.Error(); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
	}
}
