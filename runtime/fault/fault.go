// Package fault tells apart the errors of a file system: the disk is full, a limit of the process was reached, a permission is missing,
// or the disk has failed. For each it has the words that say what to do.
package fault

import (
	"errors"
	"syscall"
)

// Kind is what an error is about.
type Kind uint8

// The kinds.
const (
	None   Kind = iota // the system has not reported it
	Space              // the disk is full
	Access             // the process has no right to do this
	Limit              // the system lets the process do no more, or not here: see Remedy
	Disk               // any other: the disk has failed
)

// limits are the numbers of errors that are not those of a disk, and what to do.
var limits = []struct {
	errno  syscall.Errno
	remedy string
}{
	{syscall.EMFILE, "let the process have more files open (ulimit -n, or LimitNOFILE of systemd)"},
	{syscall.ENFILE, "close files of other processes, or let the system have more open"},
	{syscall.EFBIG, "let the process make larger files (ulimit -f), or name a directory on a file system that has them"},
	{syscall.ENOMEM, "give the process or the machine more memory"},
	{syscall.ENAMETOOLONG, "name a directory with a shorter path"},
	{syscall.ELOOP, "name a directory whose links lead somewhere"},
	{syscall.ENOTDIR, "name a directory that is none of a file"},
	{syscall.ENOTSUP, "name a directory on a local file system"},
	{syscall.ENOSYS, "name a directory on a local file system"},
	{syscall.ENOLCK, "name a directory on a local file system"},
}

// Of returns what an error is about. That something is there, or is not, may be an answer rather than a fault, and is the caller's to tell.
func Of(err error) Kind {
	var number syscall.Errno
	switch {
	case !errors.As(err, &number):
		return None
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Space
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return Access
	case Remedy(err) != "":
		return Limit
	}
	return Disk
}

// Remedy returns what to do about an error that is a Limit, "" for any other.
func Remedy(err error) string {
	for _, l := range limits {
		if errors.Is(err, l.errno) {
			return l.remedy
		}
	}
	return ""
}

// NoSync reports whether an error says that a directory is not this process's to sync, or that its file system has no such thing, rather than
// that it could not be synced.
func NoSync(err error) bool {
	return Of(err) == Access || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}
