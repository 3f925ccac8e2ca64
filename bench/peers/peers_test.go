package peers

import (
	"testing"
	"time"

	"github.com/aeon-lang/aeon/bench/load"
)

// Each peer must do its job correctly before its speed means anything.
func TestPeersConserve(t *testing.T) {
	p := load.Plan{Callers: 8, Round: 50 * time.Millisecond, Rounds: 2, Warmup: 20 * time.Millisecond}
	for _, hot := range []bool{false, true} {
		res, err := load.Compare(p, OrderedMutexes(hot), ProtoTwoPhase(hot))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res {
			if r.OpsPerSec < 1 {
				t.Errorf("%s did nothing", r.System)
			}
			t.Logf("%-36s %12.0f/s", r.System, r.OpsPerSec)
		}
	}
	if _, err := load.Compare(p, ProtoAsk(10)); err != nil {
		t.Fatal(err)
	}
}
