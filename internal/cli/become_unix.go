//go:build unix

package cli

import (
	"os"
	"syscall"
)

// become replaces this process by a program, which keeps its id, its files, its terminal and
// its parent: nothing can end the one and leave the other. It returns only with an error.
func become(path string, args ...string) (code int, err error) {
	return 0, &os.PathError{Op: "start", Path: path, Err: syscall.Exec(path, append([]string{path}, args...), os.Environ())}
}
