package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// overStores is the trace of two stores. A transfer, 1-1, takes from x in store 0, its home, and gives to y in store 1. Then 2-2, whose home is store 1,
// reads both, and calls a client of store 0.
func overStores() [2][]string {
	return [2][]string{
		{
			`{"order":10,"batch":true,"event":"1-9","attempt":1,"kind":"client","client":1,"target":"p.A/x","method":"A","start":5,"writes":[["p.A/x",1,"a"]]}`,
			`{"order":40,"batch":true,"event":"1-1","attempt":1,"kind":"client","client":1,"try":5,"at":30,"parts":[1],"target":"p.A/x","method":"A.give","start":20,"reads":[["p.A/x",1,"a"]],"writes":[["p.A/x",2,"b"]]}`,
			`{"answers":[[10,11],[40,46]]}`,
			`{"order":55,"event":"2-2","attempt":1,"kind":"vote","try":6,"home":1,"target":"","method":"A.sum","start":53,"reads":[["p.A/x",2,"b"]]}`,
			`{"callback":"Ear.said","client":1,"parent":"2-2","home":1,"index":1,"issuer":"?:1:2","start":60}`,
			`{"end":"closed","events":3}`,
		},
		{
			`{"order":12,"batch":true,"event":"2-9","attempt":1,"kind":"client","client":2,"target":"p.A/y","method":"A","start":6,"writes":[["p.A/y",1,"c"]]}`,
			`{"order":32,"batch":true,"event":"1-1","attempt":1,"kind":"vote","try":5,"home":0,"target":"","method":"A.give","start":22,"reads":[["p.A/y",1,"c"]],"writes":[["p.A/y",2,"d"]]}`,
			`{"order":42,"batch":true,"event":"1-1","attempt":1,"kind":"part","try":5,"home":0,"target":"","method":"A.give","start":22,"reads":[["p.A/y",1,"c"]],"writes":[["p.A/y",2,"d"]]}`,
			`{"order":57,"callbacks":[0],"event":"2-2","attempt":1,"kind":"client","client":2,"try":6,"at":54,"target":"p.A/y","method":"A.sum","start":52,"reads":[["p.A/y",2,"d"]]}`,
			`{"answers":[[12,13],[57,59]]}`,
			`{"end":"closed","events":4}`,
		},
	}
}

