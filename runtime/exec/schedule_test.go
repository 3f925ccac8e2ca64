package exec

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"testing"
)

// transcript writes everything that a traced run shows.
func transcript(trace []*traced) string {
	sort.Slice(trace, func(i, j int) bool { return trace[i].Order < trace[j].Order })
	var b strings.Builder
	for _, t := range trace {
		fmt.Fprintf(&b, "%v.%d %v on %v %d..%d..%d: %v; read %v, wrote %v;", t.ID, t.Attempt, t.Method, t.Target, t.Start, t.Order, t.End, t.Err, t.Reads, t.Writes)
		if x, ok := t.Args.(*wargs); ok && x != nil {
			x.write(&b)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (x *wargs) write(b *strings.Builder) {
	fmt.Fprintf(b, " %v %v", x.notes, x.made)
	for _, y := range x.calls {
		b.WriteString(" (")
		y.write(b)
		b.WriteString(")")
	}
}

// scheduled runs a workload under a seed and returns its transcript.
func scheduled(w workload, seed uint64) (string, error) {
	_, trace, err := w.traced(Config{Scheduled: true, Seed: seed}, nil)
	return transcript(trace), err
}

// mixedWorkload has all that may depend on the machine: many clients, branches, lanes,
// changes of ownership and the moves in T that follow from them.
var mixedWorkload = workload{seed: 7, goroutines: 8, events: 160, nodes: 6, edges: 12, changes: 15, later: 25}

func TestASeedIsOneInterleaving(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	runs := lessIfShort(50)
	want, err := scheduled(mixedWorkload, 42)
	mustNot(t, err)
	var rubbish [][]byte
	for i := range runs {
		runtime.GOMAXPROCS(1 + i%4)
		if i%3 == 0 {
			runtime.GC() // empties pools
		} else {
			rubbish = append(rubbish, make([]byte, 1<<16)) // moves the next collection
		}
		got, err := scheduled(mixedWorkload, 42)
		mustNot(t, err)
		if got != want {
			a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
			for k := range min(len(a), len(b)) {
				if a[k] != b[k] {
					t.Fatalf("run %d differs in event %d of %d:\n%s\n%s", i, k, len(a), a[k], b[k])
				}
			}
			t.Fatalf("run %d has %d events, the first %d", i, len(b), len(a))
		}
	}
	runtime.KeepAlive(rubbish)
	t.Logf("%d runs with one transcript of %d bytes", runs, len(want))
}

func TestSeedsAreDifferentInterleavings(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(lessIfShort(40)) {
		text, err := scheduled(mixedWorkload, seed)
		mustNot(t, err)
		if other, ok := seen[text]; ok {
			t.Errorf("seeds %d and %d are one interleaving", seed, other)
		}
		seen[text] = seed
	}
}
