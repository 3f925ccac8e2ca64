package kill

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/node"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

// order is what a child is told on its standard input.
type order struct {
	Dir, Trace string
	Seed       uint64
	Next       []int64 // of each session: the first request that has no answer
	Last       bool    // bring everything to an end
	Replicated bool    // keep the store on three replicas in this process
}

// Lines that a child writes, each in one piece:
//
//	opened MICROSECONDS            of recovery
//	notes JSON                     what the log has got: issuer, number, …
//	dump JSON                      Bank.Dump
//	answer SESSION SEQ OUTCOME     of a request
//	refused SESSION SEQ            of one that has not begun, as the process has been told to end
//	postponed SESSION SEQ          of one that has begun a chain, which goes on in the next process
//	again SESSION SEQ OUTCOME      of one that was answered before
//	audit SUM                      of the reader
//	rest JSON                      receipts and steps of an account, at the end
//	wrong TEXT                     something that must not be
//
// An outcome is a result, or "!" and the message of an abort.

// child performs one order, as the main function of a program.
type child struct {
	order
	start time.Time
	sys   *runtime.System
	cl    *runtime.Client
	book  *book
}

// book is what the requests are about.
type book struct {
	sys      *runtime.System
	bank     ledger.BankRef
	log      ledger.LogRef
	ticker   ledger.TickerRef
	accounts []ledger.AccountRef
	sessions int
}

func (b *book) vault(session int64) ledger.VaultRef {
	return ledger.VaultRef{Ref: runtime.Named(b.sys.Client(), &ledger.AeonClassVault, fmt.Sprint("v", session))}
}

func (b *book) vaults() (all runtime.Vector[ledger.VaultRef]) {
	for i := range b.sessions {
		runtime.Push(&all, b.vault(int64(i)))
	}
	return all
}

// say writes a line. What the parent has read of it has happened.
func say(kind string, args ...any) {
	if _, err := os.Stdout.WriteString(kind + " " + fmt.Sprintln(args...)); err != nil {
		os.Exit(1) // the parent has gone
	}
}

func sayJSON(kind string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // numbers always marshal
	}
	say(kind, string(text))
}

// runChild is the main function of a child: that of a program which aeonc builds, but for the order.
func runChild() {
	c := &child{start: time.Now()}
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		err = json.Unmarshal(text, &c.order)
	}
	if err != nil {
		say("wrong", err)
		os.Exit(1)
	}
	os.Args = []string{"ledger", "--data", c.Dir, "--trace", c.Trace, "--trace-states", "--seed", fmt.Sprint(c.Seed)}
	p := ledger.AeonPackage
	p.Main = func(cl *runtime.Client) {
		if err := c.perform(cl); err != nil && !errors.Is(err, event.ErrClosed) {
			say("wrong", err)
		}
	}
	parts := node.PartsWith(nil)
	if c.Replicated {
		parts.Store = replicatest.ThreeIn(parts.Store)
	}
	runtime.Main(&p, runtime.With(parts))
}

func (c *child) perform(cl *runtime.Client) error {
	say("opened", time.Since(c.start).Microseconds())
	c.cl, c.sys = cl, runtime.SystemOf(cl)
	if err := c.open(); err != nil {
		return err
	}
	if err := c.look(); err != nil {
		return err
	}
	var clients sync.WaitGroup
	stop := make(chan struct{})
	if !c.Last {
		clients.Go(func() { c.read(stop) })
	}
	var sessions sync.WaitGroup
	for i := range c.Next {
		sessions.Go(func() {
			if err := c.session(i); err != nil {
				say("wrong", "session", i, err)
			}
		})
	}
	sessions.Wait()
	close(stop)
	clients.Wait()
	return c.end()
}

func (c *child) open() error {
	named := func(class *runtime.Class, name string) runtime.Ref { return runtime.Named(c.cl, class, name) }
	c.book = &book{sys: c.sys, bank: ledger.BankRef{Ref: named(&ledger.AeonClassBank, "bank")}, log: ledger.LogRef{Ref: named(&ledger.AeonClassLog, "log")},
		ticker: ledger.TickerRef{Ref: named(&ledger.AeonClassTicker, "ticker")}, sessions: len(c.Next)}
	all, err := c.book.bank.Open(c.cl, accounts, each)
	if err != nil {
		return err
	}
	c.book.accounts = all.Items()
	return c.book.ticker.Start(c.cl)
}

