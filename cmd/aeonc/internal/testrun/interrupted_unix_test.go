//go:build unix

package testrun

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestInterrupted(t *testing.T) {
	for text, want := range map[string]bool{"kill -INT $$": true, "kill -TERM $$": false, "exit 0": false, "exit 130": true} {
		cmd := exec.Command("/bin/sh", "-c", text)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if got := interrupted(cmd.Run()); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
