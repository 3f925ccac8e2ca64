package snapshot

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/fault"
)

// vfsFiles are the files of a file system of the tests.
type vfsFiles struct {
	vfs.FS
	parts int
}

type vfsFile struct {
	vfs.File
	name string
}

func (f *vfsFile) Name() string { return f.name }

func (v *vfsFiles) CreateTemp(dir, pattern string) (file, error) {
	v.parts++
	name := v.PathJoin(dir, strings.Replace(pattern, "*", fmt.Sprint(v.parts), 1))
	f, err := v.FS.Create(name, vfs.WriteCategoryUnspecified)
	return &vfsFile{f, name}, err
}

func (v *vfsFiles) Open(path string) (file, error) {
	f, err := v.FS.Open(path)
	return &vfsFile{f, path}, err
}

func (v *vfsFiles) Stat(path string) (fs.FileInfo, error) { return v.FS.Stat(path) }

func (v *vfsFiles) ReadDir(dir string) (list []fs.DirEntry, err error) {
	names, err := v.List(dir)
	slices.Sort(names)
	for _, name := range names {
		info, bad := v.FS.Stat(v.PathJoin(dir, name))
		if bad != nil {
			return list, bad
		}
		list = append(list, fs.FileInfoToDirEntry(info))
	}
	return list, err
}

func (v *vfsFiles) Mkdir(dir string) error { return v.MkdirAll(dir, 0o777) }

// callFault makes one call of a file system fail, or that one and all behind it.
type callFault struct {
	errno  syscall.Errno
	at     int
	sticky bool
	calls  int
	hit    []errorfs.Op
}

func (f *callFault) String() string {
	return fmt.Sprintf("%v at call %d, sticky %v, %v", f.errno, f.at, f.sticky, f.hit[:min(len(f.hit), 1)])
}

// MaybeError implements errorfs.Injector.
func (f *callFault) MaybeError(op errorfs.Op) error {
	n := f.calls
	f.calls++
	if n != f.at && !(f.sticky && n > f.at) {
		return nil
	}
	f.hit = append(f.hit, op)
	return &os.PathError{Op: "test", Path: op.Path, Err: f.errno}
}

// faultNumbers are the numbers that a call may fail with, and what they are about.
var faultNumbers = []struct {
	errno syscall.Errno
	kind  fault.Kind
}{
	{syscall.ENOSPC, fault.Space}, {syscall.EIO, fault.Disk}, {syscall.EACCES, fault.Access}, {syscall.EMFILE, fault.Limit}, {syscall.EROFS, fault.Access},
	{syscall.EDQUOT, fault.Space}, {syscall.EFBIG, fault.Limit}, {syscall.ENOMEM, fault.Limit}, {syscall.EPERM, fault.Access}, {syscall.ENFILE, fault.Limit},
}

var faultsEach = flag.Int("faults.each", 1, "with how many numbers TestEveryCallFails has each call fail, alone and with all behind it in turn; above 1: in both ways; 10: with all")

const faultyDir = "/backup/bank"

func faultyTarget(fs vfs.FS) Target { return &directory{faultyDir, &vfsFiles{FS: fs}} }

// faultyRows are those of the n-th snapshot: they differ from those of the one before by a row, which is an edit, and not from those of the tenth before.
func faultyRows(n int) map[string]string {
	rows := map[string]string{}
	for i := range 40 {
		rows[fmt.Sprintf("key %02d", i)] = strings.Repeat("x", 300)
	}
	rows["key 07"] = fmt.Sprint(n % 10)
	return rows
}

