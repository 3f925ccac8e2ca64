//go:build linux

package cluster

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/aeon-lang/aeon/internal/parallel"
)

// stallEnv has a process of this test be the one that stalls a disk: PID,TIME.
const stallEnv = "AEON_SIM_STALL"

func TestMain(m *testing.M) {
	if what := os.Getenv(stallEnv); what != "" {
		if err := stallDisk(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	parallel.Tests(8) // they wait for elections
	os.Exit(m.Run())
}

// stall has the disk of a node take nothing for a time: no sync that a thread of its process begins returns. All else goes on.
func (w *world) stall(i int, d time.Duration) *exec.Cmd {
	w.t.Helper()
	w.mu.Lock()
	pid := w.procs[i].Process.Pid
	w.mu.Unlock()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d,%v", stallEnv, pid, d))
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// What of ptrace(2) package syscall has no names for.
const (
	ptraceSeize       = 0x4206
	ptraceInterrupt   = 0x4207
	ptraceSyscallInfo = 0x420e
	optionSysgood     = 1
	optionClone       = 8
	eventStop         = 128
	atEntry           = 1
)

// stallDisk traces all threads of a process. A thread that is about to sync a file is held until the time is over.
func stallDisk(what string) error {
	runtime.LockOSThread() // one thread traces
	number, length, _ := strings.Cut(what, ",")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	traced := make(map[int]bool)
	for {
		more, err := seizeAll(pid, traced)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	over := time.AfterFunc(d, func() { os.Exit(0) }) // the kernel lets go of all threads
	defer over.Stop()
	for {
		var is syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &is, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil // the process has ended
		case is.Stopped():
			if signal, held := onStop(tid, is); !held {
				_ = syscall.PtraceSyscall(tid, signal) // the thread may have ended
			}
		}
	}
}

// seizeAll begins to trace the threads of a process that are not traced, and reports whether there were such: a thread that is not traced
// begins others that are not.
func seizeAll(pid int, traced map[int]bool) (more bool, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return false, err
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(filepath.Base(t))
		if err != nil || traced[tid] {
			continue
		}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceSeize, uintptr(tid), 0, optionSysgood|optionClone, 0, 0); e != 0 {
			if e == syscall.ESRCH || e == syscall.EPERM && len(traced) > 0 { // it has ended, or is traced as its parent is
				traced[tid] = true
				continue
			}
			return false, fmt.Errorf("thread %d of process %d cannot be traced: %w", tid, pid, e)
		}
		traced[tid], more = true, true
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceInterrupt, uintptr(tid), 0, 0, 0, 0); e != 0 && e != syscall.ESRCH {
			return false, fmt.Errorf("thread %d of process %d does not stop: %w", tid, pid, e)
		}
	}
	return more, nil
}

// onStop returns the signal that a thread which has stopped goes on with; held reports that it does not go on.
func onStop(tid int, is syscall.WaitStatus) (signal int, held bool) {
	switch s := is.StopSignal(); {
	case s == syscall.SIGTRAP|0x80:
		var info [88]byte // op at 0, number at 24
		_, _, e := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceSyscallInfo, uintptr(tid), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0)
		number := binary.NativeEndian.Uint64(info[24:])
		return 0, e == 0 && info[0] == atEntry && (number == syscall.SYS_FSYNC || number == syscall.SYS_FDATASYNC || number == syscall.SYS_SYNC_FILE_RANGE)
	case int(is)>>16 == eventStop, s == syscall.SIGTRAP:
		return 0, false
	default:
		return int(s), false
	}
}
