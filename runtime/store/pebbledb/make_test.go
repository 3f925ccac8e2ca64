package pebbledb_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

const (
	madeDir    = "/var/lib/made"
	madeGroups = 20
)

func fillGroups(e *pebbledb.DB) error {
	for n := range madeGroups {
		b := e.NewBatch()
		for i := range flipRows {
			b.Set(groupKey(n, i), groupRow(n, i, flipSize))
		}
		if err := e.Apply(b); err != nil {
			return err
		}
	}
	return e.Sync()
}

func makeOn(fs vfs.FS) error {
	return pebbledb.MakeOn(fs, madeDir, store.EngineOptions{Program: "bank", Log: silent}, fillGroups)
}

// made reports whether there is a store in the directory, which then has everything.
func made(t *testing.T, fs vfs.FS) bool {
	t.Helper()
	e, err := pebbledb.OpenFS(fs, madeDir, store.EngineOptions{Program: "bank", Log: silent, MustExist: true})
	if errors.Is(err, store.ErrMissing) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := readGroups(e, flipRows, flipSize); n != madeGroups || err != nil {
		t.Errorf("%d of %d groups are there, %v", n, madeGroups, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	return true
}

// A crash at any step leaves no store or a whole one, and a whole one once Make has returned, though nothing
// above it was there before. Where there is none, a second Make makes it.
func TestMadeStoreOutlastsACrash(t *testing.T) {
	for _, empty := range []bool{false, true} {
		fs, rng := vfs.NewCrashableMem(), rand.New(rand.NewPCG(5, 6))
		if empty {
			if err := pebbledb.MakeDir(fs, madeDir); err != nil {
				t.Fatal(err)
			}
		}
		var images []*vfs.MemFS
		if err := makeOn(crashing(fs, rng, &images)); err != nil {
			t.Fatal(err)
		}
		if !made(t, fs.CrashClone(vfs.CrashCloneCfg{})) {
			t.Error("Make has returned, and after a crash there is no store")
		}
		whole := 0
		images = sampled(images)
		for _, image := range images {
			if made(t, image) {
				whole++
			} else if err := makeOn(image); err != nil || !made(t, image) {
				t.Errorf("again, after a crash: %v", err)
			}
		}
		if len(images) < 60 || whole == 0 || whole == len(images) {
			t.Errorf("%d images, %d of them with the store", len(images), whole)
		}
		t.Logf("%d images, %d of them with the store", len(images), whole)
	}
}

// What Make could not finish leaves nothing behind.
func TestMakeFailsWhole(t *testing.T) {
	fs, broken := vfs.NewMem(), errors.New("the snapshot is damaged")
	err := pebbledb.MakeOn(fs, madeDir, store.EngineOptions{Program: "bank", Log: silent}, func(*pebbledb.DB) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("Make: %v", err)
	}
	if names, err := fs.List("/var/lib"); len(names) > 0 || err != nil {
		t.Errorf("%v is left, %v", names, err)
	}
	noSync := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if isReady(fs) && slices.Contains([]errorfs.OpKind{errorfs.OpOpenDir, errorfs.OpFileSync}, op.Kind) {
			return broken
		}
		return nil
	})
	if err := makeOn(errorfs.Wrap(fs, noSync)); !errors.Is(err, broken) || !strings.Contains(err.Error(), madeDir+" is there, and a crash") {
		t.Errorf("without the last sync: %v", err)
	}
}

// isReady reports whether the directory says that there is a store.
func isReady(fs vfs.FS) bool {
	f, err := fs.Open(madeDir + "/AEON")
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return err == nil && strings.Contains(string(text), "state ready")
}

// A mount point can be neither removed nor replaced: Make fills it.
func TestMakeFillsAMountPoint(t *testing.T) {
	fs := vfs.NewCrashableMem()
	if err := pebbledb.MakeDir(fs, fs.PathJoin(madeDir, pebbledb.LostAndFound)); err != nil {
		t.Fatal(err)
	}
	busy := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if (op.Kind == errorfs.OpRemove || op.Kind == errorfs.OpRename) && op.Path == madeDir {
			return syscall.EBUSY
		}
		if !strings.HasPrefix(op.Path, madeDir) && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileSync {
			return fmt.Errorf("it writes %s, on another file system", op.Path)
		}
		return nil
	})
	if err := makeOn(errorfs.Wrap(fs, busy)); err != nil || !made(t, fs.CrashClone(vfs.CrashCloneCfg{})) {
		t.Errorf("Make: %v", err)
	}
}

// A link that leads nowhere is told, and stays.
func TestMakeAtALinkThatLeadsNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	err := pebbledb.Make(link, store.EngineOptions{Program: "bank", Log: silent}, fillGroups)
	if nowhere := new(pebbledb.NowhereError); !errors.As(err, &nowhere) || nowhere.Link != link {
		t.Errorf("Make: %v", err)
	}
	if to, err := os.Readlink(link); to != "nowhere" || err != nil {
		t.Errorf("the link is %q, %v", to, err)
	}
}

// A link to an empty directory stays, and that directory gets the store, unless fill fails.
func TestMakeFollowsALink(t *testing.T) {
	root := t.TempDir()
	link, target := filepath.Join(root, "link"), filepath.Join(root, "disk")
	if err := errors.Join(os.Mkdir(target, 0o777), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the snapshot is damaged")
	for _, want := range []error{broken, nil} {
		err := pebbledb.Make(link, store.EngineOptions{Program: "bank", Log: silent}, func(e *pebbledb.DB) error { return errors.Join(want, fillGroups(e)) })
		if !errors.Is(err, want) {
			t.Errorf("Make: %v, want %v", err, want)
		}
		if to, err := os.Readlink(link); to != target || err != nil {
			t.Errorf("it is no link to the directory any more: %q, %v", to, err)
		}
		if left, err := os.ReadDir(target); err != nil || want != nil && len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
	if id, err := pebbledb.Identify(target); err != nil || id.Program != "bank" {
		t.Errorf("the directory holds %v, %v", id, err)
	}
	if list, err := os.ReadDir(root); len(list) != 2 || err != nil {
		t.Errorf("%v are there, %v", list, err)
	}
}

// A process was killed when it had made a directory, and had not synced the one above. What the next process makes
// there outlasts a crash.
func TestADirectoryOfAKilledProcessOutlastsACrash(t *testing.T) {
	for dir := madeDir; dir != "/"; dir = filepath.Dir(dir) {
		for name, do := range map[string]func(vfs.FS) error{"make": makeOn, "open": func(fs vfs.FS) error {
			e, err := pebbledb.OpenFS(fs, madeDir, store.EngineOptions{Program: "bank", Log: silent})
			if err != nil {
				return err
			}
			return errors.Join(fillGroups(e), e.Close())
		}} {
			fs := vfs.NewCrashableMem()
			if err := errors.Join(pebbledb.MakeDir(fs, filepath.Dir(dir)), fs.MkdirAll(dir, 0o777), do(fs)); err != nil {
				t.Fatal(err)
			}
			if !made(t, fs.CrashClone(vfs.CrashCloneCfg{})) {
				t.Errorf("%s: %s was there, and after a crash there is no store", name, dir)
			}
		}
	}
}
