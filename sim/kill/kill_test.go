package kill

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/generated"
)

var (
	kills = flag.Int("kills", 0, "how many processes are killed, half as many beside them told to end; 0: as many as fit a run of all tests")
	seed  = flag.Uint64("kill.seed", 0, "of the requests and of the moments; 0: another one each time")
	kept  = flag.String("kill.keep", "", "a `directory` for stores and traces, which stay if something is wrong")
)

const (
	killsShort   = 36
	killsPerLife = 50 // of one store: its end looks at everything
	sessions     = 6
)

// childEnv makes the test a child.
const childEnv = "AEON_KILL_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		runChild()
	}
	os.Exit(m.Run())
}

func newLife(dir string, seed uint64, kills int) *life {
	l := &life{dir: dir, seed: seed, kills: kills}
	for range sessions {
		l.sessions = append(l.sessions, &answers{})
	}
	return l
}

func chosenSeed() uint64 {
	if *seed != 0 {
		return *seed
	}
	return uint64(time.Now().UnixNano())
}

// TestKilledProcessesLoseNothing kills processes, or tells them to end, under load, and while they open.
func TestKilledProcessesLoseNothing(t *testing.T) {
	n, first := *kills, chosenSeed()
	if n == 0 {
		n = killsShort
	}
	base := *kept
	if base == "" {
		base = t.TempDir()
	}
	var all figures
	for i := uint64(0); all.kills < n; i++ {
		dir := filepath.Join(base, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		l := newLife(dir, first+i, min(killsPerLife, n-all.kills))
		if err := l.live(); err != nil {
			t.Fatal(err)
		}
		all.add(&l.figures)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if all.kills < min(n, 30) || all.ended == 0 || all.applied == 0 || all.unapplied == 0 || all.audits == 0 || all.again == 0 {
		t.Errorf("too little was tried")
	}
	t.Logf("seed %d: %s", first, &all)
}

func (f *figures) add(g *figures) {
	f.kills, f.killedOpening = f.kills+g.kills, f.killedOpening+g.killedOpening
	f.ended, f.endedOpening, f.cutOff = f.ended+g.ended, f.endedOpening+g.endedOpening, f.cutOff+g.cutOff
	f.refused, f.ending = f.refused+g.refused, max(f.ending, g.ending)
	f.answered, f.aborted, f.again, f.audits = f.answered+g.answered, f.aborted+g.aborted, f.again+g.again, f.audits+g.audits
	f.applied, f.unapplied = f.applied+g.applied, f.unapplied+g.unapplied
	f.recovery = append(f.recovery, g.recovery...)
	f.events, f.commits, f.lost = f.events+g.events, f.commits+g.commits, f.lost+g.lost
	f.sections, f.torn = f.sections+g.sections, f.torn+g.torn
}

func (f *figures) String() string {
	times := slices.Sorted(slices.Values(f.recovery))
	return fmt.Sprintf("%d kills, %d of them before the process was ready; %d told to end, %d of them before, which took %v (max), %d without events that still ran; "+
		"%d requests answered, %d of them aborts, %d asked again, %d refused; unknown at the end: %d turned out applied, %d not; %d audits; recovery %v (p50), %v (max); trace: %d events in %d runs, %d lost with a crash, %d torn lines",
		f.kills, f.killedOpening, f.ended, f.endedOpening, f.ending, f.cutOff, f.answered, f.aborted, f.again, f.refused, f.applied, f.unapplied, f.audits,
		times[len(times)/2], times[len(times)-1], f.events, f.sections, f.lost, f.torn)
}

// The program that is killed must be what aeonc makes of its source today.
func TestLedgerIsGenerated(t *testing.T) {
	if err := generated.Check(filepath.Join("..", ".."), "sim/kill/ledger"); err != nil {
		t.Error(err)
	}
}
