//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package httpdoor

import "syscall"

// restrict gives a socket its mode before it has a file. Linux makes the file with the mode of the socket; other systems
// refuse this, and there is a moment before the mode of the file is changed.
func restrict(fd uintptr, mode uint32) { _ = syscall.Fchmod(int(fd), mode) }
