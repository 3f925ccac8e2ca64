package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// unreadableFiles are those of the system, of which one, or a directory, cannot be read.
type unreadableFiles struct {
	osFiles
	name  string
	errno syscall.Errno
}

func (u *unreadableFiles) refuse(op, path string) error {
	if u.name == "" || filepath.Base(path) != u.name {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: u.errno}
}

func (u *unreadableFiles) Open(path string) (file, error) {
	if err := u.refuse("open", path); err != nil {
		return nil, err
	}
	return u.osFiles.Open(path)
}

func (u *unreadableFiles) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := u.refuse("open", dir); err != nil {
		return nil, err
	}
	return u.osFiles.ReadDir(dir)
}

// saveNth takes the n-th snapshot of everything in a store.
func saveNth(t *testing.T, to Target, n int) *Saved {
	t.Helper()
	m := Manifest{Kind: Node, Store: "ab12", Program: "bank", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
	s, err := Save(context.Background(), to, m, longRows(n, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A manifest that cannot be read hides no other snapshot, and keeps none from being taken. Old ones are deleted, but neither it nor what it may need. An older
// one is not restored in its place unless it is named.
func TestAManifestCannotBeRead(t *testing.T) {
	ctx := context.Background()
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EIO} {
		dir := t.TempDir()
		files := &unreadableFiles{errno: errno}
		to := &directory{dir, files}
		var saved []*Saved
		for n := range 3 {
			saved = append(saved, saveNth(t, to, n))
		}
		files.name = saved[2].Name + manifestSuffix
		list, bad, err := All(ctx, to)
		if err != nil || len(list) != 2 || len(bad) != 1 || bad[0].Snapshot() != saved[2].Name || bad[0].Trouble != Unread || !strings.Contains(bad[0].Reason, errno.Error()) {
			t.Errorf("%v: the newest: %d snapshots, %v, %v", errno, len(list), bad, err)
		}
		if _, err := Find(ctx, to, Wanted{}); !errors.Is(err, errno) {
			t.Errorf("%v: the newest is found: %v", errno, err)
		}
		if f, err := Find(ctx, to, Wanted{Name: saved[1].Name}); err != nil || f.Name != saved[1].Name {
			t.Errorf("%v: by its name: %v, %v", errno, f, err)
		}
		files.name = saved[0].Name + manifestSuffix
		if f, err := Find(ctx, to, Wanted{}); err != nil || f.Name != saved[2].Name {
			t.Errorf("%v: a newer one than what cannot be read: %v, %v", errno, f, err)
		}
		saved = append(saved, saveNth(t, to, 3))
		deleted, err := Prune(ctx, to, &saved[3].Manifest, 1)
		if deleted != 2 || !errors.Is(err, errno) || !strings.Contains(err.Error(), saved[0].path()) {
			t.Errorf("%v: %d are deleted, %v", errno, deleted, err)
		}
		files.name = ""
		for _, of := range []*Saved{saved[0], saved[3]} {
			if err := Verify(ctx, to, &of.Manifest); err != nil {
				t.Errorf("%v: %v", errno, err)
			}
		}
		if deleted, err := Prune(ctx, to, &saved[3].Manifest, 1); deleted != 1 || err != nil {
			t.Errorf("%v: when it can be read again, %d are deleted, %v", errno, deleted, err)
		}
	}
}

// Content that cannot be read is sent anew where something has changed.
func TestContentCannotBeRead(t *testing.T) {
	files := &unreadableFiles{errno: syscall.EIO}
	to := &directory{t.TempDir(), files}
	rows := func(emit func(key, value []byte) error) error {
		return longRows(1, nil)(func(key, value []byte) error {
			if string(key) == "key 000007" && files.name != "" {
				value = []byte("changed")
			}
			return emit(key, value)
		})
	}
	m := Manifest{Kind: Node, Store: "ab12", Program: "bank", Number: 1, Taken: time.Unix(1, 0)}
	s, err := Save(t.Context(), to, m, rows)
	if err != nil {
		t.Fatal(err)
	}
	files.name, m.Number = s.Chunks[0].SHA256, 2
	if s, err = Save(t.Context(), to, m, rows); err != nil {
		t.Fatal(err)
	}
	if err := Verify(t.Context(), to, &s.Manifest); err != nil {
		t.Error(err)
	}
}

// A directory that refuses access hides nothing of the others, and is told, as something newer may be there; that of the file system itself is not. Nothing is
// deleted because of it.
func TestADirectoryRefusesAccess(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	files := &unreadableFiles{errno: syscall.EACCES}
	to := &directory{dir, files}
	place := Below(to, "node1", nil)
	var saved []*Saved
	for n := range 3 {
		saved = append(saved, saveNth(t, place, n))
	}
	for _, name := range []string{lostAndFound, "private", "node1/other"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, told := range map[string]string{lostAndFound: "", "private": "private/", "other": "node1/other/"} {
		files.name = name
		list, bad, err := All(ctx, to)
		if err != nil || len(list) != 3 || len(bad) != min(len(told), 1) || len(bad) == 1 && (bad[0].Name != told || bad[0].Trouble != Unread || bad[0].Snapshot() != "") {
			t.Errorf("%s: %d snapshots, %v, %v", name, len(list), bad, err)
		}
		f, err := Find(ctx, to, Wanted{})
		if told == "" && (err != nil || f.Name != saved[2].Name) || told != "" && !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: the newest is %v, %v", name, f, err)
		}
		if f, err := Find(ctx, to, Wanted{Name: saved[1].Name}); err != nil || f.Name != saved[1].Name {
			t.Errorf("%s: by its name: %v, %v", name, f, err)
		}
	}
	for _, name := range []string{"snapshots", "chunks"} {
		files.name = name
		if deleted, err := Prune(ctx, place, &saved[2].Manifest, 1); !errors.Is(err, syscall.EACCES) || name == "snapshots" && deleted != 0 {
			t.Errorf("%s: %d snapshots are deleted, %v", name, deleted, err)
		}
		files.name = ""
		if err := Verify(ctx, place, &saved[2].Manifest); err != nil {
			t.Error(err)
		}
	}
	files.name = filepath.Base(dir)
	if list, bad, err := All(ctx, to); !errors.Is(err, syscall.EACCES) {
		t.Errorf("a place that refuses access: %d snapshots, %v, %v", len(list), bad, err)
	}
}

// A snapshot that is deleted while it is read is not damaged.
func TestASnapshotIsDeletedWhileItIsRead(t *testing.T) {
	ctx, to := context.Background(), Dir(t.TempDir())
	saved := []*Saved{saveNth(t, to, 1), saveNth(t, to, 2)}
	if _, err := Prune(ctx, to, &saved[1].Manifest, 1); err != nil {
		t.Fatal(err)
	}
	bad := new(DamageError)
	if err := Verify(ctx, to, &saved[0].Manifest); !errors.As(err, &bad) || bad.Trouble != Deleted || bad.Snapshot() != saved[0].Name || !strings.Contains(err.Error(), "was deleted while it was read") {
		t.Errorf("one that was deleted: %v", err)
	}
	if err := to.Delete(ctx, saved[1].content(saved[1].files()[0])); err != nil {
		t.Fatal(err)
	}
	if err := Verify(ctx, to, &saved[1].Manifest); !errors.As(err, &bad) || bad.Trouble != Damaged || !strings.Contains(fmt.Sprint(err), "it is missing") {
		t.Errorf("one of which a part is missing: %v", err)
	}
}
