//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// becomeEnv asks the test executable to become a shell that runs its value.
const becomeEnv = "AEON_CLI_BECOME"

func TestMain(m *testing.M) {
	if text := os.Getenv(becomeEnv); text != "" {
		os.Unsetenv(becomeEnv)
		_, err := become("/bin/sh", "-c", text)
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// becoming is a process that becomes a shell. It is in a session of its own, so that a terminal that
// runs the tests does not take part.
func becoming(text string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), becomeEnv+"="+text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

func TestAProgramThatWasBecomeIsTheProcess(t *testing.T) {
	for text, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": -1} {
		cmd := becoming("echo $$; " + text)
		out, _ := cmd.Output()
		if got := strings.TrimSpace(string(out)); got != fmt.Sprint(cmd.ProcessState.Pid()) || cmd.ProcessState.ExitCode() != want {
			t.Errorf("%s: %v, process %s of %d", text, cmd.ProcessState, got, cmd.ProcessState.Pid())
		}
	}
	_, err := become("/nonexistent/program")
	if err == nil || err.Error() != "start /nonexistent/program: no such file or directory" {
		t.Errorf("what cannot be started: %v", err)
	}
}

// A kill leaves nothing behind: what the program had open is closed, a pipe to here too.
func TestAKillReachesTheProgram(t *testing.T) {
	cmd := becoming("echo ready; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; done; echo still here")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Errorf("it says %q", lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if lines.Scan() {
		t.Errorf("it goes on: %q", lines.Text())
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it ended well")
	}
}
