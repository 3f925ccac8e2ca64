//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package httpdoor

// restrict does nothing: sockets have no mode.
func restrict(uintptr, uint32) {}
