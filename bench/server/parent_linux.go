package server

import "syscall"

// dieWithParent has the system send sig when the thread that starts the process ends.
func dieWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
