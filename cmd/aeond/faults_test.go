package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

var faultsEvery = flag.Int("faults.every", 23, "which of the calls TestEveryCallOfAProcessFails has fail, and kills at; 1: each")

// faultEnv makes the test the tool, on a disk of which a call fails. Its value is the number of the call, the number of
// the error, 0 to be killed there, and whether the calls behind it fail, too.
const faultEnv = "AEOND_TEST_FAULT"

func TestMain(m *testing.M) {
	if text := os.Getenv(faultEnv); text != "" {
		d := &faultyDisk{log: os.NewFile(3, "log")}
		if _, err := fmt.Sscan(text, &d.at, &d.errno, &d.sticky); err != nil {
			panic(err)
		}
		vfs.Default = asSystem{errorfs.Wrap(vfs.Default, d)}
		tool().Main()
	}
	os.Exit(m.Run())
}

// asSystem is a file system that is taken for the one of the system, though it is wrapped.
type asSystem struct{ *errorfs.FS }

func (asSystem) Unwrap() vfs.FS { return nil }

// faultyDisk makes calls fail. It writes a line into its log for each that does, or for all calls if none is to.
type faultyDisk struct {
	at, errno int64
	sticky    bool
	calls     atomic.Int64
	log       *os.File
}

func (d *faultyDisk) String() string { return "faulty disk" }

// MaybeError implements errorfs.Injector. What is only a hint to the system, or a question about it, does not count.
func (d *faultyDisk) MaybeError(op errorfs.Op) error {
	if op.Kind == errorfs.OpFilePreallocate || op.Kind == errorfs.OpGetDiskUsage {
		return nil
	}
	n := d.calls.Add(1) - 1
	hit := n == d.at || d.sticky && n > d.at
	if hit || d.at < 0 {
		mark := ""
		if slices.Contains(makes, op.Kind) {
			mark = ", " + mustTell
		}
		fmt.Fprintf(d.log, "call %d of kind %d, %s%s\n", n, op.Kind, op.Path, mark)
	}
	switch {
	case !hit:
		return nil
	case d.errno == 0:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return syscall.Errno(d.errno)
}

// makes are the kinds of calls whose failure must end the act. Without one that reads or removes something, all may be
// well.
var makes = []errorfs.OpKind{errorfs.OpCreate, errorfs.OpLink, errorfs.OpRename, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpFileWrite, errorfs.OpFileWriteAt,
	errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}

const mustTell = "which must be told"

// faultyRun is a process of the tool with a fault.
type faultyRun struct {
	at     int
	errno  syscall.Errno // 0: killed
	sticky bool
	hit    string // the calls that have failed
	code   int
	killed bool
	said   string
}

func (r *faultyRun) String() string {
	first, _, _ := strings.Cut(r.hit, "\n")
	return fmt.Sprintf("%s: %v, sticky %v: exit code %d, killed %v:\n%s", first, r.errno, r.sticky, r.code, r.killed, r.said)
}

func (r *faultyRun) run(t *testing.T, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %v", faultEnv, r.at, int(r.errno), r.sticky))
	cmd.ExtraFiles = []*os.File{log}
	said, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	hit, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	r.said, r.hit, r.code, r.killed = string(said), string(hit), cmd.ProcessState.ExitCode(), cmd.ProcessState.String() == "signal: killed"
}

// aeond runs the tool without a fault.
func aeond(args ...string) (code int, said string) {
	var out bytes.Buffer
	code = tool().Run(args, &cli.Env{Tool: "aeond", Stdout: cli.NewOutput(&out), Stderr: &out})
	return code, out.String()
}

// remedies are what the errors of a fault end with.
var remedies = regexp.MustCompile(`free space on it|give it the right to|let the process have more files open|close files of other processes|let the process make larger files|` +
	`give the process or the machine more memory|check the disk|a crash of the machine may take it away`)

var faultNumbers = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EACCES, syscall.EMFILE, syscall.EROFS, syscall.EDQUOT, syscall.EFBIG, syscall.ENOMEM,
	syscall.EPERM, syscall.ENFILE}

