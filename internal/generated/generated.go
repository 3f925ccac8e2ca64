// Package generated tells whether generated code that is kept in the repository is what aeonc makes of its source today.
package generated

import (
	"fmt"
	"os/exec"
)

// Check compares the package in dir, a slash-separated path below root, the repository. The error names the files, and
// the command that mends them.
func Check(root, dir string) error {
	cmd := exec.Command("go", "run", "./cmd/aeonc", "gen", "--raw", "--check", "-o", dir, dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%srun: go run ./cmd/aeonc gen --raw -o %s %s", err, out, dir, dir)
	}
	return nil
}
