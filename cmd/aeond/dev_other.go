//go:build !unix

package main

import "syscall"

// ownGroup changes nothing: there are no groups of processes.
func ownGroup() *syscall.SysProcAttr { return nil }