// faultyAct is something that is done by a process, in an empty directory.
type faultyAct struct {
	name  string
	setUp func(base string) error
	args  func(base string) []string
	// whole says what is there: nothing, or all that is to be.
	whole func(base string) (bool, error)
	left  *regexp.Regexp // names in the directory that may be there
}

// restoredWhole reports whether there is a store in base/data, which is whole then.
func restoredWhole(rows int) func(base string) (bool, error) {
	return func(base string) (bool, error) {
		dir := filepath.Join(base, "data")
		if _, err := pebbledb.Identify(dir); errors.Is(err, store.ErrMissing) {
			return false, nil
		}
		code, said := aeond("check", "--data", dir)
		if want := fmt.Sprintf("rows       %d, all of them whole\n", rows); code != 0 || !strings.Contains(said, want) {
			return true, fmt.Errorf("check ends with %d instead of 0, and %q:\n%s", code, want, said)
		}
		return true, nil
	}
}

// storesWhole reports whether there are two stores in base/data, which are whole then.
func storesWhole(base string) (bool, error) {
	dir := filepath.Join(base, "data")
	n, err := archive.Stores(dir)
	if n == 0 || err != nil {
		return false, err
	}
	for i := range 2 {
		if code, said := aeond("check", "--data", archive.StoreDir(dir, i)); code != 0 {
			return true, fmt.Errorf("check of store %d ends with %d:\n%s", i, code, said)
		}
	}
	return true, nil
}

// takenWhole reports whether there is a snapshot in base/place, which is whole then.
func takenWhole(base string) (bool, error) {
	code, said := aeond("snapshots", "--from", filepath.Join(base, "place"), "--verify")
	if strings.Contains(said, "there are no snapshots in ") {
		return false, nil
	}
	if code != 0 || !strings.Contains(said, "  whole\n") {
		return true, fmt.Errorf("snapshots ends with %d:\n%s", code, said)
	}
	return true, nil
}

const faultyRows = 60

