package door

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

var (
	kills    = flag.Int("kills", 3, "how often TestRequestsThroughKills kills the server")
	keys     = flag.Int("keys", 200, "how many requests with a key it sends at least")
	killSeed = flag.Uint64("kill.seed", 1, "of what it draws")
)

// build compiles the program with its doors.
func build(t *testing.T) (exe string) {
	t.Helper()
	exe, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// built is what build returns. It takes calls by HTTP and by gRPC, so that one program is made for all tests.
var built = sync.OnceValues(func() (exe string, err error) {
	p, err := load.NewLoader().Load(load.Unit{Dir: "shop", Files: []string{filepath.Join("shop", "shop.aeon")}})
	if err != nil {
		return "", err
	}
	made, err := gobuild.Compile(context.Background(), []*load.Package{p}, gobuild.Options{Kind: gobuild.Program, Name: "shop", Store: true, GRPC: true})
	if err != nil {
		return "", err
	}
	return made.Path, nil
})

// process is the program as it runs.
type process struct {
	cmd  *exec.Cmd
	url  string
	log  strings.Builder // what it has said; to be read when it has ended
	said chan struct{}   // closed then
}

// start starts the program, which goes on with the state in dir.
func start(t *testing.T, exe, dir string, flags ...string) *process {
	t.Helper()
	cmd := exec.Command(exe, append([]string{"--serve", "--create", "--data", dir, "--listen", "127.0.0.1:0"}, flags...)...)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd, said: make(chan struct{})}
	lines, log := bufio.NewScanner(said), io.MultiWriter(os.Stderr, &p.log)
	for lines.Scan() {
		fmt.Fprintln(log, lines.Text())
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			p.url = url
			go func() { // ends with the process
				defer close(p.said)
				for lines.Scan() {
					fmt.Fprintln(log, lines.Text())
				}
			}()
			return p
		}
	}
	t.Fatalf("the program ended before it listened: %v", cmd.Wait())
	return nil
}

// customer sends requests, each until it is answered.
type customer struct {
	t     *testing.T
	rnd   *rand.Rand
	url   *atomic.Pointer[string]        // of the server that runs now
	up    *atomic.Pointer[chan struct{}] // is closed while it runs
	count func(string)                   // what has happened to requests
}

// ask sends a request with a key until it is answered; its own connection breaks now and then, too.
func (c *customer) ask(path, body, key string) string {
	for {
		ctx, cancel := c.t.Context(), context.CancelFunc(func() {})
		if c.rnd.IntN(8) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(c.rnd.IntN(3000))*time.Microsecond)
		}
		status, text, err := c.send(ctx, path, body, key)
		cancel()
		switch {
		case err != nil && ctx.Err() != nil:
			c.count("given up by the client")
		case err != nil:
			c.count("lost")
			<-*c.up.Load()
		case status == http.StatusServiceUnavailable && strings.Contains(text, `"happened":"no"`):
			c.count("turned away")
		case status == http.StatusOK:
			return text
		default:
			c.t.Errorf("%s: %d %s", key, status, text)
			return ""
		}
	}
}

func (c *customer) send(ctx context.Context, path, body, key string) (status int, text string, err error) {
	r, err := http.NewRequestWithContext(ctx, "POST", *c.url.Load()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	return a.StatusCode, string(b), err
}

// Requests with keys are sent while the server is killed again and again, and while their own connections break. Each has
// taken effect once, and is answered alike however often it comes again.
func TestRequestsThroughKills(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), filepath.Join(t.TempDir(), "data")
	var url atomic.Pointer[string]
	p := start(t, exe, dir)
	url.Store(&p.url)
	var up atomic.Pointer[chan struct{}]
	running := make(chan struct{})
	close(running)
	up.Store(&running)
	var mu sync.Mutex
	counts := map[string]int{}
	answers := map[string]string{} // by key
	next, sum, killed := 0, 0, 0
	const customers = 6
	var end sync.WaitGroup
	for i := range customers {
		c := &customer{t: t, rnd: rand.New(rand.NewPCG(*killSeed, uint64(i))), url: &url, up: &up, count: func(what string) {
			mu.Lock()
			defer mu.Unlock()
			counts[what]++
		}}
		end.Go(func() {
			for !t.Failed() {
				mu.Lock()
				n := next
				if n >= *keys && killed >= *kills {
					mu.Unlock()
					return
				}
				next++
				mu.Unlock()
				key, path, amount := fmt.Sprint("key ", n), "/v1/Shop/main/add", 1+n%9
				if n%3 == 0 {
					path, amount = "/v1/Shop/main/later", 1+n%9
				}
				text := c.ask(path, fmt.Sprintf(`{"n":%d}`, amount), key)
				mu.Lock()
				answers[key], sum = text, sum+amount
				if n%3 == 0 {
					sum++
				}
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { // ends with the customers
		end.Wait()
		close(done)
	}()
	rnd := rand.New(rand.NewPCG(*killSeed, 1<<32))
	for alive := true; alive; {
		select {
		case <-done:
			alive = false
		case <-time.After(time.Duration(rnd.IntN(60)) * time.Millisecond):
			mu.Lock()
			now := killed < *kills
			mu.Unlock()
			if now {
				running := make(chan struct{})
				up.Store(&running)
				_ = p.cmd.Process.Kill() // it may have ended
				_ = p.cmd.Wait()         // which says that it was killed
				p = start(t, exe, dir)
				url.Store(&p.url)
				close(running)
				mu.Lock()
				killed++
				mu.Unlock()
			}
		}
	}
	last := &customer{t: t, rnd: rnd, url: &url, up: &up, count: func(string) {}}
	for n := range next {
		key, path := fmt.Sprint("key ", n), "/v1/Shop/main/add"
		if n%3 == 0 {
			path = "/v1/Shop/main/later"
		}
		if again := last.ask(path, fmt.Sprintf(`{"n":%d}`, 1+n%9), key); again != answers[key] {
			t.Errorf("%s was answered %q, and is answered %q when it comes again", key, answers[key], again)
		}
	}
	if total := last.ask("/v1/Shop/main/add", `{"n":0}`, "the total"); strings.TrimSpace(total) != fmt.Sprint(sum) {
		t.Errorf("the requests add up to %d, and the shop has counted %s", sum, total)
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program has ended with %v", err)
	}
	t.Logf("%d requests, %d kills; without an answer: %v", next, killed, counts)
}
