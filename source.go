package aeon

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/aeon-lang/aeon/internal/assert"
)

// This file carries the source of the runtime inside the tools, so that an installed aeonc and a Go toolchain are enough to
// compile a program: no copy of this repository is needed, and nothing is downloaded, except the modules of the store for a
// program that is to keep its state on disk. Programs in Go need nothing of it, and the linker leaves it out of them.

// ModulePath is the path of the module that the runtime belongs to. Generated
// code imports ModulePath + "/runtime".
const ModulePath = "github.com/aeon-lang/aeon"

// StorePackage is the path of the package that keeps a program's state on disk. It alone
// needs modules beside the standard library; the main package of a program imports it if
// the program is compiled with the store.
const StorePackage = ModulePath + "/runtime/node"

// GRPCPackage is the path of the package that takes the place of StorePackage in a program that is compiled with gRPC.
const GRPCPackage = StorePackage + "/withgrpc"

// ClusterPackage is the path of the package that takes the place of StorePackage in a program that can be a node of a cluster.
const ClusterPackage = ModulePath + "/cluster/withcluster"

// ClusterGRPCPackage is the path of the package that takes the place of ClusterPackage in a program that is compiled with gRPC, too.
const ClusterGRPCPackage = ClusterPackage + "/withgrpc"

// NodesPackage is the path of the package that runs a program on several stores in one process. It needs no modules.
const NodesPackage = ModulePath + "/runtime/nodes"

// ReplicasPackage is the path of the package that keeps stores on three replicas in one process. Only executables of tests are compiled with it.
const ReplicasPackage = ModulePath + "/replica/replicatest"

// Every package that generated code reaches must be embedded here and may
// import the standard library only, the packages above apart; a test compares this with the imports.
//
//go:embed go.mod go.sum cluster dominator/*.go internal/assert internal/atomicfile internal/bytejson internal/cmdline internal/heapfloor internal/shard internal/similar internal/short internal/smallset membership placement replica runtime
var embedded embed.FS

// SourceFile is one file of the embedded runtime.
type SourceFile struct {
	Path string // relative to the module's root, with slashes
	Data []byte
}

// Runtime is the embedded source of the runtime.
type Runtime struct {
	Files     []SourceFile // in ascending order of Path, without tests; does not include a go.mod
	GoVersion string       // the oldest Go toolchain that compiles it, as in go.mod: "1.26"
	// Requirements is this repository's go.mod without its module line, and Sums its go.sum. A program with the
	// store is compiled against them, so that it gets what the store was tested with; Go takes no module of them
	// that no package of the program is in.
	Requirements, Sums []byte
	Hash               string // identifies all of the above, in hexadecimal
}

var loaded struct {
	sync.Once
	Runtime
}

// RuntimeSource returns the embedded runtime. The result is shared and must not
// be changed; any goroutine may call it.
func RuntimeSource() Runtime { // a variable that is initialised with it would keep the sources in every program
	loaded.Do(func() { loaded.Runtime = loadRuntime() })
	return loaded.Runtime
}

func loadRuntime() Runtime {
	var rt Runtime
	err := fs.WalkDir(embedded, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "locktest" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := embedded.ReadFile(name)
		if err != nil {
			return err
		}
		switch {
		case name == "go.mod":
			rt.GoVersion = goVersionOf(data)
			rt.Requirements = requirementsOf(data)
		case name == "go.sum":
			rt.Sums = data
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			rt.Files = append(rt.Files, SourceFile{name, data})
		}
		return nil
	})
	assert.That(err == nil, "the embedded runtime is unreadable: %v", err)
	assert.That(rt.GoVersion != "", "the embedded go.mod has no go line")
	slices.SortFunc(rt.Files, func(a, b SourceFile) int { return strings.Compare(a.Path, b.Path) })
	rt.Hash = hashOf(rt)
	return rt
}

// goVersionOf returns the argument of go.mod's go line, cut to major.minor:
// what decides is the language version, not the patch level.
func goVersionOf(mod []byte) string {
	for line := range bytes.Lines(mod) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "go "); ok {
			parts := strings.SplitN(v, ".", 3)
			return strings.Join(parts[:min(2, len(parts))], ".")
		}
	}
	return ""
}

// requirementsOf returns a go.mod without its module line: the module it goes into has its own.
func requirementsOf(mod []byte) []byte {
	var rest []byte
	for line := range bytes.Lines(mod) {
		if !bytes.HasPrefix(line, []byte("module ")) {
			rest = append(rest, line...)
		}
	}
	return rest
}

func hashOf(rt Runtime) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%x\n%x\n", rt.GoVersion, sha256.Sum256(rt.Requirements), sha256.Sum256(rt.Sums))
	for _, f := range rt.Files {
		sum := sha256.Sum256(f.Data)
		h.Write([]byte(f.Path + "\n" + hex.EncodeToString(sum[:]) + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil))
}
