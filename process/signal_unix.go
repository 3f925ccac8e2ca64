//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package process

import (
	"os"
	"syscall"
	"unsafe"
)

// ending lists the signals that are passed on.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// sentToGroup reports whether s came from the keyboard. The terminal then has
// sent it to the child, too, which must not get it twice.
func sentToGroup(s os.Signal) bool {
	if s != os.Interrupt && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return false // no terminal: someone has sent it to this process
	}
	defer tty.Close()
	var foreground int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&foreground)))
	return errno == 0 && int(foreground) == syscall.Getpgrp()
}
