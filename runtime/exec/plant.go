package exec

// planted are bugs that the tests plant, to show that they would be found. Nothing but
// tests sets them, before a system is opened.
var planted struct {
	skipLock     bool // an access runs without its lock
	releaseEarly bool // locks go before the method has ended
	forgetUndo   bool // the last write of an aborted event stays
	linger       bool // no bug: others run between the steps of guests, which shows theirs
	narrowAtPass bool // a path through a field is narrowed without a hold on it
}
