//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package process

import "os"

// ending lists the signals that are passed on.
var ending = []os.Signal{os.Interrupt}

// sentToGroup reports whether the child has got s already: where there are no
// process groups, the console sends an interrupt to all that share it.
func sentToGroup(os.Signal) bool { return true }
