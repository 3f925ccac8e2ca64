package kill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/spec/trace"
)

// life is one store from its creation to its end, through as many processes as are killed or told to end on the
// way, and all that they have answered.
type life struct {
	dir      string
	seed     uint64
	kills    int
	sessions []*answers
	rng      *rand.Rand
	figures  figures
	opened   bool  // the accounts are there
	ticks    int64 // notes that the log has got from the ticker
}

// figures are what the runs had.
type figures struct {
	kills, killedOpening  int
	ended, endedOpening   int           // by SIGTERM
	ending                time.Duration // the longest
	cutOff                int           // without events that still ran
	refused               int
	answered, aborted     int
	applied, unapplied    int // of the unknown requests
	again, audits         int
	recovery              []time.Duration
	events, commits, lost int
	torn, sections        int
}

// answers are what one session was answered, in order of the requests.
type answers struct {
	outcomes []string
	applied  bool // the request that is next has been applied, and was not answered
	asked    bool // the process that was killed may have begun it
	refused  bool // it has not, and has said so
}

func (a *answers) next() int64 { return int64(len(a.outcomes)) + 1 }

const (
	childWait  = 60 * time.Second // for a line of a child
	answersMax = 150              // before a child is killed
	endMax     = 10 * time.Second // that it may take to end when it is told to: its own limits on a machine with more to do
	exitTerm   = 128 + int(syscall.SIGTERM)
)

// run is one process.
type run struct {
	life  *life
	cmd   *exec.Cmd
	lines chan string // closed at its end
	err   bytes.Buffer
	how   fate
	notes map[int64]int64
	begun bool // the store was open
	ready bool // the first dump was there
	dumps int  // the second one is at rest
	rests int  // accounts that have told their receipts
}

// fate is how a process ends.
type fate uint8

const (
	killed fate = iota
	told        // by SIGTERM
	byItself
)

// live kills processes, tells some to end, and lets the last one end by itself.
func (l *life) live() error {
	l.rng = rand.New(rand.NewPCG(l.seed, 1))
	for l.figures.kills < l.kills {
		how := killed
		if l.rng.IntN(3) == 0 {
			how = told
		}
		if err := l.once(how); err != nil {
			return fmt.Errorf("seed %d, after %d kills and %d that were told to end: %w", l.seed, l.figures.kills, l.figures.ended, err)
		}
	}
	if err := l.once(byItself); err != nil {
		return fmt.Errorf("seed %d, at the end: %w", l.seed, err)
	}
	return l.checkTrace()
}

func (l *life) once(how fate) error {
	r := &run{life: l, how: how, lines: make(chan string, 1024)}
	o := order{Dir: filepath.Join(l.dir, "data"), Trace: l.traceFile(), Seed: l.seed, Last: how == byItself, Replicated: replicatest.Asked()}
	for _, a := range l.sessions {
		o.Next = append(o.Next, a.next())
	}
	if err := r.start(o); err != nil {
		return err
	}
	err := r.follow()
	if err == nil && how == told {
		err = r.tell()
	}
	r.kill() // if it has not ended
	for line := range r.lines {
		if err == nil {
			err = r.line(line)
		}
	}
	ended := r.cmd.Wait()
	if err == nil {
		err = r.ended(ended)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, r.err.String())
	}
	for _, a := range l.sessions {
		a.asked = a.asked || r.ready
	}
	return nil
}

// tell tells the process to end, and follows it to its end.
func (r *run) tell() error {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	start := time.Now()
	late := time.After(endMax)
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				f := &r.life.figures
				f.ended, f.ending = f.ended+1, max(f.ending, time.Since(start))
				if !r.ready {
					f.endedOpening++
				}
				return nil
			}
			if err := r.line(line); err != nil {
				return err
			}
		case <-late:
			return fmt.Errorf("the process was told to end %v ago", endMax)
		}
	}
}

// ended checks how the process has ended.
func (r *run) ended(err error) error {
	state := r.cmd.ProcessState
	switch {
	case r.how == killed && state.String() == "signal: killed":
	case r.how == byItself && err == nil:
		if r.dumps != 2 || r.rests != accounts {
			return fmt.Errorf("at its end the process has looked at everything %d times, and at %d of %d accounts one by one", r.dumps, r.rests, accounts)
		}
	case r.how == told && state.ExitCode() == exitTerm:
		if strings.Contains(r.err.String(), "ended without the events that still ran") {
			r.life.figures.cutOff++
		}
	case r.how == told && !r.begun && state.String() == "signal: terminated": // before it could listen
	default:
		return fmt.Errorf("the process has ended by itself: %v", state)
	}
	return nil
}

func (l *life) traceFile() string { return filepath.Join(l.dir, "trace.jsonl") }

func (r *run) start(o order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r.cmd = exec.Command(os.Args[0])
	r.cmd.Env = append(os.Environ(), childEnv+"=1")
	r.cmd.Stdin, r.cmd.Stderr = bytes.NewReader(text), &r.err
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	go r.readLines(out)
	return nil
}

// readLines reads all whole lines; it ends with the process.
func (r *run) readLines(out io.Reader) {
	defer close(r.lines)
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return // a line that is not whole was not said
		}
		r.lines <- strings.TrimSuffix(line, "\n")
	}
}

