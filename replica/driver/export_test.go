package driver

import "github.com/aeon-lang/aeon/replica"

// Propose proposes one part of a group of changes, as the engine of a leader does.
func (d *Driver) Propose(g replica.Group, term uint64, part []byte) error {
	return d.member(g).propose(term, part)
}

// Pause has the driver do nothing, as if its process stood still, until the function is called that it returns.
func (d *Driver) Pause() (resume func()) {
	over := make(chan struct{})
	d.loop.add(func() { <-over })
	return func() { close(over) }
}
