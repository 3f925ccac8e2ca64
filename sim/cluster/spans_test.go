//go:build linux

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/spantree"
)

// spans is the file into which a node exports the spans that callers ask for.
func (w *world) spans(i int) string { return filepath.Join(w.dir, fmt.Sprintf("spans%d.jsonl", i)) }

// callInTraces calls a method through each node, each time in another trace of the caller.
func (w *world) callInTraces() {
	w.t.Helper()
	for i := range nodes {
		w.callInTrace(i, i+1, http.MethodGet, "/v1/Counter/main/get", "")
	}
}

// callInTrace makes a call by way of node i in a trace of the caller, below its span 77.
func (w *world) callInTrace(i, trace int, method, path, body string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, "http://"+w.http[i]+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Traceparent", fmt.Sprintf("00-%032x-%016x-01", trace, 77))
	answer, err := sender.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = answer.Body.Close() // the answer does not count
	if answer.StatusCode != http.StatusOK {
		w.t.Fatal(answer.Status)
	}
}

// exported returns what the nodes have exported, which have ended, and the node of each span.
func (w *world) exported() (list []*spantree.Span, at map[*spantree.Span]int) {
	w.t.Helper()
	at = make(map[*spantree.Span]int)
	for i := range nodes {
		b, err := os.ReadFile(w.spans(i))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range spantree.Read(w.t, b) {
			list = append(list, s)
			at[s] = i
		}
	}
	return list, at
}

// checkGives checks the spans of a call of give in a trace of each node: the purses, wherever they are, are below the event.
func (w *world) checkGives() {
	w.t.Helper()
	list, _ := w.exported()
	for i := range nodes {
		trace := slices.DeleteFunc(slices.Clone(list), func(s *spantree.Span) bool {
			return s.Trace != fmt.Sprintf("%032x", i+1) || strings.HasPrefix(s.GetName(), "wait ")
		})
		give := slices.IndexFunc(trace, func(s *spantree.Span) bool { return s.GetName() == "Till.give" })
		fills := slices.DeleteFunc(slices.Clone(trace), func(s *spantree.Span) bool {
			return give < 0 || s.GetName() != "Purse.fill" || s.Parent != trace[give].ID
		})
		if len(fills) != 2 {
			w.t.Errorf("the spans of a call through node %d:\n%s", i, spantree.Trees(trace))
		}
	}
}

// checkSpans checks what nodes have exported of the calls of callInTraces, when all of them have ended: what the leader has done is below the span of the
// front that has forwarded the call.
func (w *world) checkSpans() {
	w.t.Helper()
	list, at := w.exported()
	for i := range nodes {
		var path []string
		leader := -1
		for below := fmt.Sprintf("%016x", 77); ; {
			k := slices.IndexFunc(list, func(s *spantree.Span) bool { return s.Trace == fmt.Sprintf("%032x", i+1) && s.Parent == below })
			if k < 0 {
				break
			}
			path = append(path, fmt.Sprintf("%s by node %d", list[k].GetName(), at[list[k]]))
			below = list[k].ID
			if list[k].GetName() == "Counter.get" {
				leader = at[list[k]]
			}
		}
		want := []string{fmt.Sprintf("GET /v1/Counter/{key}/get by node %d", leader), fmt.Sprintf("Counter.get by node %d", leader)}
		if i != leader {
			want = slices.Insert(want, 0, fmt.Sprintf("forward GET /v1/{class}/{key}/{method} by node %d", i))
		}
		if len(path) < len(want) || !slices.Equal(path[:len(want)], want) { // below the event are its waits
			w.t.Errorf("the spans of a call through node %d, while node %d led:\n%s", i, leader, strings.Join(path, "\n"))
		}
	}
}