// look says what there is after recovery, while sub-events and timers of the run before go on. The log
// comes first: so it cannot have more notes than were issued.
func (c *child) look() error {
	notes, err := c.notes()
	if err != nil {
		return err
	}
	sayJSON("notes", notes)
	if err := c.audit(); err != nil {
		return err
	}
	dump, err := c.book.bank.Dump(c.cl)
	if err != nil {
		return err
	}
	sayJSON("dump", dump.Items())
	return nil
}

func (c *child) notes() (list []int64, err error) {
	wrong, err := c.book.log.Wrong(c.cl)
	if err != nil {
		return nil, err
	}
	if wrong != "" {
		return nil, errors.New(wrong)
	}
	last, err := c.book.log.Last(c.cl)
	return pairs(last), err
}

func pairs(m runtime.Map[int64, int64]) (list []int64) {
	for _, k := range m.Keys().Items() {
		list = append(list, k, m.At(k))
	}
	return list
}

// audit counts all money. A vault may go while it is on its way.
func (c *child) audit() error {
	sum, err := c.book.bank.Audit(c.sys.Client(), c.book.vaults())
	var abort *runtime.AbortError
	switch {
	case errors.As(err, &abort) && strings.Contains(abort.Msg, "deleted"):
	case err != nil:
		return err
	default:
		say("audit", sum)
	}
	return nil
}

func (c *child) read(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
			if err := c.audit(); err != nil {
				if !errors.Is(err, event.ErrClosed) {
					say("wrong", "audit:", err)
				}
				return
			}
		}
	}
}

// keep is how many answers a session may ask for again.
const keep = 2

// session repeats the last requests that were answered, and the one that was not, and goes on
// until the process is killed or refuses.
func (c *child) session(i int) error {
	s, err := c.sys.BeginSession(fmt.Sprint("session", i))
	if errors.Is(err, event.ErrClosed) {
		return nil
	}
	if err != nil {
		return err
	}
	next := c.Next[i]
	for seq := max(1, next-keep); ; seq++ {
		p := draw(c.Seed, i, seq)
		result, err := p.await(c.book, s, uint64(max(0, seq-keep-1)))
		var abort *runtime.AbortError
		if errors.As(err, &abort) {
			result, err = "!"+abort.Msg, nil
		}
		switch {
		case errors.Is(err, event.ErrClosed) && seq < next:
			return nil
		case errors.Is(err, event.ErrPostponed):
			say("postponed", i, seq)
			return nil
		case errors.Is(err, event.ErrClosed):
			say("refused", i, seq)
			return nil
		case err != nil:
			return err
		}
		if seq < next {
			say("again", i, seq, result)
			continue
		}
		say("answer", i, seq, result)
		if c.Last {
			return nil
		}
	}
}

// awaitTick waits until the ticker counts on: no crash has taken its timer away, which is set once in the life of the store.
func (c *child) awaitTick() error {
	began, err := c.book.ticker.Ticks(c.cl)
	for n := began; err == nil && n == began; n, err = c.book.ticker.Ticks(c.cl) {
		<-time.After(time.Millisecond)
	}
	return err
}

// end brings everything to rest, and says what is there.
func (c *child) end() error {
	if err := c.awaitTick(); err != nil {
		return err
	}
	if err := c.book.ticker.Stop(c.cl); err != nil {
		return err
	}
	if err := c.sys.Quiesce(context.Background()); err != nil {
		return err
	}
	for _, d := range c.sys.DeadLetters() {
		say("wrong", "dead letter:", d.Method, d.Err)
	}
	if err := c.look(); err != nil {
		return err
	}
	for _, a := range c.book.accounts {
		receipts, err := a.Receipts(c.cl)
		if err != nil {
			return err
		}
		steps, err := a.Steps(c.cl)
		if err != nil {
			return err
		}
		sayJSON("rest", [2][]int64{pairs(receipts), pairs(steps)})
	}
	return nil
}
