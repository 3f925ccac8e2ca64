package plants

// ofRun are bugs of what an event does from its entry to its end: of its locks, its undo, and its commit.
var ofRun = []plant{
	bug("an access runs without its lock", "runtime/order/fastpath.go",
		"\tcase mode != lock.None && a.joinOne(t, mode):\n",
		"\tcase true:\n\t\ta.home.Hold(t, mode, lock.Ref{}, nil)\n\t\treturn true\n\tcase mode != lock.None && a.joinOne(t, mode):\n",
		randomly, "./runtime/exec -run TestSeedsAreDifferentInterleavings", traced),
	bug("early release", "runtime/exec/failure.go",
		"\tm.Run(&cx.Cx, target.Object, args)\n",
		"\tif cx == &cx.ev.root && m.Below != order.Any {\n\t\tcx.ev.Release(false)\n\t}\n\tm.Run(&cx.Cx, target.Object, args)\n",
		golden, randomly, traced),
	bug("wrong revalidation", "runtime/order/admit.go", // what a field leads to is looked up without a hold, and not again with it
		"\t\troots := a.onlyRoots()\n",
		"\t\tif a.Effects.Below == Exact && a.Target.Is(Created) {\n\t\t\ta.narrow()\n\t\t\ta.members.members = append(a.members.members, a.narrowed.members...)\n\t\t}\n\t\troots := a.onlyRoots()\n",
		golden, probes+"stale_field").
		and("runtime/order/acquire.go",
			"\t\tif d.Act == lock.Run {\n",
			"\t\tif d.Act == lock.Run || d.Act == lock.Withdraw && a.Effects.Below == Exact {\n"),
	bug("children are enqueued on one by one", "runtime/order/fastpath.go", // the first goes on once the second has enqueued on both
		"\t\tc.latch.Lock()\n\t}\n\tfor _, c := range a.passed {\n\t\twaits =",
		"\t\tc.latch.Lock()\n\t\twaits =",
		probes+"one_step").
		and("runtime/order/fastpath.go",
			"mode) || waits\n\t}\n\tfor _, c := range a.passed {\n\t\tc.unlatchBy(a)\n",
			"mode) || waits\n\t\tc.unlatchBy(a)\n\t\tfor first := steps.Add(1) == 1; first && steps.Load() < 3; {\n\t\t\truntime.Gosched()\n\t\t}\n").
		and("runtime/order/fastpath.go",
			"import (\n\t\"runtime\"\n\t\"slices\"\n",
			"import (\n\t\"runtime\"\n\t\"slices\"\n\t\"sync/atomic\"\n").
		and("runtime/order/fastpath.go",
			"// enterBelow enqueues",
			"var steps atomic.Int32\n\n// enterBelow enqueues"),
	bug("missed undo", "runtime/undo/log.go", // of the last write
		"for i := len(l.entries) - 1; i >= 0; i-- {\n\t\tl.entries[i].undo()",
		"for i := len(l.entries) - 2; i >= 0; i-- {\n\t\tl.entries[i].undo()",
		golden, randomly, traced),
	bug("a named actor is not undone", "runtime/exec/event.go",
		"\tfor _, h := range ev.Born {\n",
		"\tfor _, h := range ev.Born[:0] {\n",
		randomly),
	bug("locks go before the batch has its place", "runtime/exec/decide.go",
		"\tnext := ev.settle()\n",
		"\tev.Release(false)\n\truntime.Gosched()\n\tnext := ev.settle()\n",
		crashing, killed).
		and("runtime/exec/decide.go", "\tat(\"appended\", k)\n\tev.Release(false)\n", "\tat(\"appended\", k)\n").
		and("runtime/exec/decide.go", "\t\"errors\"\n", "\t\"errors\"\n\t\"runtime\"\n"),
	bug("an answer does not wait until it is durable", "runtime/exec/decide.go",
		"if ev.request != nil || d.answersWait || ev.traced != nil || d.Store.Overdue() {",
		"if false {",
		crashing, crashImages, killed),
	bug("a sync is reported before it has ended", "runtime/store/pebbledb/db.go",
		"func (d *DB) Sync() (err error) {\n",
		"func (d *DB) Sync() error {\n\td.syncs.Go(func() {\n\t\tif err := d.sync(); err != nil {\n\t\t\tpanic(err)\n\t\t}\n\t})\n\treturn nil\n}\n\nfunc (d *DB) sync() (err error) {\n",
		crashImages).
		and("runtime/store/pebbledb/db.go", "\treadOnly  bool\n", "\treadOnly  bool\n\tsyncs     sync.WaitGroup\n").
		and("runtime/store/pebbledb/db.go", "\t\terr = d.Sync()\n", "\t\td.syncs.Wait()\n\t\terr = d.sync()\n"),
	bug("the outcome of a request is not stored", "runtime/exec/request.go",
		"if err != nil && !errors.As(err, &abort) {",
		"if true {",
		crashImages, killed),
	bug("a request with a key is not looked up", "runtime/outbox/keyed.go",
		"if _, _, found, err := ks.find(r); found || err != nil {",
		"if false {",
		crashImages, killed, "./sim/door -run ThroughKills"),
	bug("a key is claimed twice", "runtime/outbox/keyed.go",
		"\tbefore := c.running[keyedID{r.Target, r.Session}]\n",
		"\tvar before chan struct{}\n",
		keyed),
	bug("the generations of keys are forgotten", "runtime/outbox/keyed.go",
		"\tks.mu.begun = slices.Sorted(maps.Keys(seen))\n",
		"\tks.mu.begun = slices.Sorted(maps.Keys(seen))[:0]\n",
		killed, keyed),
	bug("a cancelled request has an outcome", "runtime/exec/decide.go",
		"if ev.chain == nil && errors.Is(err, order.ErrCancelled) {",
		"if false {",
		keyed),
	bug("a chain ends with its caller", "runtime/exec/tail.go",
		"if c := ev.Cancellation; c != nil && c.First {",
		"if c := ev.Cancellation; c != nil && false {",
		"./runtime/exec -run TestAChainGoesOn"),
	bug("outcomes of keys expire too early", "runtime/outbox/keyed.go",
		"ks.mu.begun[n]-ks.width() >= int64(",
		"ks.mu.begun[n]+ks.width() >= int64(",
		keyed),
	bug("an edge has no row", "runtime/state/writer.go",
		"case a.Deleting(e.Owner), ",
		"case true, a.Deleting(e.Owner), ",
		crashing),
	bug("a move in the tree has no row", "runtime/state/state.go",
		"\tw := NewWriter(s)\n\tw.Header(c)\n",
		"\tw := NewWriter(s)\n",
		crashing),
	bug("two handles of one actor", "runtime/state/registry.go",
		"if h := sh.loose[id].Value(); h != nil {",
		"if h := sh.loose[id].Value(); false {",
		crashing),
	bug("an actor is attached without its owner", "runtime/state/attach.go",
		"\terr = dominator.ErrDeleted\n",
		"\tat, header.Units = s.host.Partitions[x.ID.Birth], 0\n\terr = dominator.ErrDeleted\n",
		crashing),
	bug("actors are detached that an event relies on", "runtime/order/grace.go",
		"if since := p.since.Load(); since != 0 && since < period {",
		"if since := p.since.Load(); false && since < period {",
		crashing),
}

