package embed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/sim/embed/hall"
)

func TestGeneratedIsCurrent(t *testing.T) {
	cmd := exec.Command("go", "run", "./cmd/aeonc", "gen", "--check", "./sim/embed/hall")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func mustNot(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened opens a hall whose log is returned.
func opened(t *testing.T, opts ...aeon.Option) (*hall.DB, hall.Hall, *log) {
	t.Helper()
	l := &log{}
	if len(opts) == 0 {
		opts = append(opts, aeon.InMemory())
	}
	db, err := hall.Open(t.Context(), append(opts, aeon.Logger(slog.New(slog.NewTextHandler(l, nil))))...)
	mustNot(t, err)
	t.Cleanup(func() { mustNot(t, db.Close()) })
	return db, db.Hall("main"), l
}

// log keeps what is logged.
type log struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.Buffer.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.Buffer.String()
}

// guest is a hall.GuestCallbacks and a hall.UsherCallbacks that calls functions; those that are nil do nothing.
type guest struct {
	freed   func(ctx context.Context, seat hall.Seat, count int64, next hall.Guest)
	called  func(ctx context.Context, seats map[string][]hall.Seat, in hall.Hall)
	closing func(ctx context.Context)
	heard   func(ctx context.Context, what string, count int64)
}

func (g *guest) Freed(ctx context.Context, seat hall.Seat, count int64, next hall.Guest) {
	if g.freed != nil {
		g.freed(ctx, seat, count, next)
	}
}

func (g *guest) Called(ctx context.Context, seats map[string][]hall.Seat, in hall.Hall) {
	if g.called != nil {
		g.called(ctx, seats, in)
	}
}

func (g *guest) Closing(ctx context.Context) {
	if g.closing != nil {
		g.closing(ctx)
	}
}

func (g *guest) Heard(ctx context.Context, what string, count int64) {
	if g.heard != nil {
		g.heard(ctx, what, count)
	}
}

var seat = hall.Seat{Row: hall.RowBACK, Number: 7, Code: []byte("\xff\x00")}

// Callbacks of one client come one at a time, those of all its objects in the order of the commits, each once, and none of an
// event that was undone.
func TestCallbacksComeInOrder(t *testing.T) {
	for _, where := range []aeon.Option{aeon.InMemory(), aeon.Dir(t.TempDir())} {
		ctx := t.Context()
		db, h, _ := opened(t, where)
		c := db.NewClient()
		defer c.Close()
		const calls, times = 20, 5
		var got []string // callbacks come one at a time: -race would tell
		all := make(chan struct{})
		note := func(what string, count int64) {
			if got = append(got, fmt.Sprint(what, count)); len(got) == 2*4*calls*times {
				close(all)
			}
		}
		var g hall.Guest
		g = hall.NewGuest(c, &guest{freed: func(_ context.Context, s hall.Seat, count int64, next hall.Guest) {
			if !reflect.DeepEqual(s, seat) || next != g {
				t.Errorf("the guest was told of %v, and %v", s, next)
			}
			note("freed ", count)
		}})
		mustNot(t, h.Wait(ctx, g))
		mustNot(t, h.Hire(ctx, hall.NewUsher(c, &guest{heard: func(_ context.Context, what string, count int64) { note("heard ", count) }})))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range calls {
					if err := h.Revoke(ctx, seat); !errors.Is(err, aeon.ErrAborted) {
						t.Error(err)
					}
					if _, err := h.Release(ctx, seat, times); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		<-all
		for i, text := range got {
			if want := fmt.Sprint([]string{"freed ", "heard "}[i%2], i/2+1); text != want {
				t.Fatalf("callback %d is %s, want %s", i, text, want)
			}
		}
	}
}

// told makes a guest of c wait, which hands each callback over.
func told(t *testing.T, c *aeon.Client, h hall.Hall) (hall.Guest, <-chan int64) {
	t.Helper()
	counts := make(chan int64, 100)
	g := hall.NewGuest(c, &guest{freed: func(_ context.Context, _ hall.Seat, count int64, _ hall.Guest) { counts <- count }})
	mustNot(t, h.Wait(t.Context(), g))
	return g, counts
}

// A callback that panics, or ends its goroutine, concerns itself alone.
func TestCallbackThatPanics(t *testing.T) {
	ctx := t.Context()
	db, h, log := opened(t)
	c := db.NewClient()
	counts := make(chan int64, 10)
	mustNot(t, h.Wait(ctx, hall.NewGuest(c, &guest{freed: func(_ context.Context, _ hall.Seat, count int64, _ hall.Guest) {
		switch counts <- count; count {
		case 1:
			panic("oh no")
		case 2:
			runtime.Goexit()
		}
	}})))
	mustNot(t, release(ctx, h, seat, 3))
	for want := int64(1); want <= 3; want++ {
		if n := <-counts; n != want {
			t.Errorf("callback %d came, want %d", n, want)
		}
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
	c.Close()
	<-c.Done()
	mustNot(t, release(ctx, h, seat, 1)) // its callback is dropped before it is counted
	var metrics bytes.Buffer
	mustNot(t, db.WriteMetrics(&metrics))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(&metrics)
	mustNot(t, err)
	for name, want := range map[string]float64{"aeon_go_clients": 0, "aeon_go_callbacks_total": 3, "aeon_go_callback_panics_total": 1, "aeon_go_callback_bytes": 0, "aeon_events_committed_total": 3} {
		if m := parsed[name].GetMetric(); len(m) != 1 || m[0].GetCounter().GetValue()+m[0].GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, m, want)
		}
	}
	if text := log.String(); strings.Count(text, "panicked") != 1 || !strings.Contains(text, "callback=Guest.freed") || !strings.Contains(text, "oh no") || !strings.Contains(text, "callbacks_test.go") {
		t.Errorf("the log is %s", text)
	}
}

func release(ctx context.Context, h hall.Hall, s hall.Seat, times int64) error {
	_, err := h.Release(ctx, s, times)
	return err
}

// A callback that does not return holds up its own client: neither actors nor other clients. What waits is bounded.
func TestSlowCallbacks(t *testing.T) {
	for name, opts := range map[string][]aeon.ClientOption{
		"by number": {aeon.KeptMax(3, 1<<20)},
		"by bytes":  {aeon.KeptMax(1000, 3*(1000+200))},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			db, h, log := opened(t)
			c, other := db.NewClient(opts...), db.NewClient()
			var began, ended []int64
			inside, leave := make(chan struct{}, 10), make(chan struct{})
			mustNot(t, h.Wait(ctx, hall.NewGuest(c, &guest{freed: func(ctx context.Context, _ hall.Seat, count int64, _ hall.Guest) {
				began = append(began, count)
				inside <- struct{}{}
				<-leave
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), aeon.ErrOverflow) {
					t.Error(context.Cause(ctx))
				}
				ended = append(ended, count)
			}})))
			large := seat
			large.Code = make([]byte, 1000)
			mustNot(t, release(ctx, h, large, 1))
			<-inside
			_, counts := told(t, other, h)
			mustNot(t, release(ctx, h, large, 3))
			for range 3 {
				<-counts
			}
			if c.Err() != nil { // all callbacks of the events before were delivered, of c too
				t.Errorf("3 callbacks wait, and the client has ended: %v", c.Err())
			}
			mustNot(t, release(ctx, h, large, 1))
			if n := <-counts; n != 5 {
				t.Errorf("the other client was told of %d", n)
			}
			for c.Err() == nil {
				runtime.Gosched()
			}
			select {
			case <-c.Done():
				t.Error("Done is closed while a callback is under way")
			default:
			}
			close(leave)
			<-c.Done()
			if err := c.Err(); !errors.Is(err, aeon.ErrOverflow) || fmt.Sprint(began, ended) != "[1] [1]" {
				t.Errorf("the client has ended with %v; callbacks: %v %v", err, began, ended)
			}
			mustNot(t, release(ctx, h, seat, 1))
			if n := <-counts; n != 6 || other.Err() != nil {
				t.Errorf("the other client was told of %d, %v", n, other.Err())
			}
			if text := log.String(); !strings.Contains(text, "too many callbacks wait") {
				t.Errorf("the log is %s", text)
			}
		})
	}
}