func faultySave(t Target, n int) (*Saved, error) {
	rows := faultyRows(n)
	m := Manifest{Kind: Node, Store: "ab12", Program: "bank", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
	return Save(context.Background(), t, m, func(emit func(key, value []byte) error) error {
		for _, k := range slices.Sorted(maps.Keys(rows)) {
			if err := emit([]byte(k), []byte(rows[k])); err != nil {
				return err
			}
		}
		return nil
	})
}

// wholeOnes returns the numbers of the snapshots that are there; all are whole.
func wholeOnes(t Target) (numbers []int, err error) {
	list, damaged, err := List(context.Background(), t, "")
	if err == nil && len(damaged) > 0 {
		err = damaged[0]
	}
	for i := range list {
		rows := map[string]string{}
		bad := Read(context.Background(), t, &list[i], func(key, value []byte) error {
			rows[string(key)] = string(value)
			return nil
		})
		n := int(list[i].Number)
		if bad == nil && !maps.Equal(rows, faultyRows(n)) {
			bad = fmt.Errorf("snapshot %d has other rows", n)
		}
		if bad != nil {
			return numbers, bad
		}
		numbers = append(numbers, n)
	}
	return numbers, err
}

// faultyAct is something that is done with a place where snapshots 1 to had are.
type faultyAct struct {
	name   string
	had    int
	left   bool // by a process that was killed while it took another one
	prunes bool
	do     func(Target) error
	want   []int // snapshots that are there then
	keep   []int // and those that are, whatever fails
}

func saveNext(n int) func(Target) error {
	return func(t Target) error {
		_, err := faultySave(t, n)
		return err
	}
}

func savePruned(t Target) error {
	s, err := faultySave(t, 4)
	if err == nil {
		_, err = Prune(context.Background(), t, &s.Manifest, 2)
	}
	return err
}

func readThem(t Target) error {
	if n, err := wholeOnes(t); err != nil || len(n) != 3 {
		return errors.Join(fmt.Errorf("%d snapshots are there", len(n)), err)
	}
	m, err := Find(context.Background(), t, Wanted{})
	if err == nil && m.Parts[0].Number != 3 {
		err = fmt.Errorf("the newest is %d", m.Parts[0].Number)
	}
	return err
}

var faultyActs = []faultyAct{
	{"the first", 0, false, false, saveNext(1), []int{1}, nil},
	{"edits", 2, false, false, saveNext(3), []int{1, 2, 3}, []int{1, 2}},
	{"nothing new", 2, false, false, saveNext(12), []int{1, 2, 12}, []int{1, 2}},
	{"after a kill", 2, true, false, saveNext(3), []int{1, 2, 3}, []int{1, 2}},
	{"and delete old ones", 3, false, true, savePruned, []int{3, 4}, []int{3}},
	{"read", 3, false, false, readThem, []int{1, 2, 3}, []int{1, 2, 3}},
}

// placeBefore is the place as an act finds it.
func (a *faultyAct) placeBefore(t *testing.T) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewCrashableMem()
	for n := range a.had {
		if _, err := faultySave(faultyTarget(fs), n+1); err != nil {
			t.Fatal(err)
		}
	}
	if a.left {
		f := &callFault{errno: syscall.EIO, at: -1}
		for f.calls = 0; ; f.calls = 0 { // until it leaves a part
			f.at, f.sticky = f.at+1, true
			image := fs.CrashClone(vfs.CrashCloneCfg{})
			_, err := faultySave(faultyTarget(errorfs.Wrap(image, f)), 3)
			if err == nil {
				t.Fatal("nothing is left")
			}
			if files, _ := left(image); strings.Contains(files, partPrefix) {
				return image.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
			}
		}
	}
	return fs
}

// left returns the names of all files that are there, but for manifests that are whole, and how many the snapshots list.
func left(fs vfs.FS) (names string, listed int) {
	for _, dir := range []string{"chunks", "snapshots"} {
		list, _ := fs.List(fs.PathJoin(faultyDir, "ab12", dir)) // none: there is nothing
		for _, name := range list {
			if !strings.HasSuffix(name, manifestSuffix) {
				names += " " + name
			}
		}
	}
	all := map[File]bool{}
	list, _, _ := List(context.Background(), faultyTarget(fs), "")
	for i := range list {
		for _, f := range list[i].files() {
			all[f] = true
		}
	}
	return names, len(all)
}

