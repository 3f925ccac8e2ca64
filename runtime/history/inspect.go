package history

// Actors returns the number of actors of which the history keeps something in memory.
func (t *Tracer) Actors() (n int) {
	for shard := range t.actors.shards.All {
		sh := &shard.mu
		sh.Lock()
		n += len(sh.byHandle)
		sh.Unlock()
	}
	return n
}

// Unanswered returns the number of events that have ended and whose answers are not recorded, as what they have seen is
// not durable.
func (t *Tracer) Unanswered() int {
	t.unanswered.Lock()
	defer t.unanswered.Unlock()
	return len(t.unanswered.list)
}
