package door

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/aeon-lang/aeon/internal/generated"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/metrics"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/sim/door/depot"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

func TestDepotIsWhatAeoncMakes(t *testing.T) {
	t.Parallel()
	if err := generated.Check(filepath.Join("..", ".."), "sim/door/depot"); err != nil {
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

func (s *served) show(t testing.TB, actor string) (got shown) {
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
	t.Parallel()
	s := serveDepot(t)
	path := "/v1/Depot/" + url.PathEscape("a/b c") + "/"
	size := 0
	for _, by := range []int{0, 1, -1, 4, 60, 200, -200, -62, 300, -301, 7} { // those are put in, or taken out
		if by < 0 {
			size += by
		}
		body := fmt.Sprintf(`{"from":%d,"n":%d}`, size, max(by, -by))
		if got := s.post(path+map[bool]string{true: "take", false: "fill"}[by < 0], body); got.status != http.StatusNoContent {
			t.Fatalf("%d of %s: %d %s", by, body, got.status, got.body)
		}
		if by > 0 {
			size += by
		}
		content := s.ask("GET", path+"content", "")
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(content.body), &want); err != nil {
			t.Fatalf("%v: %d %s", err, content.status, content.body)
		}
		want["Pallets"] = json.RawMessage("[]")
		got := s.show(t, "Depot/a/b c")
		if seen, _ := strconv.ParseUint(content.head.Get(httpdoor.PositionHeader), 10, 64); got.Actor != "Depot/a/b c" || got.Class != "depot.Depot" || got.Position < seen || seen == 0 {
			t.Errorf("%s of class %s at %d, which %d has seen", got.Actor, got.Class, got.Position, seen)
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
	shared, _, _ := strings.Cut(want[1], " ")
	if got := s.post("/v1/Depot/s%2Fouth/adopt", `{"p":"`+shared+`"}`); got.status != http.StatusNoContent {
		t.Fatalf("adopt: %d %s", got.status, got.body)
	}
	want[1] = shared + " of Depot/north Depot/s/outh loaded true"
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
		slices.Sort(l.Owners)
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
		{httpdoor.ActorsPath + "?limit=-1", 400, `arguments no : limit: "-1" is no number of lines`},
		{httpdoor.TimersPath + "?limit=x", 400, `arguments no : limit: "x" is no number of lines`},
	} {
		got := s.ask("GET", c.path, "")
		if text := problem(t, got); got.status != c.status || !strings.HasPrefix(text, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.path, got.status, text, c.status, c.want)
		}
	}
	got := s.ask("DELETE", httpdoor.DeadPath+"?all=true&event=1%", "")
	if text := problem(t, got); got.status != http.StatusBadRequest || !strings.HasPrefix(text, `arguments no : the query has "event=1%", which cannot be read`) {
		t.Errorf("all is to be forgotten, and an event that cannot be read: %d %s", got.status, text)
	}
	public := serveProgram(t, &depot.AeonPackage, httpdoor.Config{})
	public.post("/v1/Depot/a/fill", `{"from":0,"n":1}`)
	for _, path := range []string{httpdoor.ActorPath + "?name=Depot/a", httpdoor.ActorsPath} {
		if got := public.ask("GET", path, ""); got.status != http.StatusNotFound || !strings.Contains(got.body, "there is nothing at "+strings.SplitN(path, "?", 2)[0]) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// Damage is never shown as a state: the answer is an error, or is cut off if it has begun. The program goes on.
func TestDamageIsNotShown(t *testing.T) {
	t.Parallel()
	s := serveDepot(t)
	for _, n := range []int{1, 2000} {
		name := fmt.Sprint("of ", n)
		if got := s.post("/v1/Depot/"+url.PathEscape(name)+"/fill", fmt.Sprintf(`{"from":0,"n":%d}`, n)); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.body)
		}
		id, err := event.ParseActorID(s.show(t, "Depot/"+name).ID)
		if err != nil {
			t.Fatal(err)
		}
		var last []byte
		it := s.store.Scan(store.FieldsRange(id))
		for it.Next() {
			last = append(last[:0], it.Key()...)
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		b := s.store.NewBatch()
		b.Set(last, []byte("no row"))
		s.store.Append(b)
		a, err := http.Get(s.URL + httpdoor.ActorPath + "?name=" + url.QueryEscape("Depot/"+name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		switch {
		case n == 1 && (a.StatusCode != http.StatusInternalServerError || !strings.Contains(string(text), "the data is damaged: ")):
			t.Errorf("%d %s", a.StatusCode, text)
		case n > 1 && (a.StatusCode != http.StatusOK || !errors.Is(err, io.ErrUnexpectedEOF)):
			t.Errorf("%d, and %d bytes: %v", a.StatusCode, len(text), err)
		}
		a.Body.Close()
	}
	if got := s.ask("GET", "/readyz", ""); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// The figures are those of what was done, and Prometheus' own parser reads them.
func TestMetrics(t *testing.T) {
	s := serveDepot(t)
	for range 3 {
		s.post("/v1/Depot/a/fill", `{"from":0,"n":1}`)
	}
	s.ask("GET", "/v1/Depot/b/content", "")
	s.post("/v1/Depot/b/pack", `{"label":"x"}`)
	s.post("/v1/Depot/a/fil", "")
	s.post("/v1/Depot/a/fill", `{"from":0,"n":-1}`)
	s.post("/v1/Depot/a/fill", `{"from":9223372036854775807,"n":2}`)
	got := s.ask("GET", "/metrics", "")
	if kind := got.head.Get("Content-Type"); got.status != http.StatusOK || kind != metrics.ContentType {
		t.Fatalf("%d %s", got.status, kind)
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(strings.NewReader(got.body + "\n"))
	if err != nil {
		t.Fatalf("%v\n%s", err, got.body)
	}
	values := map[string]float64{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			values[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			name = f.GetName()
		}
	}
	for name, want := range map[string]float64{
		"aeon_program_info depot": 1, "aeon_events_undone_total": 1, "aeon_events_waiting": 0, "aeon_dead_letters_total": 0,
		"aeon_http_answers_total 200": 2, "aeon_http_answers_total 204": 4, "aeon_http_answers_total 404": 1, "aeon_http_answers_total 422": 1,
		"aeon_http_calls": 0, "aeon_http_call_seconds": 8, "aeon_actors_loaded": 3,
	} {
		if v, there := values[name]; !there || v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	for _, grows := range []string{"aeon_events_committed_total", "aeon_journal_position", "aeon_journal_durable_position", "aeon_journal_sync_seconds"} {
		if values[grows] < 5 && (grows != "aeon_journal_sync_seconds" || values[grows] < 1) {
			t.Errorf("%s is %v", grows, values[grows])
		}
	}
	for _, some := range []string{"go_goroutines", "go_memstats_heap_alloc_bytes", "process_start_time_seconds"} {
		if values[some] <= 0 {
			t.Errorf("%s is %v", some, values[some])
		}
	}
	for name, f := range families {
		if own, _, _ := strings.Cut(name, "_"); f.GetHelp() == "" || own != "aeon" && own != "go" && own != "process" || f.GetType() == dto.MetricType_COUNTER != strings.HasSuffix(name, "_total") {
			t.Errorf("%v %s has the help %q", f.GetType(), name, f.GetHelp())
		}
	}
}

// A program is ready until it closes, or its store has failed.
func TestReadiness(t *testing.T) {
	s := serveDepot(t)
	if got := s.ask("GET", "/readyz", ""); got.status != http.StatusOK || got.body != "ok" {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.sys.Close()
	got := s.ask("GET", "/readyz", "")
	if text := problem(t, got); got.status != http.StatusServiceUnavailable || got.head.Get("Retry-After") == "" || text != "unavailable no : not ready: the system is closed" {
		t.Errorf("%d %s", got.status, text)
	}
	if got := s.ask("GET", "/healthz", ""); got.status != http.StatusOK {
		t.Errorf("the process lives, and says %d %s", got.status, got.body)
	}
	got = s.ask("GET", httpdoor.ActorsPath, "")
	if text := problem(t, got); got.status != http.StatusServiceUnavailable || !strings.HasPrefix(text, "unavailable no") {
		t.Errorf("a list of a closed system: %d %s", got.status, text)
	}
}

func TestAStoreThatHasFailedIsNotReady(t *testing.T) {
	s := serveDepot(t)
	s.fails = true
	s.store.Fail(errors.New("EIO"))
	got := s.ask("GET", "/readyz", "")
	if text := problem(t, got); got.status != http.StatusServiceUnavailable || !strings.HasSuffix(text, "EIO") {
		t.Errorf("%d %s", got.status, text)
	}
}

// An event that waits is listed with what it waits for, until it need not wait.
func TestWaits(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	s.listen(httpdoor.Config{Control: true})
	if got := s.ask("GET", httpdoor.WaitsPath, ""); got.status != http.StatusOK || got.body != "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with the request
		defer close(reader)
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/Shop/main/spin?rounds=1000000000000", nil)
		if err == nil {
			_, err = http.DefaultClient.Do(r)
		}
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	go func() { // ends with the reader
		defer close(ended)
		for ctx.Err() == nil { // the last one waits for the reader
			if got := s.post("/v1/Shop/main/add", `{"n":1}`); got.status != http.StatusOK {
				t.Error(got)
			}
		}
	}()
	var w door.Wait
	for w.Method != "Shop.add" { // the reader may have had to wait for a first one
		if text := s.ask("GET", httpdoor.WaitsPath, "").body; text != "" {
			w = door.Wait{}
			if err := json.Unmarshal([]byte(strings.SplitN(text, "\n", 2)[0]), &w); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
		}
	}
	if w.Target != "Shop/main" || w.At != "Shop/main" || w.Wants != "write" || w.For != "" && w.ForMethod != "Shop.spin" || w.Why == "" {
		t.Errorf("%+v", w)
	}
	cancel()
	<-reader
	<-ended
	if list := s.sys.WaitGraph(nil); len(list) > 0 {
		t.Errorf("%+v waits yet", list)
	}
}
