package gobuild

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/typecheck"
)

// why returns why Go, in dir, has no package of this path, in Go's words and with the remedy if there is one; nil if Go says no more
// than that there is none.
func (l listed) why(dir, path string) error {
	text, compiled := strings.TrimSpace(l.failure), false
	if rest, ok := strings.CutPrefix(text, "# "); ok { // the compiler's messages stand below a line with the path of the package
		_, text, compiled = strings.Cut(rest, "\n")
	}
	text, _, _ = strings.Cut(text, "\n")
	for _, end := range []string{"; to add it:", "; to add:", "; to update it:"} {
		text = strings.TrimSuffix(text, end)
	}
	if text == "" || strings.Contains(text, "is not in std") || strings.HasSuffix(text, "in any of:") { // the latter without modules
		return nil
	}
	if l.failAt != "" {
		text = l.failAt + ": " + text
	}
	text = located(dir, text)
	if path == typecheck.GoBodyPath || compiled {
		text = "Go does not compile it: " + text
	} else {
		text = fmt.Sprintf("it is not of Go's standard library, and in %s Go says: %s", load.Relative(dir), text)
	}
	return &typecheck.GoError{Why: text, Remedy: l.remedy(dir, path)}
}

// remedy returns what makes Go find what a module lacks.
func (l listed) remedy(dir, path string) string {
	module := moduleOf(dir)
	if module == "" {
		return ""
	}
	where := "in " + module
	if module == "." {
		where = "here"
	}
	switch {
	case strings.Contains(l.failure, "GOPROXY=off"):
		return "the module cache lacks a module, and a check downloads nothing: run `go mod download` " + where
	case strings.Contains(l.failure, "missing go.sum entry"),
		strings.Contains(l.failure, "no required module provides package") && !strings.Contains(l.failure, "package "+path+";"),
		strings.Contains(l.failure, "updates to go.mod needed"):
		if l.failAt == "" && !strings.Contains(l.failure, "for go.mod file") { // no Go code imports it, so `go mod tidy` would not keep it
			return fmt.Sprintf("run `go get %s` %s", path, where)
		}
		return "run `go mod tidy` " + where
	case !strings.Contains(l.failure, "no required module provides package"):
		return ""
	}
	if own, err := load.GoImportPath(module); err == nil && (path == own || strings.HasPrefix(path, own+"/")) {
		return fmt.Sprintf("%s would be in the directory %s, and no Go code is there", path, filepath.Join(module, filepath.FromSlash(strings.TrimPrefix(path, own))))
	}
	return fmt.Sprintf("run `go get %s` %s", path, where)
}

// moduleOf returns the directory of the Go module that dir lies in, for messages; "" if it lies in none.
func moduleOf(dir string) string {
	golang, err := exec.LookPath("go")
	if err != nil {
		return ""
	}
	cmd := exec.Command(golang, "env", "GOMOD")
	cmd.Dir = dir
	out, err := cmd.Output()
	if file := strings.TrimSpace(string(out)); err == nil && file != "" && file != os.DevNull {
		return load.Relative(filepath.Dir(file))
	}
	return ""
}

// located returns a line of Go, which may begin with a file as it is called from dir, with the file as it is called from here.
func located(dir, line string) string {
	file, rest, ok := strings.Cut(line, ":")
	if !ok || !strings.HasSuffix(file, ".go") || filepath.IsAbs(file) {
		return line
	}
	return load.Relative(filepath.Join(dir, file)) + ":" + rest
}
