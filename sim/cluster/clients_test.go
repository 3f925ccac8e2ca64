//go:build linux

package cluster

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/aeon-lang/aeon/client"
	"github.com/aeon-lang/aeon/client/grpcclient"
)

var clientKills = flag.Int("client.kills", 1, "how many leaders are killed under clients that know all nodes")

// plain are messages of gRPC as bytes.
type plain struct{}

func (plain) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (plain) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (plain) Name() string { return "proto" }

// caller calls Side by one protocol: it adds one to the actor of a name.
type caller func(ctx context.Context, actor string) error

// callers returns clients that know all nodes, by HTTP and by gRPC. The errors of the latter are those of the former.
func (w *world) callers() map[string]caller {
	w.t.Helper()
	var urls, addresses []string
	for _, i := range w.clientsKnow() {
		urls, addresses = append(urls, "http://"+w.http[i]), append(addresses, w.http[i])
	}
	byHTTP, err := client.New(client.Config{URLs: urls})
	if err != nil {
		w.t.Fatal(err)
	}
	byGRPC, err := grpcclient.Dial(addresses, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = byGRPC.Close() })
	return map[string]caller{
		"http": func(ctx context.Context, actor string) error {
			return byHTTP.Call(ctx, "Side/"+actor, "add", map[string]int{"k": 1}, nil)
		},
		"grpc": func(ctx context.Context, actor string) error {
			in := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), actor)
			in = protowire.AppendVarint(protowire.AppendTag(in, 2, protowire.VarintType), 1)
			var out []byte
			return kindOf(byGRPC.Invoke(ctx, "/counter.Side/add", &in, &out, grpc.ForceCodec(plain{})))
		},
	}
}

// kindOf returns the kind of a status.
func kindOf(err error) error {
	if status.Code(err) != codes.Unavailable {
		return err
	}
	for _, d := range status.Convert(err).Details() {
		info, is := d.(*errdetails.ErrorInfo)
		switch {
		case !is:
		case info.Reason == client.Unavailable && info.Metadata["happened"] == string(client.No):
			return fmt.Errorf("%w: %w", client.ErrUnavailable, err)
		case info.Reason == client.NoOutcome && info.Metadata["happened"] == string(client.Unknown):
			return fmt.Errorf("%w: %w", client.ErrUnknown, err)
		}
	}
	return err
}

// told is what clients were told of their calls, each of which was to add one to an actor of its own.
type told struct {
	mu   sync.Mutex
	want map[string][]int64 // what the actor of a call may have
	many map[string]int     // how often each
}

func (o *told) note(t *testing.T, actor string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil:
		o.want[actor] = []int64{1}
		o.many["answered"]++
	case errors.Is(err, client.ErrUnavailable):
		o.want[actor] = []int64{0}
		o.many["unavailable"]++
	case errors.Is(err, client.ErrUnknown):
		o.want[actor] = []int64{0, 1}
		o.many["unknown"]++
	default:
		t.Errorf("%s: %v", actor, err)
	}
}

// Clients that know all nodes go on when leaders are killed: a call that is answered has happened once, one that is said to be unavailable has not, and
// one that is unknown has happened once or not. Clients with time enough are always answered.
func TestClientsThroughKills(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := &told{want: make(map[string][]int64), many: make(map[string]int)}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for name, call := range w.callers() {
		// With half a second there are calls that end before another node has taken over.
		for i, limit := range []time.Duration{time.Minute, time.Minute, 500 * time.Millisecond} {
			group.Go(func() {
				for n := 0; another(stop); n++ {
					actor := fmt.Sprintf("%s-%d-%d", name, i, n)
					ctx, cancel := context.WithTimeout(context.Background(), limit)
					err := call(ctx, actor)
					cancel()
					if o.note(t, actor, err); err != nil && limit == time.Minute {
						t.Errorf("%s: a call with time enough: %v", actor, err)
					}
				}
			})
		}
	}
	goesOn := func() {
		t.Helper()
		answered := func() int64 {
			o.mu.Lock()
			defer o.mu.Unlock()
			return int64(o.many["answered"])
		}
		counts(t, "calls that are answered", answered, answered()+101)
	}
	for range *clientKills {
		goesOn()
		i := w.leader()
		w.end(i, syscall.SIGKILL)
		goesOn()
		w.start(i, "")
		w.well()
	}
	close(stop)
	group.Wait()
	w.judge(o)
	t.Logf("%d leaders killed: %v", *clientKills, o.many)
}

