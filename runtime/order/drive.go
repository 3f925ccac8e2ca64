package order

import (
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/internal/short"
	"github.com/aeon-lang/aeon/runtime/lock"
)

// driver executes the effects of the queues. One is used by one goroutine for one step and what follows from it.
type driver struct {
	host     *Host
	out      []effect
	releases []effect
}

var driverPool = sync.Pool{New: func() any { return new(driver) }}

func takeDriver(s *Host) *driver {
	d := driverPool.Get().(*driver)
	d.host = s
	return d
}

// execute carries out the effects from d.out[start:] of a step at h, whose latch is
// held: enqueues at once, latching downwards; news to the events' homes; releases are
// kept for finish.
func (d *driver) execute(h *Handle, start int) {
	told := -1 // index of the last enqueue that was delivered with its grant
	for i := start; i < len(d.out); i++ {
		f := d.out[i]
		ev := f.ID.Event
		switch f.Kind {
		case lock.Enqueue:
			if i > told {
				ev.deliver(d.out[i : i+1])
			}
			c := f.To
			c.latch.Lock()
			next := len(d.out)
			ref, out := c.locked().Enqueue(d.host.view, lock.Sent[*Handle]{From: h, Acquired: f.Lazy}, f.ID, d.out)
			d.out = out
			d.execute(c, next)
			h.queue.Bind(f.Ref, f.Edge, ref)
			c.unlatch(d.host)
		case lock.Admitted:
			told = i + int(f.Count)
			ev.deliver(d.out[i : told+1])
		case lock.Bounced, lock.Refused:
			ev.refuse(&f)
		case lock.Release:
			d.releases = append(d.releases, f)
		default:
			assert.Unreachable("exec: effect %v", f.Kind)
		}
	}
	clear(d.out[start:])
	d.out = d.out[:start]
}

// finish carries out the releases that are left, with no latch held, and gives the driver back.
func (d *driver) finish() {
	for i := 0; i < len(d.releases); i++ {
		f := d.releases[i]
		h := f.To
		h.latch.Lock()
		start := len(d.out)
		d.out = h.queue.Release(d.host.view, f.Ref, f.Withdrawn, d.out)
		d.execute(h, start)
		h.unlatch(d.host)
	}
	clear(d.releases)
	d.releases, d.host = d.releases[:0], nil
	driverPool.Put(d)
}

// deliver tells the event's home what a queue has done for it: a grant with the enqueues it made, or an enqueue alone.
func (a *Attempt) deliver(report []effect) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.home.Deliver(report) {
		return
	}
	f := &report[0]
	if f.Kind == lock.Enqueue {
		a.pending++
		return
	}
	a.pending += int(f.Count) - 1
	if f.Lazy || f.Mode != lock.None {
		a.gets()
	}
	if f.Lazy && a.lazyAt == nil {
		a.lazyAt = f.At
	}
	if a.pending == 0 || a.parallel {
		a.news.Broadcast()
	}
}

// refuse notes that the attempt cannot go on.
func (a *Attempt) refuse(f *effect) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f.ID != a.home.ID() {
		return
	}
	if a.refusal.Kind == 0 {
		a.refusal = *f
		if a.refused != nil {
			a.refused.Refused()
		}
	}
	a.news.Broadcast()
}

// await waits until everything the attempt asked for is granted, and reports false if it was refused, or cancelled.
func (a *Attempt) await() bool {
	a.Cancellation.waits(a)
	defer a.Cancellation.waited()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pending > 0 && a.Cancelled() { // before it was known that the event waits
		a.giveUp()
	}
	if a.pending > 0 && a.refusal.Kind == 0 {
		a.Host.parked.add(a)
		for a.pending > 0 && a.refusal.Kind == 0 {
			a.news.Wait()
		}
		a.Host.parked.remove(a)
	}
	return a.refusal.Kind == 0
}

// Release drops everything the attempt holds or waits for (protocol rule 7).
func (a *Attempt) Release(withdrawn bool) {
	if len(a.entries) == 0 {
		if a.turn != 0 {
			a.released()
		}
		return
	}
	for _, e := range a.entries {
		if e.fast != lock.None {
			a.leave(e.h, e.fast)
		}
	}
	if a.queued > 0 {
		a.releaseQueued(withdrawn)
	}
	short.Clear(a.entries)
	a.entries, a.queued = a.entries[:0], 0
	if a.turn != 0 {
		a.released()
	}
}

// releaseQueued is Release for what is in queues.
func (a *Attempt) releaseQueued(withdrawn bool) {
	d := takeDriver(a.Host)
	for _, e := range a.entries {
		if e.fast != lock.None {
			continue
		}
		x := e.h
		x.latch.Lock()
		d.out = x.queue.Release(a.Host.view, e.ref, withdrawn, d.out)
		if len(d.out) > 0 {
			d.execute(x, 0)
		}
		x.unlatchBy(a)
	}
	d.finish()
}
