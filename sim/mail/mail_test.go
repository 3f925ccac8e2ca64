package mail

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/generated"
	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/node"
	"github.com/aeon-lang/aeon/sim/mail/post"
	"github.com/aeon-lang/aeon/spec/trace"
)

var (
	kills = flag.Int("kills", 6, "how many processes are killed")
	seed  = flag.Uint64("kill.seed", 0, "of the moments; 0: another one each time")
)

const (
	tries     = 3  // of each call, as post.aeon says
	lettersUp = 40 // of one process, at most
	childWait = 60 * time.Second
)

// The child is told by its environment: where its files are, the first letter that it sends, whether it is the last one, and whether its
// store is on three replicas.
const dirEnv, firstEnv, lastEnv, replicatedEnv = "AEON_MAIL_DIR", "AEON_MAIL_FIRST", "AEON_MAIL_LAST", "AEON_MAIL_REPLICATED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirEnv); dir != "" {
		runChild(dir)
	}
	os.Exit(m.Run())
}

// runChild is the main function of a child: that of a program which aeonc builds.
func runChild(dir string) {
	os.Args = []string{"post", "--data", filepath.Join(dir, "data"), "--trace", filepath.Join(dir, "trace")}
	p := post.AeonPackage
	p.Main = func(cl *runtime.Client) {
		if err := perform(cl, filepath.Join(dir, "paper")); err != nil {
			fmt.Println("wrong", err)
		}
	}
	parts := node.PartsWith(nil)
	if os.Getenv(replicatedEnv) != "" {
		parts.Store = replicatest.ThreeIn(parts.Store)
	}
	runtime.Main(&p, runtime.With(parts))
}

// perform sends letters, and says which it has sent; the last child waits for the end of all calls, and says what the office knows.
func perform(cl *runtime.Client, paper string) error {
	office := post.OfficeRef{Ref: runtime.Named(cl, &post.AeonClassOffice, "office")}
	var first int64
	if _, err := fmt.Sscan(os.Getenv(firstEnv), &first); err != nil {
		return err
	}
	fmt.Println("ready")
	if os.Getenv(lastEnv) == "" {
		for id := first; id < first+lettersUp; id++ {
			send := office.Send
			if id%5 == 0 {
				send = office.Quiet
			}
			if err := send(cl, paper, id); err != nil {
				return err
			}
			fmt.Println("sent", id)
			if err := office.Waste(cl, paper, -id); err == nil {
				return fmt.Errorf("letter %d was wasted, and no event aborted", id)
			}
		}
		select {} // until it is killed, while calls go on
	}
	if err := runtime.SystemOf(cl).Quiesce(context.Background()); err != nil {
		return err
	}
	all, err := office.All(cl)
	if err != nil {
		return err
	}
	for _, l := range all.Items() {
		fmt.Println(l)
	}
	return nil
}

// letter is what is known of one.
type letter struct {
	sent, there    bool // said by a child, found in the office
	quiet, arrived bool
	keys           map[string]int // lines by key
}

