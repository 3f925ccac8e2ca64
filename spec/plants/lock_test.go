package plants

// ofLock are bugs of the lock core. Its explorer must find each; and a test with real goroutines each that a few
// goroutines can show.
var ofLock = []plant{
	bug("conflicting modes share a node", "runtime/lock/admit.go",
		"if q.blocked(e.mode, e.below) {",
		"if q.blocked(None, e.below) {",
		explored),
	bug("lazy readers share a node", "runtime/lock/admit.go",
		"if q.blocked(e.mode, e.below) {",
		"if q.blocked(e.mode, e.below) && (e.mode != Read || q.writers > 0) {",
		explored, probes+"lazy_readers"),
	bug("a holder joins the fast path although the gate is closed", "runtime/lock/word.go",
		"case w&closed != 0, w&(latched|writer) != 0, m == None:\n\t\treturn w, false\n\tcase m == Read:\n\t\treturn w + reader, true\n\t}\n\treturn w + writer, w < shared\n",
		"case w&(latched|writer) != 0, m == None:\n\t\treturn w, false\n\tcase m == Read:\n\t\treturn w + reader, true\n\t}\n\treturn w + writer, w < reader\n",
		exploredWords, probes+"intruder"),
	bug("what wants something below does not wait for the fast path", "runtime/lock/admit.go",
		"(q.lazies > 0 || q.fast != None)",
		"q.lazies > 0",
		exploredWords, probes+"family_visits").
		and("runtime/order/fastpath.go", // other events run between the steps of fast-path holders
			"\tif a.joinAll(&a.narrowed) {",
			"\truntime.Gosched()\n\tif a.joinAll(&a.narrowed) {"),
	bug("a blocked head does not stop those behind it", "runtime/lock/admit.go",
		"out, ok = q.admit(v, i, out); !ok {\n\t\t\tbreak\n\t\t}",
		"out, ok = q.admit(v, i, out); !ok {\n\t\t\ti = next\n\t\t\tcontinue\n\t\t}",
		explored),
	bug("a release before its enqueue is forgotten", "runtime/lock/release.go",
		"\tf := q.remember()\n\tf.tombs =",
		"\tif !withdrawn {\n\t\treturn out\n\t}\n\tf := q.remember()\n\tf.tombs =",
		explored),
	bug("a withdrawal before its enqueue is forgotten", "runtime/lock/release.go",
		"\tf := q.remember()\n\tf.tombs =",
		"\tif withdrawn {\n\t\treturn out\n\t}\n\tf := q.remember()\n\tf.tombs =",
		explored),
	bug("enqueues are admitted as they arrive", "runtime/lock/queue.go",
		"if s.Number != l.received+1 {",
		"if false {",
		"./runtime/lock/locktest -run TestEagerDeliveries$"), // else they are not delivered before their turn
	bug("a direct entry is not checked at its admission", "runtime/lock/admit.go",
		"if e.from == none && w.Enter",
		"if false && w.Enter",
		explored),
	bug("a settled hold goes on acquiring", "runtime/lock/admit.go",
		"\tif !e.lazy {\n",
		"\tif false {\n",
		"./runtime/lock/locktest -run TestWrittenConfigs").
		and("runtime/lock/home.go", "case v.state == settled:", "case false:"),
	bug("enqueues of a former parent are accepted", "runtime/lock/queue.go",
		"return p != from && p != undecided",
		"return false && p != undecided",
		explored),
	bug("numbers outlive the session that they belong to", "runtime/lock/crash.go",
		"if f := q.far; f != nil {",
		"if f := q.far; false {",
		exploredCrashes),
	bug("what a crashed parent has enqueued is not reported", "runtime/lock/crash.go",
		"if !e.cut(peer) && !orphan {",
		"if !e.cut(peer) || orphan {",
		exploredCrashes),
	bug("what was enqueued on a crashed child is released there", "runtime/lock/crash.go",
		"\tif !found {\n",
		"\tif true {\n",
		exploredCrashes),
	bug("a grant of another host tells the home no children", "runtime/lock/message.go",
		"for _, c := range m.Children {",
		"for _, c := range m.Children[:0] {",
		explored),
	bug("a message forgets that a lazy hold has asked", "runtime/lock/wire.go",
		"m.Lazy = d.Bool()\n\t\tm.Claims",
		"m.Lazy = d.Bool() && false\n\t\tm.Claims",
		"./runtime/lock -run TestMessagesSurviveTheWire", explored),
	bug("a queue does not see holders on the fast path", "runtime/lock/word.go",
		"\tq.fast = w.fast()\n\t// Invariant: beside",
		"\tq.fast = None\n\t// Invariant: beside",
		exploredStores, exploredFaults, exploredWords),
	bug("a store goes on with the numbers of a session that is over", "runtime/lock/grow.go",
		"func (t *Turns[P]) Restart() { *t = Turns[P]{} }",
		"func (t *Turns[P]) Restart() { t.early = nil }",
		exploredFaults),
	bug("an entry that leaves in front wakes no other", "runtime/lock/release.go",
		"if q.head != 0 && (was == held || first) {",
		"if q.head != 0 && (was == held || first && false) {",
		explored),
}

const (
	explored = "./runtime/lock -run TestExplore$ -explore.sets 100 -explore.stores 0 -explore.faults 0"
	// exploredCrashes goes on to what is explored with crashes at once.
	exploredCrashes = "./runtime/lock -run TestExplore$ -explore.sets 100 -explore.seed 2 -explore.states 0 -explore.stores 0 -explore.faults 0"
	// exploredStores takes those sets of CI that are over several stores.
	exploredStores = "./runtime/lock -run TestExplore$ -explore.sets 30 -explore.states 0 -explore.further 0 -explore.faults 0"
	// exploredFaults takes those whose stores crash, and whose sessions end.
	exploredFaults = "./runtime/lock -run TestExplore$ -explore.sets 30 -explore.states 0 -explore.further 0 -explore.stores 0"
	// overtaken are votes that go with answers, and locks that are taken after them.
	overtaken = "./runtime/lock/locktest -run TestAVoteIsOvertaken"

	exploredWords = "./runtime/lock -run TestWordsAndQueues"
)
