package door

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/internal/generated"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/depot"
)

func TestDepotIsWhatAeoncMakes(t *testing.T) {
	if err := generated.Check(filepath.Join("..", ".."), "sim/door/depot", t.TempDir()); err != nil {
		t.Error(err)
	}
}

func serveDepot(t testing.TB) *served {
	return serveProgram(t, &depot.AeonPackage, httpdoor.Config{Control: true})
}

// shown is what is shown of an actor.
type shown struct {
	Actor, ID, Class string
	Position         uint64
	State            map[string]json.RawMessage
}

func (s *served) show(t rapid.TB, actor string) (got shown) {
	a := s.ask("GET", httpdoor.ActorPath+"?name="+url.QueryEscape(actor), "")
	if a.status != http.StatusOK || a.head.Get("Content-Type") != "application/json" {
		t.Fatalf("%s: %d %s", actor, a.status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if a.head.Get(httpdoor.PositionHeader) != strconv.FormatUint(got.Position, 10) {
		t.Errorf("%s: position %d, and in the header %q", actor, got.Position, a.head.Get(httpdoor.PositionHeader))
	}
	return got
}

// What is shown of an actor is what its methods return, whatever the types of its fields are, and however large
// containers are and were: in one row, or a row for each element. It is not older than the last answer.
func TestWhatIsShownIsWhatMethodsReturn(t *testing.T) {
	s := serveDepot(t)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		name := fmt.Sprintf("a/b %d", n)
		path := "/v1/Depot/" + url.PathEscape(name) + "/"
		from, size := 0, 0
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			body := "{}"
			method := "fill"
			if by := rapid.SampledFrom([]int{1, 3, 60, 200}).Draw(t, "by"); size == 0 || rapid.Bool().Draw(t, "fill") {
				body = fmt.Sprintf(`{"from":%d,"n":%d}`, from+size, by)
				size += by
			} else {
				by = min(by, size)
				size -= by
				method, body = "take", fmt.Sprintf(`{"from":%d,"n":%d}`, from+size, by)
			}
			if got := s.post(path+method, body); got.status != http.StatusNoContent {
				t.Fatalf("%s %s: %d %s", method, body, got.status, got.body)
			}
			content := s.ask("GET", path+"content", "")
			var want map[string]json.RawMessage
			if err := json.Unmarshal([]byte(content.body), &want); err != nil {
				t.Fatalf("%v: %d %s", err, content.status, content.body)
			}
			want["Pallets"] = json.RawMessage("[]")
			got := s.show(t, "Depot/"+name)
			if seen, _ := strconv.ParseUint(content.head.Get(httpdoor.PositionHeader), 10, 64); got.Actor != "Depot/"+name || got.Class != "depot.Depot" || got.Position < seen || seen == 0 {
				t.Fatalf("%s of class %s at %d, which %d has seen", got.Actor, got.Class, got.Position, seen)
			}
			for field, value := range want {
				if string(got.State[field]) != string(value) {
					t.Errorf("%d of everything: %s is %s,\nand is shown as %s", size, field, value, got.State[field])
				}
			}
			if len(got.State) != len(want) {
				t.Errorf("%d fields, want %d", len(got.State), len(want))
			}
		}
	})
}