// No callback begins after Close has returned; a callback may call it.
func TestClosedClientsReceiveNothing(t *testing.T) {
	ctx := t.Context()
	db, h, _ := opened(t)
	c, other := db.NewClient(), db.NewClient()
	calls := 0
	g := hall.NewGuest(c, &guest{freed: func(ctx context.Context, _ hall.Seat, count int64, _ hall.Guest) {
		calls++
		c.Close()
		if !errors.Is(ctx.Err(), context.Canceled) || !errors.Is(context.Cause(ctx), aeon.ErrClosed) {
			t.Errorf("the context of the callback: %v", context.Cause(ctx))
		}
	}})
	mustNot(t, h.Wait(ctx, g))
	mustNot(t, release(ctx, h, seat, 10))
	<-c.Done()
	c.Close()
	if !errors.Is(c.Err(), aeon.ErrClosed) {
		t.Error(c.Err())
	}
	_, counts := told(t, other, h)
	mustNot(t, h.Wait(ctx, hall.NewGuest(c, &guest{freed: func(context.Context, hall.Seat, int64, hall.Guest) { calls++ }}))) // it leads nowhere
	mustNot(t, release(ctx, h, seat, 1))
	if <-counts; calls != 1 {
		t.Errorf("%d callbacks", calls)
	}
	if list, err := h.Guests(ctx); err != nil || len(list) != 3 || list[0] != g {
		t.Errorf("the guests are %v, %v", list, err)
	}
}

