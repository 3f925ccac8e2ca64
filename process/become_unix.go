//go:build unix

package process

import (
	"os"
	"syscall"
)

// Become replaces this process by a program, which keeps its id, its files, its terminal and
// whoever waits for it: nothing can end the one and leave the other. It returns only with an error.
func Become(path string, args ...string) (code int, err error) {
	return 0, &os.PathError{Op: "start", Path: path, Err: syscall.Exec(path, append([]string{path}, args...), os.Environ())}
}
