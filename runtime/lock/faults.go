package lock

// Plant plants the bug of that name for the tests of the packages above, which run it in
// a process of its own. It must be called before any queue is used.
func Plant(name string) {
	switch name {
	case "shareLazy":
		faults.shareLazy = true
	case "guestIntrudes":
		faults.guestIntrudes = true
	case "passGuests":
		faults.passGuests = true
	default:
		panic("lock: no such bug: " + name)
	}
}

// faults are bugs that the tests plant, to show that they would be found. Nothing
// but tests sets them, before any queue is used. They are looked at where a
// fast path ends, except for those of guests.
var faults struct {
	overtake      bool // a blocked head does not stop those behind it
	shareLazy     bool // two lazy readers share a node
	noTombstone   bool // a commit's release that comes before its enqueue is forgotten
	forgetDead    bool // the same for a withdrawn attempt
	noNumbers     bool // enqueues are admitted as they arrive
	noRevalidate  bool // direct entries are not checked at their admission
	thawCoverage  bool // a settled hold goes on acquiring
	ignoreMode    bool // conflicting modes share
	guestIntrudes bool // a guest joins although the gate is closed
	passGuests    bool // what wants something below does not wait for guests
	keepStrangers bool // enqueues of a former T-parent are accepted
	keepSession   bool // numbers and tombstones outlive the session they belong to
	keepOrphans   bool // what a crashed T-parent has enqueued is not reported
	followLost    bool // what was enqueued on a crashed T-child is released there
}
