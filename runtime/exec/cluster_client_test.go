package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/event"
)

// system returns a node that runs a system, as far as a client knows: any of them, deposed or not.
func (c *scheduledCluster) system() *System {
	var list []*System
	for _, id := range clusterNodes {
		if n := c.nodes[id]; n != nil && !n.gone && n.sys != nil {
			list = append(list, n.sys)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[c.r.IntN(len(list))]
}

// patience is how often a client yields before it asks another system.
const patience = 300

// perform has a call performed by some system, or by the next one if that one fails or takes long; then the call may end later, too.
func (c *scheduledCluster) perform(call func(s *System) error) bool {
	for !c.over {
		s := c.system()
		if s == nil {
			c.s.Yield()
			continue
		}
		ended, err := false, error(nil)
		c.task(func() {
			err = call(s)
			ended = true
		})
		for n := 0; n < patience && !ended; n++ {
			c.s.Yield()
		}
		var unknown *event.UnknownError
		switch {
		case !ended:
			c.saw.late++
		case err == nil:
			return true
		case errors.As(err, &unknown):
			c.saw.unknown++
		case errors.Is(err, event.ErrClosed):
		default:
			c.fail("a call ends with %v", err)
		}
	}
	return false
}

// ask is a client: each of its requests is sent until it is answered, and adds one here, and one there by a sub-event.
func (c *scheduledCluster) ask(client int) {
	for i := 0; !c.calm || i < clusterRequests; i++ {
		key, actor := fmt.Sprintf("client %d, request %d", client, i), c.r.IntN(clusterActors)
		x, kid := &wargs{steps: []wstep{{op: wAdd, n: 1}, {op: wEmitNamed, name: fmt.Sprint("there", actor), sub: []wstep{{op: wAdd, n: 1}}}}}, int64(0)
		if i%4 == 0 {
			kid = int64(1 + client + clusterClients*i) // another value for each
			x.steps = append(x.steps, wstep{op: wNew, n: kid})
		}
		codec.AppendArgs(nil, codec.NewEncoder(nil), x) // numbers them: all attempts have equal arguments
		if c.perform(func(s *System) error {
			_, err := s.Perform(&Call{Target: Named(s.Client(), &classNode, fmt.Sprint("here", actor)), Method: &methodLocal, Key: key,
				Args: &wargs{steps: x.steps, number: x.number}})
			return err
		}) {
			c.acked[actor]++
			if kid != 0 {
				c.kids[actor] = append(c.kids[actor], kid)
			}
		}
	}
	c.asking--
}

// kidsOf returns the values of the actors that an actor owns, of which there are so many, in ascending order.
func (c *scheduledCluster) kidsOf(name string, count int) (values []int64) {
	c.perform(func(s *System) error {
		x := &wargs{}
		for k := range count {
			x.steps = append(x.steps, wstep{op: wCall, k: k, sub: []wstep{{op: wGet}}})
		}
		_, err := s.Perform(&Call{Target: Named(s.Client(), &classNode, name), Method: &methodLook, Args: x})
		values = nil
		for _, y := range x.calls {
			values = append(values, y.notes...)
		}
		return err
	})
	slices.Sort(values)
	return values
}

// read asks for what was added: at least what had been answered before.
func (c *scheduledCluster) read() {
	actor := c.r.IntN(clusterActors)
	before := c.acked[actor]
	if got, ok := c.value(fmt.Sprint("here", actor)); ok {
		c.saw.reads++
		if got < before {
			c.fail("a reader has seen %d after %d were answered", got, before)
		}
	}
}

// value returns what was added to an actor.
func (c *scheduledCluster) value(name string) (n int64, ok bool) {
	ok = c.perform(func(s *System) error {
		x := &wargs{steps: []wstep{{op: wGet}}}
		_, err := s.Perform(&Call{Target: Named(s.Client(), &classNode, name), Method: &methodPeek, Args: x})
		if err == nil {
			n = x.notes[len(x.notes)-1] - clusterBegin
		}
		return err
	})
	return n, ok
}
