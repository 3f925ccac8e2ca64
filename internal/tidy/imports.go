package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

const module = "github.com/aeon-lang/aeon"

// layers says what each part of the tree may import of the project, itself and
// internal/assert apart. A part that is not named may import what it likes as
// far as the other tables let it. A folder covers what lies below it.
var layers = []struct {
	folder string
	may    []string
}{
	{"lang", []string{"internal/bytejson"}},
	{"typecheck", []string{"lang", "internal/similar"}},
	{"codegen", []string{"lang", "typecheck"}},
	{"dominator", nil},
	{"runtime", []string{"dominator", "internal/vfs", "internal/cmdline", "internal/bytejson"}},
	{"program", []string{"lang", "typecheck"}},
	{"graph", []string{"lang", "typecheck"}},
	{"process", nil},
	{"suite", []string{"process", "internal/bytejson"}},
	{"internal/assert", nil},
	{"internal/bytejson", nil},
	{"internal/cmdline", []string{"internal/similar"}},
	{"internal/similar", nil},
}

// forbidden lists what a part never reaches, also not by way of others.
var forbidden = []struct {
	folder string
	never  []string
}{
	{"lang", []string{"runtime", "dominator"}},
	{"typecheck", []string{"runtime", "dominator"}},
	{"codegen", []string{"runtime", "dominator"}},
	{"dominator", []string{"runtime", "lang", "typecheck", "codegen"}},
	{"runtime", []string{"lang", "typecheck", "codegen", "migrate", "placement", "elastic", "cmd"}},
}

// oracles lists packages that judge others, and so share nothing with them; what lies below
// them may compare the two.
var oracles = []struct {
	pkg   string
	never []string
}{
	{"spec", []string{"codegen", "runtime", "dominator"}},
	{"spec/explore", []string{"codegen", "runtime", "dominator"}},
}

// testOnly lists folders that production code outside them never reaches; the command of the
// compiler does, as it offers what is in them.
var testOnly = []string{"spec", "sim", "dominator/oracle", "runtime/lock/locktest"}

// adapters lists modules that one folder alone imports, tests included unless they may, too:
// those of the packages above the store run on file systems that crash, which are pebble's.
var adapters = []struct {
	module, folder string
	tests          bool
}{
	{"github.com/alecthomas/participle", "lang/grammar", false},
	{"github.com/hashicorp/raft", "placement/raftnode", false},
	{"github.com/hashicorp/memberlist", "membership/gossip", false},
	{"github.com/cockroachdb/pebble", "runtime/store/pebbledb", true},
	{"github.com/minio/minio-go", "runtime/snapshot/s3", false},
	{"google.golang.org/grpc", "runtime/transport/grpc", false},
}

// standardOnly lists folders whose production code reaches the standard library
// and the project alone, but for the adapters in them: the runtime's source is compiled
// outside the repository, and the pure packages stay pure.
var standardOnly = []string{"runtime", "dominator", "lang/ast", "lang/diag", "internal/assert", "internal/bytejson", "internal/cmdline", "internal/similar"}

// listed is what go list says of a package.
type listed struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
	Error        *struct{ Err string }
}

// under reports whether an import path is that of a folder of the project, or
// lies below it.
func under(path, folder string) bool { return within(path, module+"/"+folder) }

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func underAny(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return under(path, f) })
}

func (r *Report) checkImports(root string) error {
	packages, err := list(root)
	if err != nil {
		return err
	}
	standard := map[string]bool{"C": true}
	for _, p := range packages {
		standard[p.ImportPath] = p.Standard
	}
	for _, p := range packages {
		if !within(p.ImportPath, module) {
			continue
		}
		r.Packages++
		r.checkLayers(p)
		r.checkAdapters(p)
		r.checkReach(p, standard)
	}
	return nil
}

func list(root string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps,TestImports,XTestImports,Error", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("tidy: go list: %w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("tidy: go list: %w", err)
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("tidy: output of go list: %w", err)
		case p.Error != nil:
			return nil, fmt.Errorf("tidy: go list: %s: %s", p.ImportPath, p.Error.Err)
		}
		packages = append(packages, p)
	}
}

func (r *Report) checkLayers(p listed) {
	for _, l := range layers {
		if !under(p.ImportPath, l.folder) {
			continue
		}
		for _, i := range p.Imports {
			if within(i, module) && !under(i, l.folder) && !under(i, "internal/assert") && !underAny(i, l.may) {
				r.add("layers", p.ImportPath, "imports %s, which %s may not", i, l.folder)
			}
		}
	}
	for _, i := range p.Imports {
		if under(i, "cmd") && !under(p.ImportPath, "cmd") {
			r.add("layers", p.ImportPath, "imports the command %s", i)
		}
	}
}

func (r *Report) checkAdapters(p listed) {
	for _, a := range adapters {
		if under(p.ImportPath, a.folder) {
			continue
		}
		imports := p.Imports
		if !a.tests {
			imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		}
		for _, i := range imports {
			if within(i, a.module) {
				r.add("adapters", p.ImportPath, "imports %s, which %s alone may", i, a.folder)
			}
		}
	}
}

func (r *Report) checkReach(p listed, standard map[string]bool) {
	adapter := false
	for _, a := range adapters {
		adapter = adapter || under(p.ImportPath, a.folder)
	}
	for _, d := range p.Deps {
		for _, f := range forbidden {
			if under(p.ImportPath, f.folder) && underAny(d, f.never) {
				r.add("direction", p.ImportPath, "reaches %s", d)
			}
		}
		for _, o := range oracles {
			if p.ImportPath == module+"/"+o.pkg && underAny(d, o.never) {
				r.add("oracle", p.ImportPath, "reaches %s, which it is to judge", d)
			}
		}
		if underAny(d, testOnly) && !underAny(p.ImportPath, testOnly) && !under(p.ImportPath, "cmd/aeonc") {
			r.add("test-only", p.ImportPath, "reaches %s in production code", d)
		}
		if underAny(p.ImportPath, standardOnly) && !adapter && !standard[d] && !within(d, module) {
			r.add("standard-only", p.ImportPath, "reaches %s", d)
		}
	}
}