func (r *run) kill() {
	if err := r.cmd.Process.Kill(); err == nil && r.how == killed {
		r.life.figures.kills++
		if !r.ready {
			r.life.figures.killedOpening++
		}
	}
}

// follow reads lines until it is time to end the process: a third of the processes are ended within the
// time that opening takes, the others after some answers and a moment more.
func (r *run) follow() error {
	l := r.life
	never := make(<-chan time.Time)
	moment, left := never, 1+l.rng.IntN(answersMax)
	if opening := l.typicalRecovery(); l.opened && l.rng.IntN(3) == 0 {
		moment = time.After(time.Duration(l.rng.Int64N(int64(2*opening) + int64(50*time.Millisecond))))
	}
	if r.how == byItself {
		moment, left = never, -1
	}
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				return nil
			}
			if err := r.line(line); err != nil {
				return err
			}
			if strings.HasPrefix(line, "answer ") && left > 0 {
				if left--; left == 0 {
					moment = time.After(time.Duration(l.rng.IntN(3000)) * time.Microsecond)
				}
			}
		case <-moment:
			return nil
		case <-time.After(childWait):
			return fmt.Errorf("nothing from the process for %v", childWait)
		}
	}
}

func (l *life) typicalRecovery() time.Duration {
	if len(l.figures.recovery) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(l.figures.recovery))[len(l.figures.recovery)/2]
}

// line takes what the child says.
func (r *run) line(text string) error {
	l := r.life
	kind, rest, _ := strings.Cut(text, " ")
	switch kind {
	case "opened":
		r.begun = true
		var us int64
		if _, err := fmt.Sscan(rest, &us); err != nil {
			return err
		}
		l.figures.recovery = append(l.figures.recovery, time.Duration(us)*time.Microsecond)
		return nil
	case "audit":
		l.figures.audits++
		if rest != fmt.Sprint(accounts*each) {
			return fmt.Errorf("there are %s in all accounts and vaults, and should be %d", rest, accounts*each)
		}
		return nil
	case "notes":
		return r.takeNotes(rest)
	case "dump":
		r.ready, l.opened = true, true
		r.dumps++
		return r.takeDump(rest)
	case "rest":
		return r.takeRest(rest)
	case "answer", "again":
		return r.answer(kind == "again", rest)
	case "refused", "postponed":
		return r.refused(kind == "postponed", rest)
	}
	return fmt.Errorf("the process says: %s", text)
}

// answer takes the outcome of a request.
func (r *run) answer(again bool, rest string) error {
	parts := strings.SplitN(rest, " ", 3)
	var i, seq int64
	if _, err := fmt.Sscan(parts[0], &i); err != nil {
		return err
	}
	if _, err := fmt.Sscan(parts[1], &seq); err != nil {
		return err
	}
	outcome := parts[2]
	a, f := r.life.sessions[i], &r.life.figures
	if again {
		f.again++
		if before := a.outcomes[seq-1]; before != outcome {
			return fmt.Errorf("session %d, request %d: the outcome was %q, and is now %q", i, seq, before, outcome)
		}
		return nil
	}
	if seq != a.next() {
		return fmt.Errorf("session %d was answered request %d instead of %d", i, seq, a.next())
	}
	abort, aborted := strings.CutPrefix(outcome, "!")
	if aborted {
		f.aborted++
		if !strings.Contains(abort, " has ") {
			return fmt.Errorf("session %d, request %d: %s", i, seq, abort)
		}
		if a.applied {
			return fmt.Errorf("session %d, request %d was applied by the run before, and now aborts: %s", i, seq, abort)
		}
	}
	f.answered++
	a.outcomes, a.applied, a.asked = append(a.outcomes, outcome), false, false
	return nil
}

// refused takes that a request has not begun, or has begun a chain, which goes on in the next process.
func (r *run) refused(begun bool, rest string) error {
	var i int
	var seq int64
	if _, err := fmt.Sscan(rest, &i, &seq); err != nil {
		return err
	}
	a := r.life.sessions[i]
	if r.how != told || seq != a.next() {
		return fmt.Errorf("session %d was refused request %d", i, seq)
	}
	r.life.figures.refused++
	if p := draw(r.life.seed, i, seq); begun && p.kind != relay && p.kind != spin {
		return fmt.Errorf("session %d, request %d is to go on later, and is no chain", i, seq)
	}
	a.refused = !begun
	return nil
}

// checkTrace decides whether all runs together were strictly serialisable.
func (l *life) checkTrace() error {
	in, err := os.Open(l.traceFile())
	if err != nil {
		return err
	}
	defer in.Close()
	rep, err := trace.Check(in)
	if err != nil {
		return err
	}
	f := &l.figures
	f.sections, f.torn = len(rep.Sections), rep.Torn
	for i := range rep.Sections {
		s := &rep.Sections[i]
		f.events, f.commits, f.lost = f.events+s.Counts.Events, f.commits+s.Counts.Commits, f.lost+s.Counts.Lost
		if s.How != "" && s.Counts.Lost > 0 && f.cutOff == 0 {
			return fmt.Errorf("seed %d: run %d has ended in order, and %d events are lost", l.seed, s.Header.Run, s.Counts.Lost)
		}
	}
	if rep.Violated() > 0 {
		var text strings.Builder
		if err := rep.Write(&text); err != nil {
			return err
		}
		return fmt.Errorf("seed %d: the trace shows violations:\n%s", l.seed, text.String())
	}
	return nil
}