// Each call of taking a snapshot, of deleting old ones and of reading fails with each number: the error names the
// place, the number and what to do, and never damage. The snapshots that were there are whole, whether the machine has
// lost its power since or not, and so is the new one if it is there. Without the fault the act succeeds, and what it
// has then made outlasts a crash; no incomplete file is left.
func TestEveryCallFails(t *testing.T) {
	for _, a := range faultyActs {
		t.Run(a.name, func(t *testing.T) {
			base, count := a.placeBefore(t), &callFault{at: -1}
			if err := a.do(faultyTarget(errorfs.Wrap(base.CrashClone(vfs.CrashCloneCfg{}), count))); err != nil {
				t.Fatalf("without a fault: %v", err)
			}
			told, tried, step := 0, 0, 1
			if testing.Short() {
				step = 3 // no divisor of the numbers, so that all have their turn
			}
			for at := 0; at < count.calls; at += step {
				for n := range len(faultNumbers) {
					if (at*7+n)%len(faultNumbers) >= *faultsEach { // the numbers change from call to call
						continue
					}
					for _, sticky := range []bool{false, true} {
						if *faultsEach == 1 && sticky != (at%2 == 0) { // so do those behind it
							continue
						}
						tried++
						if a.fails(t, base, &callFault{errno: faultNumbers[n].errno, at: at, sticky: sticky}, faultNumbers[n].kind) {
							told++
						}
					}
				}
			}
			t.Logf("%d calls, %d of %d faults were told", count.calls, told, tried)
			if told < tried*9/10 {
				t.Errorf("only %d of %d faults were told", told, tried)
			}
		})
	}
}

// fails performs the act with the fault, and reports whether it has failed.
func (a *faultyAct) fails(t *testing.T, base *vfs.MemFS, f *callFault, kind fault.Kind) bool {
	t.Helper()
	live := base.CrashClone(vfs.CrashCloneCfg{})
	err := a.do(faultyTarget(errorfs.Wrap(live, f)))
	told, damage := new(DirError), new(DamageError)
	switch {
	case err == nil:
	case len(f.hit) == 0 || errors.As(err, &damage) && damage.Trouble != Unread || !errors.Is(err, f.errno) || !errors.As(err, &told) || told.Kind != kind || told.Dir != faultyDir:
		t.Errorf("%v: %v", f, err)
	case !strings.Contains(err.Error(), faultyDir) || strings.Count(err.Error(), f.errno.Error()) != 1:
		t.Errorf("%v: it is told otherwise: %v", f, err)
	}
	lose := func(percent int) *vfs.MemFS {
		return live.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(f.at), 1))})
	}
	for _, image := range []*vfs.MemFS{lose(0), lose(100), live} {
		there, bad := wholeOnes(faultyTarget(image))
		if bad != nil || !slices.Equal(there, a.want) && (err == nil || !a.between(there)) {
			t.Errorf("%v, %v: snapshots %v are there, %v", f, err, there, bad)
		}
		if err == nil {
			continue
		}
		if err := a.do(faultyTarget(image)); err != nil {
			t.Errorf("%v: again, without a fault: %v", f, err)
		}
		crashed := image.CrashClone(vfs.CrashCloneCfg{})
		again, bad := wholeOnes(faultyTarget(crashed))
		newest := a.want[len(a.want)-1]
		if bad != nil || !slices.Contains(again, newest) || a.prunes && len(again) != len(a.want) || !a.prunes && !a.between(again) {
			t.Errorf("%v: again: snapshots %v are there, %v", f, again, bad)
		}
		if chunks, listed := left(image); strings.Contains(chunks, partPrefix) || a.prunes && strings.Count(chunks, " ") != listed {
			t.Errorf("%v: again: this is left of %d files:%s", f, listed, chunks)
		}
	}
	return err != nil
}

// between reports whether the snapshots may be there while the act is under way.
func (a *faultyAct) between(there []int) bool {
	for _, n := range a.keep {
		if !slices.Contains(there, n) {
			return false
		}
	}
	return !slices.ContainsFunc(there, func(n int) bool { return n > a.had && !slices.Contains(a.want, n) })
}
