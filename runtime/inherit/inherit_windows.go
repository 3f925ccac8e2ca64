package inherit

import (
	"os"
	"os/exec"
	"syscall"
)

// give returns the handle of a file, which is the same in the process that cmd starts.
func give(cmd *exec.Cmd, f *os.File) (uintptr, error) {
	h := syscall.Handle(f.Fd())
	if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
		return 0, err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
	return uintptr(h), nil
}

// keep has the processes that this one starts not get a file.
func keep(file uintptr) { syscall.CloseOnExec(syscall.Handle(file)) }
