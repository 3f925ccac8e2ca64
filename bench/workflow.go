package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/aeon-lang/aeon/bench/app"
	"github.com/aeon-lang/aeon/bench/load"
	"github.com/aeon-lang/aeon/bench/peers"
	"github.com/aeon-lang/aeon/bench/server"
	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/store"
)

// workflowRows compare workflows of five trivial steps, each of which is committed before
// the next one begins.
func workflowRows() []row {
	var all []row
	for _, callers := range []int{1, 64} {
		all = append(all, row{
			title:   fmt.Sprintf("durable workflow of five steps, %d in flight", callers),
			goal:    "100 x durabletask-go on sqlite, which does about 105/s with 64 in flight",
			callers: callers, durable: true,
			contenders: func(p *place) []contender { return workflows(p, callers) },
		})
	}
	return all
}

func workflows(p *place, callers int) []contender {
	all := []contender{{"pebble, five batches in turn, Sync (limit)", p.inFolder(peers.PebbleSteps)}}
	if p.servers {
		open := missing(server.PostgresMissing)
		if server.PostgresInstalled() {
			open = func() (load.System, error) {
				s, err := p.startPostgres(2 * peers.PostgresConnections)
				if err != nil {
					return load.System{}, err
				}
				return peers.PostgresSteps(s, p.table(), callers)
			}
		}
		all = append(all, contender{"PostgreSQL, a row per step", open})
	}
	return append(all,
		contender{"aeon, five sub-events, sync", p.inFolder(func(dir string) (load.System, error) { return aeonWorkflow(dir, subEvents) })},
		contender{"aeon, five tail calls, sync", p.inFolder(func(dir string) (load.System, error) { return aeonWorkflow(dir, tailCalls) })},
	)
}

// workflow is one way to write the workflow in aeon. Its id is the name of its actor.
type workflow struct {
	// runner returns what runs workflows of one client, and waits for their ends.
	runner func(cl *aeonrt.Client) func(id string) error
	// words returns how much a workflow has said.
	words func(cl *aeonrt.Client, id string) (int64, error)
}

func helloOf(cl *aeonrt.Client, id string) app.HelloRef {
	return app.HelloRef{Ref: aeonrt.Named(cl, &app.AeonClassHello, id)}
}

func chainOf(cl *aeonrt.Client, id string) app.HelloChainRef {
	return app.HelloChainRef{Ref: aeonrt.Named(cl, &app.AeonClassHelloChain, id)}
}

// subEvents is the workflow whose last step calls its client back.
var subEvents = workflow{
	runner: func(cl *aeonrt.Client) func(id string) error {
		caller, done := app.NewWaitingCaller(cl)
		return func(id string) error {
			helloOf(cl, id).GreetEvent(cl, "Tokyo", caller)
			<-done
			return nil
		}
	},
	words: func(cl *aeonrt.Client, id string) (int64, error) { return helloOf(cl, id).Words(cl) },
}

// tailCalls is the workflow that is a chain of tail calls, which its client awaits.
var tailCalls = workflow{
	runner: func(cl *aeonrt.Client) func(id string) error {
		return func(id string) error {
			_, err := chainOf(cl, id).Greet(cl, "Tokyo")
			return err
		}
	},
	words: func(cl *aeonrt.Client, id string) (int64, error) { return chainOf(cl, id).Words(cl) },
}

// reread is how many workflows are read again after a reopening.
const reread = 1000

// aeonWorkflow runs workflows, each on an actor of its own. What has ended stays, as it does in a workflow engine.
func aeonWorkflow(dir string, w workflow) (load.System, error) {
	n, err := openNode(dir, store.Sync())
	if err != nil {
		return load.System{}, err
	}
	var begun atomic.Int64
	id := func(i int64) string { return "workflow " + strconv.FormatInt(i, 10) }
	return load.System{
		NewClient: func(int, int) load.Client {
			run := w.runner(n.Client())
			return func(*rand.Rand) error { return run(id(begun.Add(1))) }
		},
		Check: func() error {
			if dead := n.Stats().DeadLetters; dead != 0 {
				return fmt.Errorf("%d steps have failed", dead)
			}
			if err := n.reopen(); err != nil {
				return err
			}
			cl, last := n.Client(), begun.Load()
			for i := max(1, last-reread); i <= last; i++ {
				if words, err := w.words(cl, id(i)); err != nil || words != 5 {
					return fmt.Errorf("%s has said %d words after a reopening, error %v", id(i), words, err)
				}
			}
			return nil
		},
		Close: func() { n.close() },
	}, nil
}
