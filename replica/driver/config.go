package driver

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/sched"
)

// Config says how a driver works.
type Config struct {
	Node event.NodeID
	Disk *Disk
	// Send queues a message to another node, and never waits. SendState sends a state, which write writes, and returns nil when the
	// other node's TakeState has returned nil.
	Send      func(to event.NodeID, message []byte)
	SendState func(ctx context.Context, to event.NodeID, header []byte, write func(io.Writer) error) error
	// Roles is told of each change of a leader that this node hears of, in order. It is called by the loop and must not wait; nil: nothing is told.
	Roles func(replica.Role)
	// Fatal is called once, when a disk has failed: the node ends. Nothing is acknowledged any more.
	Fatal func(error)

	// Tick is the time between two ticks; 0: the owner calls Driver.Tick. The other times are in ticks, as replica.Config has them;
	// 0 stands for what is usual.
	Tick                       time.Duration
	Heartbeat, Election, Stall int

	Rand      *rand.Rand       // draws election timeouts
	Clock     sched.Clock      // whose time leaders propose with; nil: without
	Scheduler *sched.Scheduler // runs the goroutines; nil: Go does
	Logger    *slog.Logger     // nil: slog.Default()

	// SyncBytes is how many bytes of entries a state is handed before it is synced and the log is cut; 0: 16 MiB. Its engine takes an eighth of
	// that at once.
	SyncBytes int
}

func (c *Config) takeBytes() int { return c.SyncBytes / 8 }

// What is usual: a leader that is gone is noticed within 0.5 to 1 s.
const (
	TickDefault      = 50 * time.Millisecond
	heartbeatDefault = 2
	electionDefault  = 10
	stallDefault     = 30
	syncBytesDefault = 16 << 20
	recentMax        = 4 << 20 // bytes of each group's newest entries in memory
	// takesMax is how many times of what an engine takes at once may wait before the state is handed no more.
	takesMax = 4
	// takeTicks is after how many ticks an engine takes what is less than that.
	takeTicks = 20
	// uncommittedMax is far above what the store of a leader has under way, which its credit bounds: nothing is ever refused.
	uncommittedMax = 1 << 40
)

func (c *Config) complete() {
	orDefault(&c.Heartbeat, heartbeatDefault)
	orDefault(&c.Election, electionDefault)
	orDefault(&c.Stall, stallDefault)
	orDefault(&c.SyncBytes, syncBytesDefault)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Roles == nil {
		c.Roles = func(replica.Role) {}
	}
}

func orDefault(n *int, value int) {
	if *n == 0 {
		*n = value
	}
}

// Errors of a group.
var (
	// ErrNoMember means that this node has no part in the group.
	ErrNoMember = errors.New("this node has no part in the group")
	// ErrStays means that this node may be a member of the group again since a leader has said that it is none.
	ErrStays = errors.New("this node may be a member of the group again")
	// ErrClosed means that the driver was closed.
	ErrClosed = errors.New("the node is ending")
	// ErrDeposed means that another node may lead the group now. What is under way has an unknown fate.
	ErrDeposed = errors.New("another node leads the group")
)