// Close of a program calls the callbacks of what has happened, and then ends the clients.
func TestCloseCallsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		db, h, _ := opened(t)
		c := db.NewClient()
		var counts []int64
		leave := make(chan struct{})
		g := hall.NewGuest(c, &guest{
			freed: func(ctx context.Context, _ hall.Seat, count int64, _ hall.Guest) {
				<-leave
				counts = append(counts, count)
			},
			closing: func(ctx context.Context) {
				if _, err := h.Told(ctx); !errors.Is(err, aeon.ErrClosed) {
					t.Errorf("a call while the program closes: %v", err)
				}
				counts = append(counts, -1)
			},
		})
		mustNot(t, h.Wait(ctx, g))
		mustNot(t, release(ctx, h, seat, 100))
		mustNot(t, h.Say(ctx))
		closed := make(chan error)
		go func() { closed <- db.Close() }()
		synctest.Wait() // Close waits for the callbacks
		if _, err := h.Told(ctx); !errors.Is(err, aeon.ErrClosed) {
			t.Errorf("a call while the program closes: %v", err)
		}
		close(leave)
		mustNot(t, <-closed)
		<-c.Done()
		if len(counts) != 101 || counts[99] != 100 || counts[100] != -1 || !errors.Is(c.Err(), aeon.ErrClosed) {
			t.Errorf("callbacks: %v, %v", counts, c.Err())
		}
		late := db.NewClient()
		if <-late.Done(); !errors.Is(late.Err(), aeon.ErrClosed) {
			t.Error(late.Err())
		}
	})
}

// When a program is opened again, what its actors keep of clients leads nowhere, and is refused from outside.
func TestClientsEndWithTheProgram(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	db, h, _ := opened(t, aeon.Dir(dir))
	mustNot(t, h.Wait(ctx, hall.NewGuest(db.NewClient(), &guest{freed: func(context.Context, hall.Seat, int64, hall.Guest) {
		t.Error("a client of a program that was closed is told")
	}})))
	mustNot(t, db.Close())

	db, h, _ = opened(t, aeon.Dir(dir))
	_, again := told(t, db.NewClient(), h)
	mustNot(t, release(ctx, h, seat, 1))
	if n := <-again; n != 1 {
		t.Errorf("the new client was told of %d", n)
	}
	list, err := h.Guests(ctx)
	mustNot(t, err)
	if err := h.Wait(ctx, text(t, list[0].String())); !errors.Is(err, aeon.ErrArguments) || !strings.Contains(err.Error(), "there is no client object") {
		t.Errorf("an object of the program before it was closed was passed: %v", err)
	}
}

// Objects of clients are values: comparable, in JSON, within value classes, and refused where they are not those of the program.
func TestClientObjects(t *testing.T) {
	ctx := t.Context()
	db, h, _ := opened(t)
	c := db.NewClient()
	called := make(chan map[string][]hall.Seat, 1)
	g := hall.NewGuest(c, &guest{called: func(_ context.Context, seats map[string][]hall.Seat, in hall.Hall) {
		if in != h {
			t.Errorf("called in %v", in)
		}
		called <- seats
	}})
	for _, v := range []hall.Visitor{{Name: "ann", Guest: g}, {Name: "bob"}} {
		mustNot(t, h.Visit(ctx, v))
		data, err := json.Marshal(v)
		mustNot(t, err)
		var read hall.Visitor
		mustNot(t, json.Unmarshal(data, &read))
		mustNot(t, h.Visit(ctx, read))
	}
	all, err := h.All(ctx)
	if err != nil || len(all) != 4 || all[0] != all[1] || all[0].Guest != g || all[2] != all[3] || !all[2].Guest.IsZero() {
		t.Errorf("visitors: %v, %v", all, err)
	}
	mustNot(t, h.Wait(ctx, all[1].Guest))
	seats := map[string][]hall.Seat{"ann": {seat, seat}, "": {}}
	mustNot(t, h.Call(ctx, seats))
	if got := <-called; !reflect.DeepEqual(got, seats) {
		t.Errorf("called with %v", got)
	}
	other, _, _ := opened(t)
	stranger := hall.NewGuest(other.NewClient(), &guest{})
	for _, c := range []struct {
		g    hall.Guest
		want string
	}{
		{stranger, "of another open program"},
		{hall.Guest{}, "an object of class Guest is missing"},
		{text(t, "Guest:99"), "no client object"}, {text(t, "Usher:1"), "no client object"}, {text(t, "Guest"), "no client object"},
		{text(t, hall.NewUsher(c, &guest{}).String()), "no client object"},
	} {
		err := h.Wait(ctx, c.g)
		if failed := new(aeon.Error); !errors.As(err, &failed) || !errors.Is(err, aeon.ErrArguments) || failed.Happened != aeon.No || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v was passed: %v", c.g, err)
		}
	}
	for want, make := range map[string]func(){
		"needs a client": func() { hall.NewGuest(nil, &guest{}) }, "needs an implementation": func() { hall.NewGuest(c, nil) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) || !strings.Contains(p, "Guest") {
					t.Errorf("the panic is %q, and should say %q", p, want)
				}
			}()
			make()
		}()
	}
}

func text(t *testing.T, s string) (g hall.Guest) {
	t.Helper()
	mustNot(t, g.UnmarshalText([]byte(s)))
	return g
}
