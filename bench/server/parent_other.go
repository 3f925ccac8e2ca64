//go:build !linux

package server

import "syscall"

// dieWithParent does nothing: a server outlives a benchmark that is killed.
func dieWithParent(*syscall.SysProcAttr, syscall.Signal) {}
