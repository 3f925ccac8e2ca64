package pebbledb_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	flipGroups = 24
	flipRows   = 3
	flipSize   = 40
)

// smallStore writes groups, one sync each. If flushed is set some of them are in a table, and
// the others in the log; if closed is set the store is closed.
func smallStore(t testing.TB, flushed, closed bool) *vfs.MemFS {
	fs := vfs.NewCrashableMem()
	s, engine := mustOpen(t, fs)
	for n := range flipGroups {
		if err := s.Wait(t.Context(), appendGroup(s, n, flipRows, flipSize)); err != nil {
			t.Fatal(err)
		}
		if flushed && n == flipGroups/2 {
			if err := engine.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if closed {
		return fs
	}
	return crashed
}

var flipsMax = flag.Int("flips", 20, "how many bytes of each file TestFlippedByte changes; 0: all")

// One changed byte, anywhere: the store is refused as damaged, or everything but the group
// that was synced last is there.
func TestFlippedByte(t *testing.T) {
	cases := []struct{ flushed, closed bool }{{true, false}, {true, true}, {false, false}}
	if testing.Short() {
		cases = cases[:1]
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("flushed=%v,closed=%v", c.flushed, c.closed), func(t *testing.T) {
			t.Parallel()
			fs := smallStore(t, c.flushed, c.closed)
			for _, path := range filesOf(t, fs, dataDir) {
				counts := map[string]int{}
				for _, f := range flipsOf(sizeOf(t, fs, path)) {
					counts[flipped(t, fs, path, f, flipGroups, flipSize)]++
				}
				t.Logf("%s: %v", path, counts)
			}
		})
	}
}

// The same for groups that fill blocks: the seals say that these are durable, which pebble's own chunks do not.
func TestFlippedByteInFullBlocks(t *testing.T) {
	const groups, size = 6, 6000
	fs := vfs.NewCrashableMem()
	s, _ := mustOpen(t, fs)
	for n := range groups {
		if err := s.Wait(t.Context(), appendGroup(s, n, flipRows, size)); err != nil {
			t.Fatal(err)
		}
	}
	crashed := fs.CrashClone(vfs.CrashCloneCfg{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, path := range filesOf(t, crashed, dataDir+"/db/log") {
		for offset := 0; offset < sizeOf(t, crashed, path); offset += 5003 {
			counts[flipped(t, crashed, path, flipAt{offset, 0xff}, groups, size)]++
		}
	}
	t.Log(counts)
}

type flipAt struct {
	offset int
	mask   byte
}

// flipsOf chooses bytes of a file: all, or the first and the last and some between.
func flipsOf(size int) (list []flipAt) {
	ends, between := 24, *flipsMax
	if testing.Short() {
		ends, between = 6, min(between, 10)
	}
	rng := rand.New(rand.NewPCG(uint64(size), 1))
	masks := []byte{1, 2, 4, 8, 16, 32, 64, 128, 0xff}
	for offset := range size {
		if *flipsMax == 0 || offset < ends || offset >= size-ends || rng.IntN(size) < between {
			list = append(list, flipAt{offset, masks[rng.IntN(len(masks))]})
		}
	}
	return list
}

// flipped returns what came of a changed byte.
func flipped(t *testing.T, fs *vfs.MemFS, path string, f flipAt, groups, size int) string {
	image := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 0})
	flip(t, image, path, f.offset, f.mask)
	s, _, err := openOn(image, nil)
	if err != nil {
		if !refused(err) && !strings.Contains(err.Error(), "newer version") && !strings.Contains(err.Error(), "of program") {
			t.Errorf("%s, byte %d xor %#x: refused with %v", path, f.offset, f.mask, err)
		}
		return "refused"
	}
	defer s.Close()
	n, err := readGroups(s, flipRows, size)
	switch {
	case refused(err):
		return "read"
	case err != nil:
		t.Errorf("%s, byte %d xor %#x: %v", path, f.offset, f.mask, err)
	case n < groups-1:
		t.Errorf("%s, byte %d xor %#x: silently lost: %d of %d groups are there", path, f.offset, f.mask, n, groups)
	case n == groups-1:
		return "last group lost"
	}
	return "all there"
}
