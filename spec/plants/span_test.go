package plants

// ofSpan are bugs of what is recorded as spans, and of what exports them.
var ofSpan = []plant{
	bug("the span of an async call is below that of the event", "runtime/span/event.go",
		"\tc.async = true\n\treturn &Branch{",
		"\tc.async, c.parent = true, b.of.own.id\n\treturn &Branch{",
		"./runtime/exec -run TestSpansAreWhatEventsDo"),
	bug("a span is linked to another event than its issuer", "runtime/exec/commit.go",
		"f.ev.sys.cfg.Spans.Issues(f.ev.told.span, f.ev.ID)",
		"f.ev.sys.cfg.Spans.Issues(f.ev.told.span, f.ev.ID.Child(1))",
		"./runtime/exec -run TestSpansAreWhatEventsDo", "./runtime/exec -run TestLinksOutliveRestarts"),
	bug("a full queue of spans holds up the program", "runtime/span/tracer.go",
		"\tif !fits {\n",
		"\tif !fits {\n\t\ttime.Sleep(time.Millisecond)\n",
		"./runtime/span -run TestAHangingCollectorDelaysNothing"),
	bug("the calls of a withdrawn attempt stay spans", "runtime/span/event.go",
		"if e.below[i].name == string(ForLocks) {",
		"if true {",
		"./runtime/exec -run TestWithdrawnCallsAreNoSpans"),
	bug("a link of a later run leads nowhere where a caller has the trace", "runtime/span/event.go",
		"if e.foreign && e.issued {",
		"if false {",
		"./runtime/exec -run TestLinksOutliveRestarts"),
	bug("what a caller does not record is recorded", "runtime/span/event.go",
		"sampled, e.foreign = c.own.trace, c.own.id, c.own.state, c.sampled, c.foreign",
		"sampled, e.foreign = c.own.trace, c.own.id, c.own.state, true, c.foreign",
		"./runtime/span -run TestSampling", "./sim/door -run TestCallersAreParentsOfSpans"),
}
