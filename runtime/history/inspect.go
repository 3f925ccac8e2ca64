package history

// Actors returns of how many actors the history keeps something in memory.
func (t *Tracer) Actors() (n int) {
	for shard := range t.actors.All {
		sh := &shard.mu
		sh.Lock()
		n += len(sh.byHandle)
		sh.Unlock()
	}
	return n
}

// Unanswered returns how many events have ended whose answers are not recorded, as what they have seen is not durable.
func (t *Tracer) Unanswered() int {
	t.unanswered.Lock()
	defer t.unanswered.Unlock()
	return len(t.unanswered.list)
}
