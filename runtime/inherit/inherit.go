// Package inherit hands files over to a process that is started, beside the three that each process has. What two processes tell each
// other by such a file is apart from what libraries print: no line of these comes between.
package inherit

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// Start starts a process that gets files, each under a name that Start appends to its arguments. This process closes them.
func Start(cmd *exec.Cmd, files ...*os.File) error {
	for _, f := range files {
		defer f.Close()
		name, err := give(cmd, f)
		if err != nil {
			return err
		}
		cmd.Args = append(cmd.Args, strconv.FormatUint(uint64(name), 10))
	}
	return cmd.Start()
}

// Open returns the file that this process got under a name. Processes that it starts itself do not get the file: one that outlives it
// would keep the other end waiting.
func Open(name string) (*os.File, error) {
	n, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no file that a process gets from the one that starts it", name)
	}
	keep(uintptr(n))
	return os.NewFile(uintptr(n), "file "+name), nil
}
