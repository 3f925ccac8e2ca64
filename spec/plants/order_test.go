package plants

// ofOrder are bugs of the explorer, which runs all orders of events, and of what it takes for a failure.
var ofOrder = []plant{
	bug("known states hide failures", "spec/explore/explore.go", // a state is looked up before the search asks whether the order has failed
		"if s.m.Failure() != nil && !s.cfg.KeepGoing {\n",
		"if s.m.Failure() != nil && !s.cfg.KeepGoing && s.seen[s.m.Digest()] == nil {\n",
		"./spec/explore -run TestSearchAgreesWithEveryOrder -explore.naive 600"),
	bug("reads do not conflict", "spec/explore/conflict.go",
		" || meet(a.writes, b.reads) || meet(a.reads, b.writes)",
		"",
		reduced),
	bug("a known state is not compared", "spec/explore/explore.go",
		"for _, e := range n.below {",
		"for _, e := range n.below[:0] {",
		reduced),
	bug("every step is a barrier", "spec/explore/explore.go",
		"if f.barrier {\n\t\t\treturn",
		"if true {\n\t\t\treturn",
		reduced),
	bug("only the last step is compared", "spec/explore/explore.go",
		"if f.barrier {\n\t\t\treturn",
		"if f.barrier || i < last {\n\t\t\treturn",
		reduced),
	bug("creations of keys commute", "spec/event.go",
		"\tif ev.m.p.keys[c] {\n",
		"\tif false {\n",
		keyOrder, "./spec/explore -run TestReductionKeepsGoldenOutcomes"),
	bug("keys of a type that is not written commute", "spec/program.go",
		"\t\t\t\tp.keysOf(in.TypeOf(n))\n",
		"",
		keyOrder),
	bug("partitions of what are no keys do not count", "spec/digest.go",
		"\tif keys {\n",
		"\tif key {\n",
		"./spec/golden -only key-partition-of-the-creator"),
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

const (
	reduced  = "./spec/explore -run TestReductionKeepsOutcomes"
	keyOrder = "./spec/explore -run TestSearchAgreesWithEveryOrderOfKeys"
)