// ofFollow are bugs of what follows an event: of sub-events, timers, callbacks and chains.
var ofFollow = []plant{
	bug("sub-event comes again", "runtime/exec/decide.go", // its row outlives its end
		"if ev.outSeq == 0 {",
		"if ev.outSeq == 0 || ev.issuer != nil {",
		golden, crashing, killed),
	bug("sub-events out of order", "runtime/outbox/lane.go",
		"\tl.queue = append(l.queue, e)\n",
		"\tl.queue = append(l.queue, e)\n\tif n := len(l.queue); n-l.head > 1 {\n\t\tl.queue[n-1], l.queue[n-2] = l.queue[n-2], l.queue[n-1]\n\t}\n",
		randomly),
	bug("a timer fires after its cancellation", "runtime/exec/firing.go",
		"case a.ts.Off(a.t):\n",
		"case a.ts.Off(a.t) && false:\n",
		randomly),
	bug("a timer fires twice", "runtime/exec/firing.go",
		"args: c.args, timer: a.t})\n\t\t}\n",
		"args: c.args, timer: a.t})\n\t\t\tof(cx).emit(op{kind: opEmit, target: c.target, method: c.method, args: c.args, timer: a.t})\n\t\t}\n",
		randomly),
	bug("a timer's name is not replaced", "runtime/outbox/timer.go",
		"\tif t.Name != \"\" {\n\t\tts.drop(",
		"\tif false {\n\t\tts.drop(",
		randomly),
	bug("a callback of an undone event", "runtime/exec/event.go",
		"\t\t\tev.undo()\n\t\t\tev.undone(",
		"\t\t\tev.undo()\n\t\t\tfor i := range ev.root.ops {\n\t\t\t\tif o := &ev.root.ops[i]; o.kind == opCallback && clientOf(o.object.client).post(callback{object: o.object, method: o.call, args: o.args}) {\n\t\t\t\t\tev.sys.workers.Run(clientOf(o.object.client).drain)\n\t\t\t\t}\n\t\t\t}\n\t\t\tev.undone(",
		randomly),
	bug("callbacks out of order", "runtime/outbox/mailbox.go",
		"\tm.mu.queue = append(m.mu.queue, c)\n",
		"\tm.mu.queue = append(m.mu.queue, c)\n\tif n := len(m.mu.queue); n > 1 {\n\t\tm.mu.queue[n-1], m.mu.queue[n-2] = m.mu.queue[n-2], m.mu.queue[n-1]\n\t}\n",
		randomly),
	bug("a failure is placed in a worker", "runtime/callpath/callpath.go",
		"\t\"runtime.\", \"sync.(*WaitGroup).Go\", ",
		"\t\"runtime.\", ",
		golden, "./runtime/callpath"),
	bug("a chain keeps nothing", "runtime/exec/tail.go",
		"\tif ch.keeps == nil {\n\t\tch.keeps =",
		"\tif false {\n\t\tch.keeps =",
		randomly, "./runtime/exec -run TestNoEventComesBetweenTheSteps"),
	bug("a chain that is left keeps nothing", "runtime/exec/tail.go",
		"if k := ch.keeps; k != nil {\n\t\tk.Close(",
		"if k := ch.keeps; false {\n\t\tk.Close(",
		closing),
	bug("a firing that is left has ended", "runtime/exec/lane.go",
		"\tif firing {\n\t\ts.timers.Postponed(",
		"\tif false {\n\t\ts.timers.Postponed(",
		closing),
}

const (
	golden      = "./spec/golden -failfast -run TestGoldenPrograms"
	probes      = "./runtime/exec -run TestProbes/"
	randomly    = "./runtime/exec -failfast -run TestRandomWorkloadIsStrictlySerialisable"
	crashing    = "./runtime/exec -failfast -run TestCrashesLoseNothingThatWasAnswered"
	closing     = "./runtime/exec -run TestClosingAmidLifeLosesNothing -close.runs 16"
	crashImages = "./runtime/exec -run TestCrashImages"
	killed      = "./sim/kill -run TestKilledProcessesLoseNothing"
	keyed       = "./runtime/exec -run Keys|Cancelled"
	traced      = "./spec/trace -run TestRealRunsAgree/trace"
)