// checkStores checks the traces of stores, each a file that is called by the number of the store.
func checkStores(t *testing.T, lists [2][]string) *Report {
	t.Helper()
	var files []File
	for i, lines := range lists {
		text := fmt.Sprintf(`{"trace":4,"program":"p","states":true,"store":"s%d","run":1,"node":1,"cluster":"c","number":%d,"stores":2}`, i, i) + "\n" + strings.Join(lines, "\n") + "\n"
		files = append(files, File{fmt.Sprint(i), strings.NewReader(text)})
	}
	rep, err := CheckFiles(files, 0)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// What the stores of a cluster have recorded is one history, in which each change shows that makes it another one.
func TestStoresAreOneHistory(t *testing.T) {
	rep := checkStores(t, overStores())
	var text strings.Builder
	if err := rep.Write(&text); err != nil || rep.Violated() > 0 || !strings.Contains(text.String(), "4 events") || !strings.Contains(text.String(), "3 records in other stores") {
		t.Fatalf("%v: %s", err, &text)
	}
	type change struct {
		store, line int
		from, to    string // "" for both: the line is not there
	}
	for _, c := range []struct {
		name    string
		changes []change
		want    string // the first violation
	}{
		{"a store does not carry out a commit", []change{{1, 2, "", ""}, {1, 3, `"p.A/y",2,"d"`, `"p.A/y",1,"c"`}, {1, 5, "4", "3"}}, "LOST: event 1-1 has committed over several stores, and store 1 has not carried that out"},
		{"a store carries out what was not committed", []change{{0, 1, `"try":5,"at":30,"parts":[1]`, `"abort":"no","try":5,"at":30`}, {0, 1, `,"writes":[["p.A/x",2,"b"]]`, ""}, {0, 3, `2,"b"`, `1,"a"`}},
			"CAUSE: store 1 has carried out attempt 5 of event 1-1, which store 0 has not committed with it"},
		{"a store carries out another attempt", []change{{1, 2, `"try":5`, `"try":4`}}, "LOST: event 1-1 has committed"},
		{"a home has not committed with a store", []change{{0, 1, `"parts":[1]`, `"parts":[0]`}}, "CAUSE: store 1 has carried out"},
		{"a write is lost between the vote and the commit", []change{{1, 2, `,"writes":[["p.A/y",2,"d"]]`, ""}, {1, 3, `"p.A/y",2,"d"`, `"p.A/y",1,"c"`}}, "WRITE: event 1-1 (A.give on , order 42) does not write version 2 of p.A/y, for which it has voted"},
		{"a commit leaves another state than was voted for", []change{{1, 2, `2,"d"`, `2,"e"`}, {1, 3, `2,"d"`, `2,"e"`}}, "STATE: event 1-1 (A.give on , order 42) leaves p.A/y in state e, and has voted for d"},
		{"a later start carries out another state", []change{{1, 2, `"home":0`, `"home":0,"restored":true`}, {1, 2, `2,"d"`, `2`}, {1, 3, `2,"d"`, `2,"e"`}}, "STATE: event 2-2"},
		{"a part reads what is overwritten before it votes", []change{{1, 1, `"reads":[["p.A/y",1,"c"]]`, `"reads":[["p.A/y",0,"c"]]`}}, "READ: event 1-1"},
		{"two events have different orders in two stores", []change{{0, 1, `"at":30`, `"at":39`}, {0, 3, "", ""}, {0, 0, `"a"]]}`, `"a"]]}` + "\n" + `{"order":35,"event":"2-2","attempt":1,"kind":"vote","try":6,"home":1,"target":"","method":"A.sum","start":33,"reads":[["p.A/x",1,"a"]]}`}},
			"ORDER: event 1-1 comes behind event 2-2 at p.A/x, which it has written when it was read, and before it in the order of all stores: at 39, and 54"},
		{"the order of all stores is not that of a store", []change{{0, 1, `"at":30`, `"at":21`}, {1, 0, `"order":12`, `"order":25`}, {1, 4, `[12,13]`, `[25,26]`}}, "ORDER: event 1-1 comes behind event 2-9 at p.A/y"},
		{"an event has a place before its issue", []change{{0, 1, `"at":30`, `"at":20`}}, "REAL-TIME: event 1-1"},
		{"an event has a place behind its commit", []change{{0, 1, `"at":30`, `"at":41`}}, "REAL-TIME: event 1-1"},
		{"a home forgets a store that has voted", []change{{0, 1, `"parts":[1],`, ""}, {1, 2, "", ""}, {1, 3, `"p.A/y",2,"d"`, `"p.A/y",1,"c"`}, {1, 5, "4", "3"}}, "LOST: store 1 has voted for what attempt 5 of event 1-1 writes there, and store 0 has committed that without it"},
		{"a part was not voted for", []change{{1, 1, "", ""}, {1, 5, "4", "3"}}, "WRITE: event 1-1 (A.give on , order 42) writes 1 actor, and its store has not voted for that"},
		{"a part writes more than was voted for", []change{{1, 2, `"d"]]`, `"d"],["p.A/z",1,"e"]]`}}, "WRITE: event 1-1 (A.give on , order 42) writes p.A/z, for which its store has not voted"},
		{"a part is of a client", []change{{1, 2, `"try":5`, `"client":3,"try":5`}}, "CAUSE: event 1-1"},
		{"a client of another store is called back that was not called", []change{{1, 3, `"callbacks":[0],`, ""}}, "CAUSE: callback Ear.said of client 1 is number 1 of event 2-2, and store 1 has not committed that with so many"},
		{"a client of another store is called back twice", []change{{0, 4, `"start":60}`, `"start":60}` + "\n" + `{"callback":"Ear.said","client":1,"parent":"2-2","home":1,"index":1,"issuer":"?:1:2","start":61}`}}, "ONCE: callback Ear.said of client 1"},
		{"a client of another store is called back in place of one of the home", []change{{1, 3, `"callbacks":[0]`, `"callbacks":[2]`}}, "CAUSE: callback Ear.said of client 1"},
	} {
		lists := overStores()
		var drop [2][]int
		for _, x := range c.changes {
			if x.from == "" {
				drop[x.store] = append(drop[x.store], x.line)
				continue
			}
			line := &lists[x.store][x.line]
			if strings.Count(*line, x.from) < 1 {
				t.Fatalf("%s: %s is not in %s", c.name, x.from, *line)
			}
			*line = strings.ReplaceAll(*line, x.from, x.to)
		}
		for store := range drop {
			slices.Sort(drop[store])
			for _, i := range slices.Backward(drop[store]) {
				lists[store] = slices.Delete(lists[store], i, i+1)
			}
		}
		var all []string
		rep := checkStores(t, lists)
		for i := range rep.Sections {
			for _, v := range rep.Sections[i].First {
				all = append(all, v.String())
			}
		}
		if !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, c.want) }) {
			t.Errorf("%s:\n\t%s\nwant\n\t%s", c.name, strings.Join(all, "\n\t"), c.want)
		}
	}
}

// The report says that stores are missing.
func TestStoresThatAreMissingAreTold(t *testing.T) {
	lists := overStores()
	text := `{"trace":4,"program":"p","states":true,"store":"s1","run":1,"node":1,"cluster":"c","number":1,"stores":3}` + "\n" + strings.Join(lists[1], "\n") + "\n"
	rep, err := Check(strings.NewReader(text))
	if err != nil || rep.Violated() > 0 {
		t.Fatalf("%v, %+v", err, rep)
	}
	var said strings.Builder
	if err := rep.Write(&said); err != nil || !strings.Contains(said.String(), "of 2 stores of the cluster there is no trace") {
		t.Errorf("%v: %s", err, &said)
	}
}

// Of an actor that a start carries out a change of, for which an earlier one has voted, the version is taken as it is if the earlier one is in no file. What
// comes behind that is checked.
func TestARestoredPartComesFirst(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{`"restored":true,`, "", "WRITE: "},
		{`["p.A/y",8]`, `["p.A/y",9]`, "WRITE: "},
	} {
		text := strings.Join([]string{
			`{"trace":4,"program":"p","store":"s1","run":6,"recovered":40,"node":1,"cluster":"c","number":1,"stores":2}`,
			`{"order":42,"batch":true,"event":"1-1","attempt":1,"kind":"part","try":5,"home":0,"restored":true,"target":"","method":"A.give","start":41,"writes":[["p.A/y",7]]}`,
			`{"order":52,"batch":true,"event":"2-2","attempt":1,"kind":"client","client":2,"target":"p.A/y","method":"A.put","start":51,"reads":[["p.A/y",7]],"writes":[["p.A/y",8]]}`,
			`{"end":"closed","events":2}`,
		}, "\n") + "\n"
		rep, err := CheckFiles([]File{{"1", strings.NewReader(strings.Replace(text, c.from, c.to, 1))}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := rep.Write(&said); err != nil {
			t.Fatal(err)
		}
		if c.want == "" && rep.Violated() > 0 || c.want != "" && !strings.Contains(said.String(), c.want) {
			t.Errorf("%s -> %s: %s", c.from, c.to, &said)
		}
	}
}