// TestCallsOutliveKills kills processes while calls are tried. Each event that has committed has called at least once, under
// one key; no call belongs to an event that was undone; no call was tried more often than its tries and the
// restarts allow; and what follows a call came once.
func TestCallsOutliveKills(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	rng := rand.New(rand.NewPCG(first, 0))
	dir := t.TempDir()
	letters := map[int64]*letter{}
	of := func(id int64) *letter {
		if letters[id] == nil {
			letters[id] = &letter{keys: map[string]int{}}
		}
		return letters[id]
	}
	next := int64(1)
	for range *kills {
		run := start(t, dir, next, false)
		moment := time.After(childWait)
		for open := true; open; {
			select {
			case line, ok := <-run.lines:
				var id int64
				switch n, _ := fmt.Sscanf(line, "sent %d", &id); {
				case !ok:
					t.Fatalf("seed %d: the process has ended by itself: %s", first, run.err.String())
				case n == 1:
					of(id).sent = true
				case line == "ready": // killed while it sends, or later, while calls wait for their next try
					moment = time.After(time.Duration(rng.Int64N(int64(60 * time.Millisecond << (5 * rng.IntN(2))))))
				default:
					t.Fatalf("seed %d: the process says: %s", first, line)
				}
			case <-moment:
				open = false
			}
		}
		run.kill()
		for line := range run.lines {
			var id int64
			if n, _ := fmt.Sscanf(line, "sent %d", &id); n == 1 {
				of(id).sent = true
			}
		}
		next += lettersUp
	}
	run := start(t, dir, next, true)
	for line := range run.lines {
		var id, ends int64
		var arrived bool
		if n, _ := fmt.Sscanf(line, "letter %d %d %t", &id, &ends, &arrived); n != 3 {
			if line != "ready" {
				t.Errorf("seed %d: the process says: %s", first, line)
			}
			continue
		}
		l := of(id)
		l.there, l.quiet, l.arrived = true, id%5 == 0, arrived
		if ends != 1 {
			t.Errorf("seed %d: the office has learnt %d times how the call for letter %d has ended", first, ends, id)
		}
	}
	if err := run.cmd.Wait(); err != nil {
		t.Fatalf("seed %d: %v\n%s", first, err, run.err.String())
	}
	lines := readPaper(t, filepath.Join(dir, "paper"), of)
	failed, again := 0, 0
	owners := map[string]int64{}
	for id, l := range letters {
		switch {
		case l.sent && !l.there:
			t.Errorf("seed %d: letter %d was sent, and the office has lost it", first, id)
		case !l.there:
			t.Errorf("seed %d: letter %d is on the paper, under %v, and belongs to no event that has committed", first, id, l.keys)
		case len(l.keys) != 1:
			t.Errorf("seed %d: letter %d is on the paper under %d keys: %v", first, id, len(l.keys), l.keys)
		}
		for key, n := range l.keys {
			if n > tries+*kills {
				t.Errorf("seed %d: letter %d was written %d times, in %d tries and %d restarts", first, id, n, tries, *kills)
			}
			if other, ok := owners[key]; ok || key == "" {
				t.Errorf("seed %d: letters %d and %d have the key %q", first, id, other, key)
			}
			owners[key] = id
			if n > 1 {
				again++
			}
		}
		if l.there && !l.quiet && !l.arrived {
			failed++
		}
	}
	if lines == 0 || again == 0 {
		t.Errorf("seed %d: too little was tried: %d lines, %d letters more than once", first, lines, again)
	}
	checkTrace(t, filepath.Join(dir, "trace"))
	t.Logf("seed %d: %d kills, %d letters, %d lines, %d letters on more than one, %d failed at last", first, *kills, len(letters), lines, again, failed)
}

// readPaper reads what the calls have written, and returns how many whole lines that is.
func readPaper(t *testing.T, path string, of func(int64) *letter) (lines int) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var key string
		var at, id int64
		if n, _ := fmt.Sscanf(line, "%s %d letter %d\n", &key, &at, &id); n != 3 {
			t.Fatalf("a line of the paper is %q", line)
		}
		of(id).keys[key]++
		lines++
	}
	return lines
}

func checkTrace(t *testing.T, path string) {
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rep, err := trace.Check(in)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Violated() > 0 {
		var text strings.Builder
		_ = rep.Write(&text)
		t.Errorf("the trace shows violations:\n%s", text.String())
	}
}

// process is a child.
type process struct {
	cmd   *exec.Cmd
	lines chan string // closed at its end
	err   strings.Builder
}

func start(t *testing.T, dir string, first int64, last bool) *process {
	p := &process{cmd: exec.Command(os.Args[0]), lines: make(chan string, 2*lettersUp)}
	p.cmd.Env = append(os.Environ(), dirEnv+"="+dir, fmt.Sprint(firstEnv, "=", first))
	if last {
		p.cmd.Env = append(p.cmd.Env, lastEnv+"=yes")
	}
	if replicatest.Asked() {
		p.cmd.Env = append(p.cmd.Env, replicatedEnv+"=yes")
	}
	p.cmd.Stderr = &p.err
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() { // ends with the process
		defer close(p.lines)
		for in := bufio.NewReader(out); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				return // a line that is not whole was not said
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	go func() { _ = p.cmd.Wait() }()
}

// The program that is killed must be what aeonc makes of its source today.
func TestPostIsGenerated(t *testing.T) {
	if err := generated.Check(filepath.Join("..", ".."), "sim/mail/post"); err != nil {
		t.Error(err)
	}
}
