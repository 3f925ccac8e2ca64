//go:build unix

package main

import "syscall"

// ownGroup has a process be in a group of its own: a Ctrl-C in the terminal does not reach it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
