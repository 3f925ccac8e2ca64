package peers

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/aeon-lang/aeon/bench/load"
)

const askTimeout = 10 * time.Second

func newProtoSystem() *actor.ActorSystem {
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.DiscardHandler)
	}))
}

// ProtoAsk is protoactor-go's request and response, uniform over n echo actors,
// with a message allocated beforehand.
func ProtoAsk(n int) load.System {
	sys := newProtoSystem()
	echo := actor.PropsFromFunc(func(c actor.Context) {
		if m, ok := c.Message().(*struct{ v int }); ok {
			c.Respond(m)
		}
	})
	pids := make([]*actor.PID, n)
	for i := range pids {
		pids[i] = sys.Root.Spawn(echo)
	}
	return load.System{
		Name: "protoactor-go ask",
		NewClient: func(int, int) load.Client {
			msg := &struct{ v int }{1}
			return func(r *rand.Rand) error {
				_, err := sys.Root.RequestFuture(pids[r.IntN(n)], msg, askTimeout).Result()
				return err
			}
		},
		Close: sys.Shutdown,
	}
}

// The messages of the two-phase locking.
type (
	acquire struct{}
	granted struct{}
	apply   struct{ delta int64 } // writes and releases
	applied struct{}
	inspect struct{}
)

// lockedAccount is an account that one client at a time may hold.
type lockedAccount struct {
	balance int64
	held    bool
	waiting []*actor.PID
}

func (a *lockedAccount) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *acquire:
		if a.held {
			a.waiting = append(a.waiting, c.Sender())
			return
		}
		a.held = true
		c.Respond(&granted{})
	case *apply:
		a.balance += m.delta
		a.held = len(a.waiting) > 0
		if a.held {
			c.Send(a.waiting[0], &granted{})
			a.waiting = a.waiting[1:]
		}
		c.Respond(&applied{})
	case *inspect:
		c.Respond(a.balance)
	}
}

// ProtoTwoPhase is a transfer with hand-written two-phase locking over
// protoactor-go: both accounts are locked in index order, written and released.
// There is no handling of failures at all.
func ProtoTwoPhase(hot bool) load.System {
	sys := newProtoSystem()
	pids := make([]*actor.PID, load.Accounts)
	for i := range pids {
		pids[i] = sys.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return &lockedAccount{balance: initialBalance}
		}))
	}
	ask := func(to *actor.PID, m any) error {
		_, err := sys.Root.RequestFuture(to, m, askTimeout).Result()
		return err
	}
	return load.System{
		Name: "two-phase locking on protoactor-go",
		NewClient: func(int, int) load.Client {
			return func(r *rand.Rand) error {
				from, to := load.Pair(r, hot)
				if err := ask(pids[min(from, to)], &acquire{}); err != nil {
					return err
				}
				if err := ask(pids[max(from, to)], &acquire{}); err != nil {
					return err
				}
				// Both writes travel at once; then both are awaited.
				debit := sys.Root.RequestFuture(pids[from], &apply{-1}, askTimeout)
				credit := sys.Root.RequestFuture(pids[to], &apply{1}, askTimeout)
				_, err1 := debit.Result()
				_, err2 := credit.Result()
				return errors.Join(err1, err2)
			}
		},
		Check: func() error {
			var sum int64
			for _, pid := range pids {
				v, err := sys.Root.RequestFuture(pid, &inspect{}, askTimeout).Result()
				if err != nil {
					return err
				}
				sum += v.(int64)
			}
			return conserved(sum)
		},
		Close: sys.Shutdown,
	}
}
