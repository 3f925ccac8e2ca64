//go:build unix

package codegen_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Go compiles containers that are nested deep in seconds. It took minutes while each level took twice the time of the one before.
func TestDeepContainers(t *testing.T) {
	for name, around := range map[string][2]string{"vectors": {"vector<", ">"}, "maps": {"map<string, ", ">"}} {
		deep := strings.Repeat(around[0], 24) + "int" + strings.Repeat(around[1], 24)
		program := "package p\n\nactorclass A {\n\t" + deep + " xs;\n\n\tstring go() {\n\t\treturn \"{xs == []} {xs}\";\n\t}\n}\n"
		m := newModule(t)
		m.add(t, name, generate(t, name+".aeon", program, true))
		within, end := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(within, "go", "build", "-gcflags=generated/...=-dwarf=false", "./"+name) // as aeonc compiles, with nothing for debuggers
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // the compiler, too, which takes all memory otherwise
		cmd.Dir, cmd.Env = m.dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOGC=400")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		end()
	}
}
