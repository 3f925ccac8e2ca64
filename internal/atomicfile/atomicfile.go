// Package atomicfile replaces files as a whole: a reader, also one after a crash,
// finds the old contents or the new, never a part.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes name a file with the contents of r and the given permissions. If it
// fails, what was there before is there still. A link stays a link, and its target is
// written. A device or a pipe stays one, too: it takes the contents.
func Write(name string, r io.Reader, mode fs.FileMode) (err error) {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return writeThrough(name, r)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return named(err, name)
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

// writeThrough writes to what is no regular file.
func writeThrough(name string, r io.Reader) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// named makes an error about the temporary file one about the file that was asked for.
func named(err error, name string) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return &fs.PathError{Op: path.Op, Path: name, Err: path.Err}
	}
	return err
}
