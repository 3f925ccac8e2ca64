package pebbledb_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crashing returns fs; what a crash may leave of it before each write is added to images.
func crashing(fs *vfs.MemFS, rng *rand.Rand, images *[]*vfs.MemFS) vfs.FS {
	hook := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			for _, percent := range []int{0, 50, 100} {
				*images = append(*images, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}))
			}
		}
		return nil
	})
	return errorfs.Wrap(fs, &serial{inner: hook})
}

// sampled returns some of the images, and all of the last ones.
func sampled(images []*vfs.MemFS) (list []*vfs.MemFS) {
	apart := 2
	if testing.Short() {
		apart = 6
	}
	for i, image := range images {
		if i%apart == 0 || i >= len(images)-12 {
			list = append(list, image)
		}
	}
	return list
}

// A crash at any step of creating a store leaves something that the next open completes.
func TestCrashWhileCreating(t *testing.T) {
	fs := vfs.NewCrashableMem()
	rng := rand.New(rand.NewPCG(3, 4))
	var images []*vfs.MemFS
	s, engine, err := openOn(crashing(fs, rng, &images), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id := engine.Identity()
	fresh := 0
	images = sampled(images)
	for i, image := range images {
		s, engine, err := openOn(image, nil)
		if err != nil {
			t.Errorf("image %d: %v", i, err)
			continue
		}
		if s.Starts() > 2 || s.Starts() == 2 && engine.Identity() != id {
			t.Errorf("image %d: start %d of store %v", i, s.Starts(), engine.Identity())
		}
		if s.Fresh() {
			fresh++
		}
		if err := s.Wait(t.Context(), appendGroup(s, 0, 1, 1)); err != nil {
			t.Errorf("image %d: %v", i, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("image %d: %v", i, err)
		}
	}
	if len(images) < 60 || fresh == len(images) || fresh == 0 {
		t.Errorf("%d images, %d of them without a store", len(images), fresh)
	}
	t.Logf("%d images, %d of them without a store", len(images), fresh)
}
