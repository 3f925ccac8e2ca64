package event

// Fingerprint is the hash of the method and the arguments of a request by itself. Two requests with one key are the same if they have one.
type Fingerprint uint64

// mark is what fingerprints begin with on which versions of a program agree. Those of earlier versions of aeon were of other bytes
// when a version had more fields, and 1 in 65 536 of them begins so.
const mark Fingerprint = 0xae01 << 48

// FingerprintOf returns the fingerprint that a hash makes.
func FingerprintOf(hash uint64) Fingerprint { return mark | Fingerprint(hash>>16) }

// Lasting reports whether another version of a program has the same fingerprint for the same request.
func (f Fingerprint) Lasting() bool { return f>>48 == mark>>48 }
