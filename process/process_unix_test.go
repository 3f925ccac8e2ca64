//go:build unix

package process_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/process"
)

// The tests run shell scripts as children; signals go to the test process, as
// `kill` or a supervisor would send them to aeonc. The child is in a group of
// its own, so that a terminal that runs the tests does not take part.
func script(text string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func TestExitCodesPassThrough(t *testing.T) {
	for text, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 128 + 15, "kill -KILL $$": 128 + 9} {
		if code, err := process.Run(script(text)); err != nil || code != want {
			t.Errorf("%s: exit code %d, error %v; want %d", text, code, err, want)
		}
	}
}

func TestAChildThatCannotStartIsAnError(t *testing.T) {
	if _, err := process.Run(exec.Command("/nonexistent/program")); err == nil {
		t.Error("no error")
	}
}

// runWithSignals runs a script and sends this process one of the signals for
// every line that the script prints.
func runWithSignals(t *testing.T, text string, signals ...syscall.Signal) int {
	t.Helper()
	cmd := script(text)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	sent := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for _, s := range signals {
			if !lines.Scan() {
				sent <- io.ErrUnexpectedEOF
				return
			}
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	code, err := process.Run(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	return code
}

func TestSignalsReachTheChildAndItsAnswerCounts(t *testing.T) {
	if code := runWithSignals(t, "trap 'exit 5' TERM; echo ready; while :; do sleep 0.02; done", syscall.SIGTERM); code != 5 {
		t.Errorf("exit code %d after SIGTERM, want the child's 5", code)
	}
}

func TestASecondInterruptKills(t *testing.T) {
	code := runWithSignals(t, "trap 'echo again' INT; echo ready; while :; do sleep 0.02; done", syscall.SIGINT, syscall.SIGINT)
	if code != 128+9 {
		t.Errorf("exit code %d, want that of a killed child", code)
	}
}
