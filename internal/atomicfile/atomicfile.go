// Package atomicfile replaces files as a whole: whoever reads one, or looks after
// a crash, finds the old contents or the new, never a part.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes name a file with the contents of r and the given permissions. If it
// fails, what was there before is there still.
func Write(name string, r io.Reader, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = io.Copy(tmp, r)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
	return err
}
