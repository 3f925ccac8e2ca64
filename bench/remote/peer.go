package remote

// Peer is the other process of a pair.
type Peer interface {
	// Address is where it is reached.
	Address() string
	// Restart ends it, and starts it again with what is on its disk. Its address is another one.
	Restart() error
}
