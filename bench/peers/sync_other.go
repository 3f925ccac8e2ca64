//go:build !linux

package peers

import "os"

// fdatasync waits until what was written to f is on the disk.
func fdatasync(f *os.File) error { return f.Sync() }
