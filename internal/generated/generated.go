// Package generated tells whether generated code that is kept in the repository is what aeonc makes of its source today.
package generated

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Check generates the package in dir, a slash-separated path below root, the repository, and compares. scratch is an
// empty directory. The error names the file and the command that mends it.
func Check(root, dir, scratch string) error {
	cmd := exec.Command("go", "run", "./cmd/aeonc", "gen", "--raw", "-o", scratch, dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("aeonc gen: %w\n%s", err, out)
	}
	files, err := os.ReadDir(scratch)
	if err != nil {
		return err
	}
	if len(files) != 2 {
		return fmt.Errorf("aeonc gen wrote %d files, not 2", len(files))
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(scratch, f.Name()))
		if err != nil {
			return err
		}
		got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), f.Name()))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("%s/%s is not what aeonc generates; run: go run ./cmd/aeonc gen --raw -o %s %s", dir, f.Name(), dir, dir)
		}
	}
	return nil
}
