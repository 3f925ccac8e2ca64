package plants

// ofOrder are bugs of the explorer, which runs all orders of events, and of what it takes for a failure.
var ofOrder = []plant{
	bug("known states hide failures", "spec/explore/explore.go", // a state is looked up before the search asks whether the order has failed
		"if s.m.Failure() != nil && !s.cfg.KeepGoing {\n",
		"if s.m.Failure() != nil && !s.cfg.KeepGoing && s.seen[s.m.Digest()] == nil {\n"),
	bug("an abort is no failure", "spec/machine.go", // of a test, where no client learns of it
		"if (m.entry.Test || f.Assert) &&",
		"if f.Assert &&"),
	bug("a chain fails unheard", "spec/tail.go",
		"\t\tm.unheard(failure)\n",
		""),
	bug("a callback fails unheard", "spec/machine.go",
		"\t\tm.unheard(t.failure)\n",
		""),
	bug("a pending value fails unheard", "spec/step.go",
		"\tm.hearUnclaimed()\n",
		""),
}
