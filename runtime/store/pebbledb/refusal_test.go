package pebbledb_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// tree returns what is below a path: the content of files, and that a directory is one.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			found[path] = "directory"
			return err
		}
		if d.Type() == fs.ModeSymlink {
			found[path], err = os.Readlink(path)
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// closedStore makes a store of program bank in dir.
func closedStore(t *testing.T, dir string) {
	t.Helper()
	if err := openStore(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
}

// Each kind of directory that is not to be used is refused with the place and the remedy, and
// is as it was.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string) // dir exists and is empty
		as   any
		want string // DIR stands for the directory, PARENT for the one above
	}{
		{"foreign", func(t *testing.T, dir string) { write(t, filepath.Join(dir, "thesis.tex"), "x") }, new(*pebbledb.ForeignError),
			"DIR is no data directory of aeon, and not empty (thesis.tex is in it); name an empty directory or one that does not exist yet"},
		{"a store without its AEON", func(t *testing.T, dir string) {
			closedStore(t, dir)
			os.Remove(filepath.Join(dir, "AEON"))
		}, new(*pebbledb.DamagedError),
			"the data in DIR is damaged: AEON: it is missing; nothing was repaired: restore the directory from a snapshot, or find out what has changed it"},
		{"somebody else's db", func(t *testing.T, dir string) {
			os.Mkdir(filepath.Join(dir, "db"), 0o755)
		}, new(*pebbledb.ForeignError),
			"DIR is no data directory of aeon, and not empty (db is in it); name an empty directory or one that does not exist yet"},
		{"a file", func(t *testing.T, dir string) {
			os.Remove(dir)
			write(t, dir, "x")
		}, new(*pebbledb.NotDirectoryError),
			"DIR is a file, and the data needs a directory; name an empty directory or one that does not exist yet"},
		{"below a file", func(t *testing.T, dir string) {
			os.Remove(dir)
			os.Remove(filepath.Dir(dir))
			write(t, filepath.Dir(dir), "x")
		}, new(*pebbledb.NotDirectoryError),
			"PARENT is a file, and the data needs a directory; name an empty directory or one that does not exist yet"},
		{"a link to a disk that is not mounted", func(t *testing.T, dir string) {
			os.Remove(dir)
			if err := os.Symlink("nowhere", dir); err != nil {
				t.Fatal(err)
			}
		}, new(*pebbledb.NowhereError),
			"DIR is a link that leads nowhere; mount the disk that it leads to, mend the link, or name another directory"},
		{"below such a link", func(t *testing.T, dir string) {
			os.Remove(dir)
			os.Remove(filepath.Dir(dir))
			if err := os.Symlink("nowhere", filepath.Dir(dir)); err != nil {
				t.Fatal(err)
			}
		}, new(*pebbledb.NowhereError),
			"PARENT is a link that leads nowhere; mount the disk that it leads to, mend the link, or name another directory"},
		{"another program's", func(t *testing.T, dir string) {
			engine, err := pebbledb.Open(dir, store.EngineOptions{Program: "hotel"})
			if err != nil {
				t.Fatal(err)
			}
			engine.Close()
		}, new(*store.OtherProgramError),
			`DIR holds the data of program "hotel", and this is "bank"; give this program a directory of its own`},
		{"newer", func(t *testing.T, dir string) {
			closedStore(t, dir)
			write(t, filepath.Join(dir, "AEON"), pebbledb.NewerAeonFile())
		}, new(*store.NewerFormatError),
			"DIR was written by a newer version of aeon (format 3, this one knows up to 2); run the program as built by that version or a later one"},
		{"damaged AEON", func(t *testing.T, dir string) {
			closedStore(t, dir)
			write(t, filepath.Join(dir, "AEON"), "aeon data 1\nprogram \"bank\"\nsum 00000000\n")
		}, new(*pebbledb.DamagedError),
			"the data in DIR is damaged: AEON: its checksum does not match; nothing was repaired: restore the directory from a snapshot, or find out what has changed it"},
		{"no db", func(t *testing.T, dir string) {
			closedStore(t, dir)
			os.RemoveAll(filepath.Join(dir, "db"))
		}, new(*pebbledb.DamagedError),
			"the data in DIR is damaged: db: it is missing; nothing was repaired: restore the directory from a snapshot, or find out what has changed it"},
		{"an empty db", func(t *testing.T, dir string) {
			closedStore(t, dir)
			os.RemoveAll(filepath.Join(dir, "db"))
			os.Mkdir(filepath.Join(dir, "db"), 0o755)
		}, new(*pebbledb.DamagedError),
			"the data in DIR is damaged: db: there is no store in it any more; nothing was repaired: restore the directory from a snapshot, or find out what has changed it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data", "bank")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, dir)
			before := tree(t, filepath.Dir(filepath.Dir(dir)))
			_, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank", Log: silent})
			if !errors.As(err, c.as) {
				t.Errorf("Open: %T %v", err, err)
			} else if got := strings.NewReplacer(dir, "DIR", filepath.Dir(dir), "PARENT").Replace(err.Error()); got != c.want {
				t.Errorf("Open: %s\nwant: %s", got, c.want)
			}
			if after := tree(t, filepath.Dir(filepath.Dir(dir))); !maps.Equal(before, after) {
				t.Errorf("the refused directory has changed from\n%v\nto\n%v", before, after)
			}
		})
	}
}

