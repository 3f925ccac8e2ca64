package peers

import (
	"os"
	"syscall"
)

// fdatasync waits until what was written to f is on the disk.
func fdatasync(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
