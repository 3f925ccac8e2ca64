//go:build !windows

package inherit

import (
	"os"
	"os/exec"
	"syscall"
)

// give returns the number that a file will have in the process that cmd starts.
func give(cmd *exec.Cmd, f *os.File) (uintptr, error) {
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	return uintptr(2 + len(cmd.ExtraFiles)), nil
}

// keep has the processes that this one starts not get a file.
func keep(file uintptr) { syscall.CloseOnExec(int(file)) }
