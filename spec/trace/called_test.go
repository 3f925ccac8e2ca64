package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Callbacks for clients of another store than the home of their event come in the order of the commits, as far as the traces tell that, and none is missing.
func TestCallbacksOfOtherStoresHaveAnOrder(t *testing.T) {
	// Client 1 of store 0 is called by 1-1 there, and by events of store 1: 2-1, and 2-2 behind it at y, which was issued before that had committed; 2-3 has nothing in common with them.
	homes := [2][]string{
		{
			`{"order":10,"callbacks":[1],"event":"1-1","attempt":1,"kind":"client","client":1,"target":"p.A/x","method":"A.say","start":5,"reads":[["p.A/x",0]]}`,
			`{"answers":[[10,11]]}`,
		},
		{
			`{"order":30,"batch":true,"callbacks":[0,0],"event":"2-1","attempt":1,"kind":"client","client":2,"target":"p.A/y","method":"A.say","start":20,"reads":[["p.A/y",0]],"writes":[["p.A/y",1,"a"]]}`,
			`{"order":40,"batch":true,"callbacks":[0],"event":"2-2","attempt":1,"kind":"client","client":2,"target":"p.A/y","method":"A.say","start":25,"reads":[["p.A/y",1,"a"]]}`,
			`{"order":50,"batch":true,"callbacks":[0],"event":"2-3","attempt":1,"kind":"client","client":2,"target":"p.A/z","method":"A.say","start":28,"reads":[["p.A/z",0]]}`,
			`{"answers":[[30,31],[40,41],[50,51]]}`,
			`{"end":"closed","events":3}`,
		},
	}
	const end = `{"end":"closed","events":1}`
	for _, c := range []struct {
		name     string
		come     string // the callbacks, each by its event and number
		from, to string // what is changed
		end      string
		want     string // "": the trace is sound
	}{
		{"in order", "1-1.1 2-1.1 2-1.2 2-2.1 2-3.1", "", "", end, ""},
		{"those of events that have nothing in common, in another order", "1-1.1 2-3.1 2-1.1 2-1.2 2-2.1", "", "", end, ""},
		{"those of one event, the last one first", "1-1.1 2-1.2 2-1.1 2-2.1 2-3.1", "", "", end, "CLIENT: callback Ear.said of client 1 is number 1 of event 2-1, but number 2 came before it"},
		{"those of an event before those of what it has found", "1-1.1 2-2.1 2-1.1 2-1.2 2-3.1", "", "", end,
			"CLIENT: callback Ear.said of client 1 is number 1 of event 2-1, which had committed at 30, but callbacks of event 2-2 came before it, which has had its locks since 30"},
		{"those of an event between those of what it has found", "1-1.1 2-1.1 2-2.1 2-1.2 2-3.1", "", "", end, "CLIENT: callback Ear.said of client 1 is number 2 of event 2-1, which had committed at 30"},
		{"those of an event before those of one that had committed when it was issued", "1-1.1 2-3.1 2-1.1 2-1.2 2-2.1", `"start":28`, `"start":45`, end, "but callbacks of event 2-3 came before it, which has had its locks since 45"},
		{"those of a later event of the store first", "1-1.1 2-1.1 2-1.2 2-2.1 2-3.1", `"order":10`, `"order":35`, end, "CLIENT: callback Ear.said of client 1 is number 1 of event 2-1 of order 30, but number 1 of order 35, of its own store, came before it"},
		{"one is missing", "1-1.1 2-1.1 2-2.1 2-3.1", "", "", end, "LOST: 1 callback for clients of other stores issued and not run, from event 2-1 on"},
		{"all are missing", "1-1.1", "", "", end, "LOST: 4 callbacks for clients"},
		{"one was dropped", "1-1.1 2-1.1 2-2.1 2-3.1", "", "", `{"end":"closed","events":1,"dropped":1}`, ""},
		{"one was dropped, and two are missing", "1-1.1 2-1.1 2-2.1", "", "", `{"end":"closed","events":1,"dropped":1}`, "LOST: 1 callback for clients"},
		{"the client has gone", "1-1.1 2-1.1", "", "", `{"gone":1}` + "\n" + end, ""},
		{"the store was killed", "1-1.1 2-1.1", "", "", "", ""},
		{"the store of the events was killed", "1-1.1 2-1.1", `{"end":"closed","events":3}`, "", end, ""},
	} {
		lists := [2][]string{slices.Clone(homes[0]), slices.Clone(homes[1])}
		for i, one := range strings.Fields(c.come) {
			parent, index, _ := strings.Cut(one, ".")
			home := `,"home":1`
			if parent == "1-1" {
				home = ""
			}
			lists[0] = append(lists[0], fmt.Sprintf(`{"callback":"Ear.said","client":1,"parent":%q%s,"index":%s,"issuer":"p.A/x","start":%d}`, parent, home, index, 60+i))
		}
		lists[0] = append(lists[0], c.end)
		for _, list := range lists {
			for i := range list {
				if c.from != "" {
					list[i] = strings.ReplaceAll(strings.ReplaceAll(list[i], c.from, c.to), `[10,11]`, `[`+map[bool]string{true: "35", false: "10"}[c.to == `"order":35`]+`,36]`)
				}
			}
		}
		rep := checkStores(t, lists)
		said := said(t, rep)
		if c.want == "" && rep.Violated() > 0 || c.want != "" && !strings.Contains(said, c.want) {
			t.Errorf("%s:\n%s\nwant %q", c.name, said, c.want)
		}
	}
}
