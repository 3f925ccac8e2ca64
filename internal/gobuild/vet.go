package gobuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Vet runs go vet over the generated packages of req, in a module of files: vet looks for the directories of packages, which an
// overlay does not have. What vet finds is a *GeneratedCodeError; the other errors are those of Build.
func (b *Builder) Vet(ctx context.Context, req Request) error {
	golang, err := findGo(b.Runtime.GoVersion)
	if err != nil {
		return err
	}
	staged, err := b.Cache.stage()
	if err != nil {
		return err
	}
	defer os.RemoveAll(staged)
	if _, err := b.Cache.install(b.Runtime); err != nil {
		return err
	}
	files := append(layOut(req).files, File{"go.mod", programMod(goLine(b.Runtime), filepath.Join(b.Cache.runtimeDir(b.Runtime), "aeon"))})
	if err := writeTree(staged, files); err != nil {
		return &CacheError{b.Cache.dir, err}
	}
	args := []string{"vet"}
	for _, p := range slices.Concat(req.Packages, req.Imported) {
		args = append(args, "./"+packageDir(p.Dir, p.Name))
	}
	cmd := in(golang.command(ctx, b.Cache, args...), staged)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return nil
	case errors.As(err, &exit) && blamesGenerated(output.String()):
		return &GeneratedCodeError{Output: output.String()}
	}
	return &ToolchainError{fmt.Sprintf("go vet failed: %v\n%s", err, strings.TrimRight(output.String(), "\n"))}
}
