package driver

import "github.com/aeon-lang/aeon/replica"

// Propose proposes one part of a group of changes, as the engine of a leader does.
func (d *Driver) Propose(g replica.Group, term uint64, part []byte) error {
	return d.member(g).propose(term, part)
}