// faultySource makes a store and a snapshot of it, and returns their directories, and how many rows they have.
func faultySource(t *testing.T) (data, place string, rows int) {
	t.Helper()
	data, place = makeStore(t), filepath.Join(t.TempDir(), "place")
	e, err := pebbledb.Open(data, store.EngineOptions{Program: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	b := e.NewBatch()
	for n := range faultyRows {
		key := store.MetaKey(fmt.Sprintf("zero %02d", n))
		b.Set(key, store.AppendRow(nil, key, bytes.Repeat([]byte{byte(n), 1, 2, 3}, 3000)))
	}
	if err := errors.Join(e.Apply(b), e.Close()); err != nil {
		t.Fatal(err)
	}
	if code, said := aeond("snapshot", "--data", data, "--to", place); code != 0 {
		t.Fatal(said)
	}
	_, said := aeond("check", "--data", data)
	_, after, _ := strings.Cut(said, "\nrows ")
	if _, err := fmt.Sscan(after, &rows); err != nil || rows < faultyRows {
		t.Fatalf("%v: %s", err, said)
	}
	return data, place, rows
}

// Each call of a restore and of a snapshot, by a process, fails with some number, and at each one is killed: the exit code is 3, and the
// message names the number and the remedy, and never damage. What is there is nothing of value or whole, and the next restore removes the former,
// and succeeds.
func TestEveryCallOfAProcessFails(t *testing.T) {
	data, place, rows := faultySource(t)
	stores := filepath.Join(t.TempDir(), "place")
	saveStores(t, stores, 1, 2, map[int]string{0: "node1", 1: "node2"})
	nothing := func(string) error { return nil }
	restore := func(base string) []string {
		return []string{"restore", "--from", place, "--data", filepath.Join(base, "data")}
	}
	left := regexp.MustCompile(`^data$`)
	for _, a := range []faultyAct{
		{"restore", nothing, restore, restoredWhole(rows), left},
		{"restore to an empty directory", func(base string) error { return os.Mkdir(filepath.Join(base, "data"), 0o777) }, restore, restoredWhole(rows), left},
		{"restore of two stores", nothing, func(base string) []string {
			return []string{"restore", "--from", stores, "--data", filepath.Join(base, "data")}
		}, storesWhole, left},
		{"snapshot", nothing, func(base string) []string {
			return []string{"snapshot", "--data", data, "--to", filepath.Join(base, "place")}
		}, takenWhole, regexp.MustCompile(`^place$`)},
	} {
		t.Run(a.name, func(t *testing.T) {
			count := &faultyRun{at: -1}
			a.do(t, count)
			calls := strings.Count(count.hit, "\n")
			told, killed, tried := 0, 0, 0
			for at := 0; at < calls; at += *faultsEvery {
				n := len(faultNumbers)
				failing := &faultyRun{at: at, errno: faultNumbers[tried%n], sticky: (tried+tried/n)%2 == 0} // both with each number
				tried++
				a.do(t, failing)
				if failing.code != 0 {
					told++
				}
				dying := &faultyRun{at: min(at+*faultsEvery/2, calls-1)}
				a.do(t, dying)
				if dying.killed {
					killed++
				}
			}
			t.Logf("%d of %d calls, %d faults were told, %d processes killed", tried, calls, told, killed)
			if told < tried*8/10 || killed < tried*8/10 {
				t.Errorf("only %d faults were told, and %d processes killed", told, killed)
			}
		})
	}
}

// do has a process perform the act, with the fault, and then again without.
func (a *faultyAct) do(t *testing.T, r *faultyRun) {
	t.Helper()
	base := t.TempDir()
	if err := a.setUp(base); err != nil {
		t.Fatal(err)
	}
	r.run(t, a.args(base)...)
	whole, err := a.whole(base)
	switch failed := r.at >= 0 && r.hit != ""; {
	case err != nil:
		t.Errorf("%v\nit is not whole: %v", r, err)
	case !failed && r.code != 0:
		t.Errorf("nothing has failed, and yet: %v", r)
	case failed && r.code == 0 && strings.Contains(r.hit, mustTell):
		t.Errorf("it is not told: %v", r)
	case r.code == 0 && !whole:
		t.Errorf("%v\nthere is nothing", r)
	case r.errno == 0 && failed:
		if !r.killed {
			t.Errorf("not killed: %v", r)
		}
	case r.code == 0:
	case r.code != cli.ExitEnvironment || strings.Contains(r.said, "damaged") || !strings.Contains(r.said, r.errno.Error()) || !remedies.MatchString(r.said):
		t.Errorf("it is told otherwise: %v", r)
	}
	a.look(t, base, r)
	if !whole {
		if code, said := aeond(a.args(base)...); code != 0 {
			t.Errorf("%v\nagain, without a fault: exit code %d: %s", r, code, said)
		}
		if whole, err = a.whole(base); err != nil || !whole {
			t.Errorf("%v\nagain, without a fault: whole %v: %v", r, whole, err)
		}
		a.look(t, base, r)
		if parts, err := filepath.Glob(filepath.Join(base, "place", "*", "*", ".part-*")); err != nil || len(parts) > 0 {
			t.Errorf("%v\n%v are left by a second run: %v", r, parts, err)
		}
	}
}

// look compares what is in the directory with what may be there.
func (a *faultyAct) look(t *testing.T, base string, r *faultyRun) {
	t.Helper()
	list, err := os.ReadDir(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !a.left.MatchString(e.Name()) {
			t.Errorf("%v\n%s is left", r, e.Name())
		}
	}
}
