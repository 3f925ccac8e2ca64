package plants

// ofSemantics are bugs of the runtime that a program shows.
var ofSemantics = []plant{
	bug("sub-event sent on abort", "runtime/exec/event.go",
		"\t\t\terr := ev.abort(out.Err)",
		"\t\t\tnext := follow{ev: ev}\n\t\t\tnext.add(ev.Root.Ops)\n\t\t\tdefer next.start()\n\t\t\terr := ev.abort(out.Err)"),
	bug("lost async branch", "runtime/activation/branch.go",
		"\tcx.branches = append(cx.branches, b)\n",
		""),
	bug("wrong timer order", "runtime/outbox/timer.go",
		"return t.Generation < u.Generation",
		"return t.Generation > u.Generation"),
	bug("time goes on beyond its end", "runtime/exec/client.go",
		"end := sched.After(c.Now(), d)\n",
		"end := c.Now().Add(d)\n"),
	bug("a step lets others in", "runtime/exec/tail.go", // the actor that a chain keeps is free before the step that it is kept for
		"ev.outSeq, ev.maxPos = next.seq, next.pos\n",
		"ev.outSeq, ev.maxPos = next.seq, next.pos\n\t\tch.leave()\n"),
	bug("constructor without locks", "runtime/order/admit.go", // of a client's new: what it is given is not locked
		"if a.gather(); !a.members.touches() && !a.IsWide() {",
		"if a.gather(); true {"),
	bug("issued events overtake", "runtime/sched/line.go", // one another, of one client to one actor
		"placed()\n\treturn l.append(p)",
		"placed()\n\tp.state = outside\n\treturn true"),
	bug("json reads a key twice", "runtime/jsoncodec/read.go", // of two equal keys of a map the last one counts
		"\tr.once(seen, in.Data()[from:], \"the key is there twice\")",
		"\tif false {\n\t\t\tr.once(seen, in.Data()[from:], \"the key is there twice\")\n\t\t}",
		"./spec/differ -run TestLibrary"),
	bug("second field not stored", "runtime/state/writer.go", // of the fields that an event has assigned
		"w.fields.Field(obj, int(f.field), f.changes, f.whole)",
		"if i == 0 || len(f.changes) > 0 || !order.HandleOf(a.self.Ref()).Is(order.Created) || order.HandleOf(a.self.Ref()).Is(order.Fresh) {\n\t\t\tw.fields.Field(obj, int(f.field), f.changes, f.whole)\n\t\t}"),
}
