package spec

const msgCancelled = "cancelled"

// cancel is [CANCEL].
func (c *client) cancel(id eventID) {
	on := Resource{kind: cancelResource, a: id}
	c.act(on, "cancels an event")
	c.do(func() any {
		c.m.note(write, on)
		c.m.st.called[id] = true
		return nil
	})
}

// mayBeCancelled fails an event, or a step of the chain that it began, that its client has cancelled.
func (ev *event) mayBeCancelled() {
	i := ev.issue
	if ev.chain != nil {
		i = ev.chain.issue
	}
	if i == nil || i.sent || !ev.m.p.cancels {
		return
	}
	ev.m.note(read, Resource{kind: cancelResource, a: i.id})
	if ev.m.st.called[i.id] {
		panic(&Failure{Msg: msgCancelled, cancelled: true})
	}
}