// judge compares the actors with what the clients were told.
func (w *world) judge(o *told) {
	w.t.Helper()
	reader, err := client.New(client.Config{URLs: []string{"http://" + w.http[w.leader()]}})
	if err != nil {
		w.t.Fatal(err)
	}
	for actor, want := range o.want {
		var got int64
		if err := reader.Read(w.t.Context(), "Side/"+actor, "get", nil, &got); err != nil {
			w.t.Fatal(err)
		}
		if got < want[0] || got > want[len(want)-1] {
			w.t.Errorf("%s has %d, and its client was told %v", actor, got, want)
		}
	}
}

// A cluster without a majority performs nothing: all are told so before their time is over, by the one node that is there. What was under way at a node that
// stands still is unknown, which is the truth.
func clientsWithoutAMajority(t *testing.T, w *world) {
	leader := w.leader()
	w.know(append([]int{leader}, w.without(leader)...)...) // clients begin with it
	callers := w.callers()
	o := &told{want: make(map[string][]int64), many: make(map[string]int)}
	for _, i := range w.without(leader) {
		w.signal(i, syscall.SIGSTOP) // the leader proposes, and hears nothing
	}
	ask := func(limit time.Duration, what string) {
		for name, call := range callers {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			actor := name + "-" + what
			o.note(t, actor, call(ctx, actor))
		}
	}
	ask(300*time.Millisecond, "under-way")
	if o.many["unknown"] != 2 {
		t.Errorf("calls at a leader without followers: %v", o.many)
	}
	for _, i := range w.without(leader) {
		w.end(i, syscall.SIGKILL)
	}
	eventually(t, "the leader steps down", func() (bool, any) {
		s, err := w.status(leader)
		return err == nil && len(s.Stores) == 1 && s.Stores[0].Leader == 0, s
	})
	ask(3*time.Second, "refused")
	if o.many["unavailable"] != 2 {
		t.Errorf("calls without a leader: %v, %v", o.many, o.want)
	}
	for _, i := range w.without(leader) {
		w.start(i, "")
	}
	w.well()
	w.judge(o)
}

// An operator asks any node, by aeond and by the socket in its directory. aeond goes to the next node when one does not answer.
func operatorsAskAnyNode(t *testing.T, w *world) {
	aeond := filepath.Join(t.TempDir(), "aeond")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", aeond, "../../cmd/aeond").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(aeond, args...).CombinedOutput()
		if err != nil {
			t.Errorf("aeond %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for i := range nodes {
		if got, want := run("call", "--data", w.data(i), "Side/asked.hop", `{"k": 1, "result": 7}`), "7"; got != want {
			t.Errorf("node %d: a call has the result %s, expected %s", i, got, want)
		}
		if got := run("actors", "--data", w.data(i), "--json"); !strings.Contains(got, `"Side/asked"`) {
			t.Errorf("node %d: the actors are %s", i, got)
		}
	}
	i := w.follower()
	w.end(i, syscall.SIGKILL)
	list := []string{w.http[i]}
	for _, j := range w.without(i) {
		list = append(list, w.http[j])
	}
	if got := run("call", "--at", strings.Join(list, ","), "Side/asked.get"); got != "3" {
		t.Errorf("it was called %s times", got)
	}
	out, err := exec.Command(aeond, "call", "--data", w.data(i), "Side/asked.get").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "does not run; call others with --at") {
		t.Errorf("a node that does not run: %s (%v)", out, err)
	}
	w.start(i, "")
	w.well()
	w.end(i, syscall.SIGTERM)
	if got := run("call", "--data", w.data(i), "--at", strings.Join(list, ","), "Side/asked.get"); got != "3" {
		t.Errorf("it was called %s times", got)
	}
	w.start(i, "")
	w.well()
}
