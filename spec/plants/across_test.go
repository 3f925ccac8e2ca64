package plants

// overStores are transfers between accounts that are in any of three stores.
const overStores = "./runtime/nodes -run TestTransfersOverStores"

// ofAcross are bugs of events over several stores.
var ofAcross = []plant{
	bug("what an event has written in another store is not committed there", "runtime/across/thread.go",
		"t.wrote[d.from] = t.wrote[d.from] || r.Wrote",
		"t.wrote[d.from] = false",
		overStores),
	bug("a part that is dropped keeps what it has written", "runtime/across/part.go",
		"\tp.proxy.Undo()\n\tp.end(true)\n",
		"\tp.end(true)\n",
		overStores),
	bug("a part releases its locks with its vote, though it has written", "runtime/across/try.go",
		"there == All || there == Changes && t.wrote[p]",
		"there == All",
		overStores),
}
