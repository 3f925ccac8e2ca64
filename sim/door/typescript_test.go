package door

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/codegen/typescript"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/typecheck"
)

var tsc = flag.String("tsc", "", "the TypeScript compiler, with which TestTypeScript checks its client, to be run by node")

// The client of the shop is generated again after each change of it, or of the generator.
func TestTypeScriptIsWhatAeoncMakes(t *testing.T) {
	p, err := load.NewLoader().Load(load.Unit{Dir: "shop", Files: []string{filepath.Join("shop", "shop.aeon")}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("shop", "shop.ts")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(typescript.Generate([]*typecheck.Info{p.Info}), want) {
		t.Errorf("%s is not what aeonc generates; run: go run ./cmd/aeonc gen --ts -o sim/door/shop/shop.ts sim/door/shop", file)
	}
}

// relay has an address that stays, and hands connections on to the server that runs. It breaks them now and then.
type relay struct {
	net.Listener
	to     atomic.Pointer[string]
	breaks atomic.Bool
	end    sync.WaitGroup
	broken atomic.Int64
}

func newRelay(t *testing.T) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	t.Cleanup(func() {
		r.Close()
		r.end.Wait()
	})
	r.end.Go(func() {
		rnd := rand.New(rand.NewPCG(*killSeed, 7))
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(*r.to.Load(), "http://"))
			if err != nil {
				in.Close()
				continue
			}
			if r.breaks.Load() && rnd.IntN(2) == 0 {
				r.broken.Add(1)
				time.AfterFunc(time.Duration(rnd.IntN(100))*time.Millisecond, func() { in.Close() })
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				r.end.Go(func() {
					_, _ = io.Copy(pair[0], pair[1]) // it ends when either side does
					in.Close()
					out.Close()
				})
			}
		}
	})
	return r
}

// A client in TypeScript, as tsc --strict accepts it, reads and writes values of every type and receives callbacks; while the
// server is killed and connections break each of its requests takes effect once, and no callback comes twice.
func TestTypeScript(t *testing.T) {
	if *tsc == "" {
		t.Log("run with -tsc PATH, where node and the TypeScript compiler are")
		return
	}
	dir := t.TempDir()
	for name, from := range map[string]string{"shop.ts": filepath.Join("shop", "shop.ts"), "check.ts": filepath.Join("testdata", "check.ts")} {
		text, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command(*tsc, "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom,dom.iterable", "check.ts")
	compile.Dir = dir
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exe, data := build(t), filepath.Join(dir, "data")
	p := start(t, exe, data)
	r := newRelay(t)
	r.to.Store(&p.url)
	node := func(args ...string) (out string, err error) {
		cmd := exec.Command("node", append([]string{filepath.Join(dir, "check.js"), "http://" + r.Addr().String()}, args...)...)
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	if out, err := node(); err != nil || !strings.HasSuffix(out, "done\n") {
		t.Fatalf("%v\n%s", err, out)
	}
	r.breaks.Store(true)
	ended := make(chan struct{})
	go func() { // ends with node
		defer close(ended)
		out, err := node("kills", fmt.Sprint(*keys))
		if err != nil || !strings.HasSuffix(out, "done\n") {
			t.Errorf("%v\n%s", err, out)
		}
		t.Log(out)
	}()
	killed := 0
	rnd := rand.New(rand.NewPCG(*killSeed, 8))
	for alive := true; alive; {
		select {
		case <-ended:
			alive = false
		case <-time.After(time.Duration(50+rnd.IntN(300)) * time.Millisecond):
			if killed < *kills {
				_ = p.cmd.Process.Kill() // it may have ended
				_ = p.cmd.Wait()         // which says that it was killed
				p = start(t, exe, data)
				r.to.Store(&p.url)
				killed++
			}
		}
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	t.Logf("%d kills, %d connections were broken", killed, r.broken.Load())
}
