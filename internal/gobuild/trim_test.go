package gobuild

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTrimDropsWhatIsOldAndKeepsWhatIsInUse(t *testing.T) {
	c := NewCache(filepath.Join(t.TempDir(), "cache[1]")) // of the user's choice
	if err := c.claim(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{
		"build/old": unusedMax + time.Hour, "build/recent": time.Hour * 2, "tmp/crashed": unusedMax * 2, "runtime/now": 0,
	} {
		dir := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	c.trim(now)
	for name, want := range map[string]bool{"build/old": false, "build/recent": true, "tmp/crashed": false, "runtime/now": true} {
		if got := isDir(filepath.Join(c.dir, filepath.FromSlash(name))); got != want {
			t.Errorf("%s: kept %v, want %v", name, got, want)
		}
	}
}

func TestTrimMakesRoomButNotUnderARunningProcess(t *testing.T) {
	c := NewCache(t.TempDir())
	if err := c.claim(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"build/idle": 2 * busyFor, "build/busy": busyFor / 2} {
		dir := filepath.Join(c.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "program")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, bytesMax+1); err != nil { // sparse: takes no room
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	c.trim(now)
	if isDir(filepath.Join(c.dir, "build", "idle")) || !isDir(filepath.Join(c.dir, "build", "busy")) {
		t.Error("the idle entry should go and the busy one stay")
	}
	c.trim(now.Add(busyFor / 2))
	if !isDir(filepath.Join(c.dir, "build", "busy")) {
		t.Error("the cache was looked at twice in an hour")
	}
	c.trim(now.Add(2 * busyFor))
	if isDir(filepath.Join(c.dir, "build", "busy")) {
		t.Error("the entry is idle now, and stays")
	}
}

func TestVersionsAreComparedAsNumbers(t *testing.T) {
	for _, tt := range []struct {
		have, want string
		ok         bool
	}{
		{"go1.26", "1.26", true}, {"go1.26.8", "1.26", true}, {"go1.27rc1", "1.26", true}, {"go2.0", "1.26", true},
		{"devel go1.27-abcdef Mon", "1.26", true}, {"go1.25.9", "1.26", false}, {"go1.3", "1.26", false}, {"", "1.26", false}, {"go", "1.26", false},
	} {
		if got := atLeast(tt.have, tt.want); got != tt.ok {
			t.Errorf("atLeast(%q, %q) = %v", tt.have, tt.want, got)
		}
	}
}