// What the system does not allow is told with its reason.
func TestSystemRefuses(t *testing.T) {
	for _, c := range []struct {
		err  syscall.Errno
		as   any
		want string
	}{
		{syscall.EACCES, new(*pebbledb.AccessError),
			"data cannot be read and written by this process: test data: permission denied; give it the right to, or name another directory"},
		{syscall.EROFS, new(*pebbledb.AccessError),
			"data cannot be read and written by this process: test data: read-only file system; give it the right to, or name another directory"},
		{syscall.ENOSPC, new(*pebbledb.NoSpaceError),
			"the disk of data is full: test data: no space left on device; free space on it and start again"},
		{syscall.EIO, new(*pebbledb.DiskError),
			"the disk of data has failed: test data: input/output error; check the disk before starting again"},
		{syscall.EMFILE, new(*pebbledb.LimitError),
			"data cannot be used: test data: too many open files; let the process have more files open (ulimit -n, or LimitNOFILE of systemd), and start again"},
		{syscall.EFBIG, new(*pebbledb.LimitError),
			"data cannot be used: test data: file too large; let the process make larger files (ulimit -f), or name a directory on a file system that has them, and start again"},
	} {
		mem := vfs.NewMem()
		f := &fault{kinds: []errorfs.OpKind{errorfs.OpMkdirAll}, err: c.err}
		_, err := pebbledb.OpenFS(errorfs.Wrap(mem, f), dataDir, store.EngineOptions{Program: "bank"})
		if !errors.As(err, c.as) || err.Error() != c.want {
			t.Errorf("%v: %v\nwant: %s", c.err, err, c.want)
		}
	}
}

// What fails, or panics, without an error of the system is no failed disk and no damage, and what the engine says of it comes last.
func TestEngineFails(t *testing.T) {
	fails := func(op errorfs.Op) error {
		if op.Kind == errorfs.OpMkdirAll {
			return errors.New("pebble: element has outstanding references")
		}
		return nil
	}
	panics := func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasPrefix(path.Base(op.Path), "MANIFEST") {
			panic("element has outstanding references")
		}
		return nil
	}
	const want = "the store in data has failed, and the system has reported no error of its disk; start again, and if that fails, too, " +
		"let `aeond check` read the directory (the engine says: element has outstanding references)"
	for _, broken := range []errorfs.InjectorFunc{fails, panics} {
		_, err := pebbledb.OpenFS(errorfs.Wrap(vfs.NewMem(), broken), dataDir, store.EngineOptions{Program: "bank", Log: silent})
		if !errors.As(err, new(*pebbledb.EngineError)) || err.Error() != want {
			t.Errorf("Open: %v\nwant: %s", err, want)
		}
	}
}

// An empty directory is as good as none, and so is what is left of a creation that had not
// begun to write the store.
func TestEmptyDirectoriesAreTaken(t *testing.T) {
	for _, name := range []string{"", "LOCK", "AEON.new"} {
		dir := t.TempDir()
		if name != "" {
			write(t, filepath.Join(dir, name), "1")
		}
		closedStore(t, dir)
	}
}

const holdEnv = "AEON_TEST_HOLD"

// TestHold is not a test of its own: TestInUse runs it in a process that holds a directory.
func TestHold(t *testing.T) {
	dir := os.Getenv(holdEnv)
	if dir == "" {
		return
	}
	s := openStore(t, dir)
	fmt.Println("holding")
	bufio.NewReader(os.Stdin).ReadString('\n') // until the parent ends it
	s.Close()
}

// A directory in use is refused with the id of the process, as often as one asks, and free as
// soon as the process is killed.
func TestInUse(t *testing.T) {
	t.Parallel() // it waits for a lock
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHold$", "-test.v")
	cmd.Env = append(os.Environ(), holdEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasSuffix(lines.Text(), "holding"); {
	}
	want := fmt.Sprintf("%s is in use by process %d; stop it first, or name another directory", dir, cmd.Process.Pid)
	for range 2 {
		if _, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank"}); err == nil || err.Error() != want {
			t.Errorf("Open: %v\nwant: %s", err, want)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // it was killed
	s := openStore(t, dir)
	if s.Starts() != 2 {
		t.Errorf("start %d", s.Starts())
	}
	want = dir + " is open in this process already; close it first, or name another directory"
	if _, err := pebbledb.Open(dir, store.EngineOptions{Program: "bank"}); err == nil || err.Error() != want {
		t.Errorf("Open in the same process: %v\nwant: %s", err, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A data directory can be moved and copied while it is not in use.
func TestMovedDirectory(t *testing.T) {
	base := t.TempDir()
	closedStore(t, filepath.Join(base, "a"))
	if err := os.Rename(filepath.Join(base, "a"), filepath.Join(base, "b")); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, filepath.Join(base, "b"))
	if s.Starts() != 2 {
		t.Errorf("start %d", s.Starts())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
