package aeon_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/examples/bank"
)

// opened opens a bank with two accounts.
func opened(t testing.TB, opts ...aeon.Option) (*bank.DB, bank.Bank) {
	t.Helper()
	db, err := bank.Open(t.Context(), append(opts, aeon.Logger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	b := db.Bank("main")
	for _, owner := range []string{"ann", "bob"} {
		if err := b.Open(t.Context(), owner, 1000, aeon.Once("open "+owner)); err != nil {
			t.Fatal(err)
		}
	}
	return db, b
}

// is checks the kind of a failure, and that it is certain that it has not happened.
func is(t *testing.T, err, kind error, msg string) {
	t.Helper()
	failed := new(aeon.Error)
	if !errors.Is(err, kind) || !errors.As(err, &failed) || failed.Happened != aeon.No || !strings.Contains(failed.Error(), msg) {
		t.Errorf("the error is %v; it should be %v, and say %q", err, kind, msg)
	}
	for _, other := range []error{aeon.ErrAborted, aeon.ErrUnknown, aeon.ErrClosed, aeon.ErrUnavailable, aeon.ErrKeyReused, aeon.ErrArguments} {
		if other != kind && errors.Is(err, other) {
			t.Errorf("%v is %v, too", err, other)
		}
	}
}

func TestFailuresAreToldApart(t *testing.T) {
	ctx := t.Context()
	db, b := opened(t, aeon.InMemory())
	err := b.Transfer(ctx, "ann", "bob", 5000)
	is(t, err, aeon.ErrAborted, "ann has 1000, not 5000")
	if failed := new(aeon.Error); !errors.As(err, &failed) || !strings.HasPrefix(failed.At, "bank.aeon:") || len(failed.Path) != 2 || !strings.Contains(failed.Path[1], "(Bank.transfer)") {
		t.Errorf("the place is %s, %q", failed.At, failed.Path)
	}
	if err := b.Transfer(ctx, "ann", "bob", 1, aeon.Once("1")); err != nil {
		t.Error(err)
	}
	is(t, b.Transfer(ctx, "ann", "bob", 2, aeon.Once("1")), aeon.ErrKeyReused, "key")
	for _, key := range []string{"", "a\x00b", strings.Repeat("k", 2000)} {
		is(t, b.Transfer(ctx, "ann", "bob", 2, aeon.Once(key)), aeon.ErrArguments, "key of Once")
	}
	other, _ := opened(t, aeon.InMemory())
	eve, err := other.NewAccount(ctx, "eve", 5)
	if err != nil {
		t.Fatal(err)
	}
	fay, err := db.NewAccount(ctx, "fay", 5)
	if err != nil {
		t.Fatal(err)
	}
	is(t, fay.PayTo(ctx, eve, 1), aeon.ErrArguments, "of another open program")
	is(t, bank.Account{}.PayTo(ctx, fay, 1), aeon.ErrArguments, "no actor")
	_, err = bank.Bank{}.Total(ctx)
	is(t, err, aeon.ErrArguments, "no actor")
	is(t, fay.PayTo(ctx, bank.Account{}, 1), aeon.ErrArguments, "an actor of class Account is missing")
	ended, cancel := context.WithCancelCause(ctx)
	cancel(errors.New("enough"))
	_, err = b.Total(ended)
	is(t, err, context.Canceled, "enough")
	_, err = db.NewAccount(ended, "x", 1)
	is(t, err, context.Canceled, "enough")
	late, stop := context.WithDeadline(ctx, time.Unix(0, 0))
	defer stop()
	_, err = b.Total(late)
	is(t, err, context.DeadlineExceeded, "deadline")
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	_, err = b.Total(ctx)
	is(t, err, aeon.ErrClosed, "")
	is(t, b.Transfer(ctx, "ann", "bob", 1, aeon.Once("1")), aeon.ErrClosed, "")
	_, err = db.NewAccount(ctx, "x", 1)
	is(t, err, aeon.ErrClosed, "")
}

func TestHandles(t *testing.T) {
	ctx := t.Context()
	db, b := opened(t, aeon.InMemory())
	eve, err := db.NewAccount(ctx, "eve", 5)
	if err != nil {
		t.Fatal(err)
	}
	type pair struct {
		Named, None bank.Bank
		Unnamed     bank.Account
		By          map[bank.Account]int
	}
	data, err := json.Marshal(pair{Named: b, Unnamed: eve, By: map[bank.Account]int{eve: 1}})
	if err != nil || !strings.HasPrefix(string(data), `{"Named":"Bank/main","None":null,"Unnamed":"Account:`) {
		t.Errorf("JSON is %s, %v", data, err)
	}
	var read pair
	if err := json.Unmarshal(data, &read); err != nil || !read.None.IsZero() || read.By[read.Unnamed] != 1 {
		t.Errorf("what was read is %v, %v", read, err)
	}
	fay, err := db.NewAccount(ctx, "fay", 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := fay.PayTo(ctx, read.Unnamed, 3); err != nil { // it is looked up
		t.Error(err)
	}
	_, err = read.Unnamed.BalanceNow(ctx)
	is(t, err, aeon.ErrArguments, "no actor that can be called")
	found, err := db.FindAccount(read.Unnamed.String())
	if err != nil || found != eve {
		t.Errorf("%v was found, %v", found, err)
	}
	if n, err := found.BalanceNow(ctx); n != 8 || err != nil {
		t.Errorf("eve has %d, %v", n, err)
	}
	if found, err := db.FindBank("Bank/main"); found != b || err != nil {
		t.Errorf("%v was found, %v", found, err)
	}
	for _, name := range []string{":", ":x", ":0:99"} { // not ids
		of := db.Bank(name)
		if found, err := db.FindBank(of.String()); found != of || err != nil || of.String() != "Bank/"+name {
			t.Errorf("%v is found as %v, %v", of, found, err)
		}
	}
	for _, text := range []string{"", "Bank", "Bank/", "Account/x", "Bank:0:99", fay.String()} {
		if _, err := db.FindBank(text); !errors.Is(err, aeon.ErrArguments) {
			t.Errorf("%q was found: %v", text, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	opened(t, aeon.Dir(dir))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		opts []aeon.Option
		want string
	}{
		{t.Context(), nil, "say where the state is kept"},
		{t.Context(), []aeon.Option{aeon.Dir("")}, "say where the state is kept"},
		{t.Context(), []aeon.Option{aeon.Dir("x"), aeon.InMemory()}, "either"},
		{t.Context(), []aeon.Option{aeon.Dir(dir)}, dir + " is open in this process already; close it first"},
		{t.Context(), []aeon.Option{aeon.Dir(filepath.Join("/dev/null", "x"))}, "/dev/null"},
		{ended, []aeon.Option{aeon.Dir(dir)}, "canceled"},
	} {
		if db, err := bank.Open(c.ctx, c.opts...); err == nil || db != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open: %v; it should say %q", err, c.want)
		}
	}
}

// A call whose context ends has happened whole, and said so, or not at all. Close waits for those under way.
func TestCancelledCallsHaveNotHappened(t *testing.T) {
	dir := t.TempDir()
	db, b := opened(t, aeon.Dir(dir), aeon.Stdout(io.Discard))
	var wg sync.WaitGroup
	var done, cancelled, refused atomic.Int64
	enough := make(chan struct{})
	for g := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%50)*10*time.Microsecond)
				err := b.Transfer(ctx, "ann", "bob", 1)
				cancel()
				switch failed := new(aeon.Error); {
				case err == nil:
					done.Add(1)
				case errors.Is(err, aeon.ErrClosed):
					refused.Add(1)
					return
				case errors.As(err, &failed) && failed.Happened == aeon.No && errors.Is(err, context.DeadlineExceeded):
					cancelled.Add(1)
				default:
					t.Error(err)
					return
				}
				if i == 60 && g == 0 {
					close(enough)
				}
			}
		})
	}
	<-enough
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	db, b = opened(t, aeon.Dir(dir))
	left, err := b.Balance(t.Context(), "ann")
	if err != nil || left != 1000-done.Load() || cancelled.Load() == 0 || refused.Load() != 8 {
		t.Errorf("%d transfers have happened, %d not, %d were refused; ann has %d, %v", done.Load(), cancelled.Load(), refused.Load(), left, err)
	}
	if total, err := b.Total(t.Context()); total != 2000 || err != nil {
		t.Errorf("the total is %d, %v", total, err)
	}
}

// A program in Go is linked with what it uses: without the store, with the standard library alone.
func TestPrograms(t *testing.T) {
	deps := func(pkg string) []string {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}{{if eq .ImportPath `net/http`}}net/http{{end}}", pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(out))
	}
	for _, dep := range deps("github.com/aeon-lang/aeon") {
		if !strings.HasPrefix(dep, "github.com/aeon-lang/aeon") {
			t.Errorf("a program in memory would be linked with %s", dep)
		}
	}
	stored := deps("github.com/aeon-lang/aeon/examples/bank")
	for _, dep := range stored {
		if strings.HasPrefix(dep, "github.com/minio/minio-go") || strings.HasSuffix(dep, "aeon/runtime/node") || strings.HasPrefix(dep, "google.golang.org/grpc") {
			t.Errorf("a program with a store would be linked with %s", dep)
		}
	}
	if !slices.Contains(stored, "github.com/cockroachdb/pebble/v2") {
		t.Error("the bank has no store")
	}
}