// A list has the actors that are there, each with its owners, and ends where it is to.
func TestActorsAreListed(t *testing.T) {
	s := serveDepot(t)
	var want []string
	for _, depot := range []string{"north", "s/outh"} {
		for i := range 3 {
			var pallet string
			got := s.post("/v1/Depot/"+url.PathEscape(depot)+"/pack", fmt.Sprintf(`{"label":"%d"}`, i))
			if err := json.Unmarshal([]byte(got.body), &pallet); err != nil {
				t.Fatalf("%v: %d %s", err, got.status, got.body)
			}
			want = append(want, pallet+" of Depot/"+depot+" loaded true")
		}
		want = append(want, "Depot/"+depot+" of  loaded true")
	}
	if got := s.post("/v1/Depot/gone/close", ""); got.status != http.StatusNoContent {
		t.Fatalf("close: %d %s", got.status, got.body)
	}
	slices.Sort(want)
	all := s.list(t, "")
	if !slices.Equal(all, want) {
		t.Errorf("there are %q, want %q", all, want)
	}
	depots := slices.DeleteFunc(slices.Clone(want), func(l string) bool { return strings.HasPrefix(l, "Pallet") })
	for _, class := range []string{"Depot", "depot.Depot"} {
		if got := s.list(t, "?class="+class); !slices.Equal(got, depots) {
			t.Errorf("of %s there are %q, want %q", class, got, depots)
		}
	}
	for _, limit := range []int{1, 7, 8, 9} {
		if got := s.list(t, fmt.Sprintf("?limit=%d", limit)); len(got) != min(limit, len(want)) {
			t.Errorf("a list of at most %d is %q", limit, got)
		}
	}
	label := s.show(t, strings.Fields(want[len(want)-1])[0])
	if string(label.State["label"]) != `"2"` && string(label.State["label"]) != `"1"` && string(label.State["label"]) != `"0"` {
		t.Errorf("a pallet is %v", label)
	}
}

// list returns lines of a list, sorted: name, owners, and whether it is loaded.
func (s *served) list(t testing.TB, query string) (list []string) {
	t.Helper()
	a := s.ask("GET", httpdoor.ActorsPath+query, "")
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", query, a.status, a.body)
	}
	for line := range strings.Lines(a.body) {
		var l struct {
			Actor, ID, Class string
			Owners           []string
			Loaded           bool
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.ID == "" || l.Class != "depot."+l.Actor[:strings.IndexAny(l.Actor, "/:")] {
			t.Fatalf("%s: %v", line, err)
		}
		list = append(list, fmt.Sprintf("%s of %s loaded %v", l.Actor, strings.Join(l.Owners, " "), l.Loaded))
	}
	slices.Sort(list)
	return list
}

// What cannot be shown is refused. The public door shows nothing: every program of the machine reaches that.
func TestWhatIsNotShown(t *testing.T) {
	s := serveDepot(t)
	if got := s.post("/v1/Depot/gone/close", ""); got.status != http.StatusNoContent {
		t.Fatalf("close: %d %s", got.status, got.body)
	}
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{httpdoor.ActorPath, 400, `arguments no : "" is neither CLASS/NAME`},
		{httpdoor.ActorPath + "?name=Depot", 400, `arguments no : "Depot" is neither CLASS/NAME`},
		{httpdoor.ActorPath + "?name=Depot/gone", 404, "not-found no : there is no actor depot.Depot/gone"},
		{httpdoor.ActorPath + "?name=Depo/a", 404, "not-found no : the program has no actorclass Depo, did you mean Depot?"},
		{httpdoor.ActorPath + "?name=Depot:1:7", 404, "not-found no : there is no actor 1:7"},
		{httpdoor.ActorsPath + "?class=Depo", 404, "not-found no : the program has no actorclass Depo, did you mean Depot?"},
		{httpdoor.ActorsPath + "?limit=-1", 400, `arguments no : limit: "-1" is no number of actors`},
	} {
		got := s.ask("GET", c.path, "")
		if text := problem(t, got); got.status != c.status || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.path, got.status, text, c.status, c.want)
		}
	}
	public := serveProgram(t, &depot.AeonPackage, httpdoor.Config{})
	public.post("/v1/Depot/a/fill", `{"from":0,"n":1}`)
	for _, path := range []string{httpdoor.ActorPath + "?name=Depot/a", httpdoor.ActorsPath} {
		if got := public.ask("GET", path, ""); got.status != http.StatusNotFound || !strings.Contains(got.body, "there is nothing at "+strings.SplitN(path, "?", 2)[0]) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
