package door

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/depot"
)

// restart ends the program, and starts it anew with what its store has.
func (s *served) restart() *served {
	s.t.Helper()
	s.Close()
	s.end()
	next := openOn(s.t, s.of, s.on.Reopen(), door.RemoteLimits{}, runtime.RealClock{})
	next.listen(httpdoor.Config{})
	return next
}

// A request with a key that has deleted its target, which has no name, gets its first answer again after a restart. Without an outcome of
// its own a request to an actor that is gone has not happened.
func TestAKeyOutlivesAnActorWithoutAName(t *testing.T) {
	s := serve(t, httpdoor.Config{})
	var ref string
	if err := json.Unmarshal([]byte(s.post("/v1/Shop/main/open", `{"owner":"ann"}`).body), &ref); err != nil {
		t.Fatal(err)
	}
	cart := "/v1/Cart/" + strings.TrimPrefix(ref, "Cart")
	for run := range 3 {
		for range 2 {
			if got := s.post(cart+"/drop", "", "Idempotency-Key", "k"); got.status != 204 {
				t.Errorf("run %d: %d %s", run, got.status, got.body)
			}
		}
		if run > 0 {
			for _, key := range [][]string{nil, {"Idempotency-Key", "other"}} {
				got := s.post(cart+"/drop", "", key...)
				if text := problem(t, got); got.status != 404 || text != "not-found no : there is no actor "+ref {
					t.Errorf("run %d, key %q: %d %s", run, key, got.status, text)
				}
			}
			got := s.post(cart+"/add", `{"item":`+pen+`,"pieces":1}`, "Idempotency-Key", "k")
			if text := problem(t, got); got.status != 422 || text != "key-reused no : the key was used for another request to this actor" {
				t.Errorf("run %d, another method: %d %s", run, got.status, text)
			}
		}
		s = s.restart()
	}
	r := s.dial(httpdoor.Config{})
	r.empty()
	call := `{"key":"` + strings.TrimPrefix(ref, "Cart") + `"}`
	if got, err := r.call("shop.Cart/drop", call, "idempotency-key", "k"); err != nil || got != "{}" {
		t.Errorf("by gRPC: %s (%v)", got, err)
	}
	_, err := r.call("shop.Cart/drop", call, "idempotency-key", "other")
	if says := told(t, err); says != "NotFound not-found no : there is no actor "+ref {
		t.Errorf("by gRPC: %s", says)
	}
}

// An argument that refers to an actor which is not there leaves open whether a request with a key has happened before.
func TestArgumentsThatAreGone(t *testing.T) {
	s := serveProgram(t, &depot.AeonPackage, httpdoor.Config{})
	const want = "arguments no : last: there is no actor Depot:1:7"
	for _, key := range [][]string{nil, {"Idempotency-Key", "k"}} {
		want := want
		if key != nil {
			want = strings.Replace(want, " no ", " unknown ", 1)
		}
		got := s.post("/v1/Depot/main/closeAll", `{"others":[],"last":"Depot:1:7"}`, key...)
		if text := problem(t, got); got.status != 400 || !strings.HasPrefix(text, want) {
			t.Errorf("key %q: %d %s", key, got.status, text)
		}
	}
}
