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

// A pattern names packages of the project by their paths in it: "lang" is that package, "lang/..." those below it,
// too, and "." the root. A list of patterns is separated by spaces.

// layers has a line for each package, which says what of the project its production code imports, internal/assert
// apart. A package stands below all that it imports, so the table reads from the ground up.
var layers = []struct{ pkg, may string }{
	// The ground.
	{"internal/assert", ""},
	{"internal/atomicfile", ""},
	{"internal/bytejson", ""},
	{"internal/shard", ""},
	{"internal/short", ""},
	{"internal/smallset", ""},
	{"internal/similar", ""},
	{"internal/heapfloor", ""},
	{"internal/cmdline", "internal/similar"},

	// The compiler.
	{"lang/ast", ""},
	{"lang/diag", "lang/ast internal/bytejson"},
	{"lang/grammar", "lang/ast lang/diag"},
	{"lang/format", "lang/ast lang/diag lang/grammar"},
	{"lang", "lang/ast lang/diag lang/format lang/grammar"},
	{"typecheck", "lang/ast lang/diag internal/similar"},
	{"codegen", "lang/ast typecheck"},
	{"codegen/typescript", "lang/ast typecheck"},

	// The runtime.
	{"dominator", ""},
	{"runtime/fault", ""},
	{"runtime/callpath", ""},
	{"runtime/inherit", ""},
	{"runtime/event", "runtime/callpath"},
	{"runtime/value", ""},
	{"runtime/codec", "runtime/value"},
	{"runtime/sched", "runtime/event"},
	{"runtime/lock", "runtime/codec internal/short"},
	{"runtime/commit", "runtime/event"},
	{"runtime/typetext", ""},
	{"runtime/jsoncodec", "runtime/codec runtime/event runtime/typetext runtime/value internal/bytejson internal/similar"},
	{"runtime/protocodec", "runtime/codec runtime/event runtime/jsoncodec runtime/typetext runtime/value"},
	{"runtime/metrics", ""},
	{"runtime/watch", "runtime/metrics internal/bytejson"},
	{"runtime/span", "runtime/event runtime/metrics"},
	{"runtime/span/collector", "runtime/span"},
	{"runtime/store", "runtime/event runtime/metrics runtime/sched runtime/typetext"},
	{"runtime/store/memengine", "runtime/store"},
	{"runtime/store/pebbledb", "runtime/store runtime/fault"},
	{"runtime/settings", "runtime/store internal/cmdline"},
	{"runtime/snapshot", "runtime/fault internal/bytejson"},
	{"runtime/snapshot/s3", "runtime/snapshot"},
	{"runtime/image", "runtime/codec runtime/event runtime/store runtime/value"},
	{"runtime/table", "runtime/codec runtime/image runtime/value"},
	{"runtime/trace", "runtime/event runtime/store internal/bytejson"},
	{"runtime/latch", "runtime/lock"},
	{"runtime/order", "dominator runtime/event runtime/image runtime/latch runtime/lock runtime/sched runtime/store runtime/watch internal/bytejson internal/shard internal/short"},
	{"runtime/across", "runtime/callpath runtime/codec runtime/commit runtime/event runtime/lock runtime/metrics runtime/order runtime/sched runtime/span"},
	{"runtime/row", "runtime/event runtime/store"},
	{"runtime/state", "dominator runtime/event runtime/image runtime/metrics runtime/order runtime/row runtime/sched runtime/store runtime/value internal/shard"},
	{"runtime/outbox", "runtime/event runtime/metrics runtime/order runtime/row runtime/sched runtime/store runtime/value internal/shard"},
	{"runtime/state/archive", "dominator runtime/event runtime/image runtime/order runtime/row runtime/sched runtime/snapshot runtime/state runtime/store internal/bytejson internal/cmdline"},
	{"runtime/state/inspection", "runtime/event runtime/jsoncodec runtime/row runtime/state/archive runtime/store internal/bytejson"},
	{"runtime/undo", "runtime/order runtime/table runtime/value internal/short"},
	{"runtime/history", "runtime/event runtime/image runtime/order runtime/row runtime/sched runtime/state runtime/store runtime/trace runtime/undo internal/shard internal/smallset"},
	{"runtime/activation", "runtime/across runtime/callpath runtime/codec runtime/event runtime/history runtime/order runtime/outbox runtime/row runtime/sched runtime/span runtime/state runtime/store runtime/trace runtime/undo runtime/value internal/short internal/smallset"},
	{"runtime/exec", "dominator runtime/across runtime/activation runtime/callpath runtime/codec runtime/commit runtime/event runtime/history runtime/image runtime/metrics runtime/order runtime/outbox runtime/row runtime/sched runtime/span runtime/state runtime/state/archive runtime/store runtime/trace runtime/value runtime/watch internal/bytejson"},
	{"runtime", "runtime/across runtime/activation runtime/callpath runtime/codec runtime/event runtime/exec runtime/fault runtime/history runtime/image runtime/inherit runtime/jsoncodec runtime/order runtime/outbox runtime/sched runtime/settings runtime/snapshot runtime/span runtime/state runtime/state/archive runtime/store runtime/table runtime/trace runtime/undo runtime/value internal/bytejson internal/cmdline internal/heapfloor"},
	{"runtime/nodes", "runtime runtime/across runtime/event runtime/exec runtime/sched runtime/store runtime/store/memengine"},
	{"runtime/door", "runtime/activation runtime/codec runtime/event runtime/exec runtime/jsoncodec runtime/metrics runtime/order runtime/row runtime/span runtime/store runtime/value runtime/watch internal/similar"},
	{"runtime/door/access", "runtime/door"},
	{"runtime/door/audit", "internal/bytejson"},
	{"runtime/door/gate", "runtime/door runtime/door/access runtime/door/audit runtime/metrics internal/bytejson"},
	{"runtime/door/httpdoor", "runtime/codec runtime/door runtime/door/access runtime/door/gate runtime/exec runtime/jsoncodec runtime/metrics runtime/outbox runtime/span runtime/state/inspection runtime/store runtime/watch"},
	{"runtime/door/godoor", "runtime runtime/codec runtime/door runtime/exec runtime/metrics runtime/order runtime/sched runtime/span runtime/state/archive runtime/store runtime/value"},
	{"runtime/door/grpcdoor", "runtime/codec runtime/door runtime/door/access runtime/door/gate runtime/protocodec runtime/span"},
	{"runtime/node", "runtime runtime/door runtime/door/access runtime/door/audit runtime/door/gate runtime/door/httpdoor runtime/snapshot runtime/snapshot/s3 runtime/span runtime/span/collector runtime/store/pebbledb"},
	{"runtime/node/withgrpc", "runtime/door runtime/door/gate runtime/door/grpcdoor runtime/door/httpdoor runtime/node"},

	// The cluster, above the runtime.
	{"runtime/transport", "runtime/event"},
	{"runtime/transport/mem", "runtime/event runtime/sched runtime/transport"},
	{"runtime/transport/grpc", "runtime/event runtime/sched runtime/transport"},
	{"placement", "runtime/event"},
	{"membership/identity", "placement runtime/event"},
	{"membership/port", "membership/identity placement runtime/event"},
	{"membership/gossip", "membership/port runtime/event"},
	{"membership/join", "membership/identity membership/port placement runtime/event runtime/sched"},
	{"placement/raftnode", "membership/identity membership/port placement runtime/event runtime/store"},
	{"replica", "runtime/event runtime/store"},
	{"replica/engine", "runtime/sched runtime/store"},
	{"cluster/status", "runtime/event"},
	{"cluster/front", "runtime/door runtime/door/access runtime/door/gate runtime/door/httpdoor runtime/event runtime/sched runtime/span"},
	{"replica/driver", "replica replica/engine runtime/event runtime/metrics runtime/sched runtime/store"},
	{"cluster/link", "runtime/across runtime/event runtime/row"},
	{"cluster", "cluster/link cluster/front cluster/status membership/gossip membership/identity membership/join membership/port placement placement/raftnode replica replica/driver runtime runtime/door runtime/door/access runtime/door/audit runtime/door/gate runtime/door/httpdoor runtime/event runtime/metrics runtime/outbox runtime/protocodec runtime/sched runtime/settings runtime/snapshot runtime/span runtime/state/archive runtime/store runtime/transport/grpc runtime/watch"},
	{"cluster/withcluster", "cluster runtime runtime/node"},
	{"cluster/withcluster/withgrpc", "cluster runtime runtime/door/grpcdoor runtime/node runtime/node/withgrpc"},

	// Clients outside of programs.
	{"client", ""},
	{"client/grpcclient", "client"},

	// The tools. What aeonc explore, test and trace run of spec is production, as they are; see testOnly.
	{".", "runtime/door runtime/door/godoor"},
	{"aeontest", ". runtime/door/godoor runtime/store/memengine"},
	{"internal/load", "lang lang/ast lang/diag typecheck"},
	{"internal/gobuild", ". codegen internal/atomicfile internal/load lang/ast typecheck"},
	{"internal/gocall/serve", ""},
	{"internal/gocall", ". internal/gobuild internal/gocall/serve internal/load runtime/inherit"},
	{"internal/cli", ". internal/cmdline internal/gobuild internal/load lang/diag"},
	{"spec", "internal/gocall/serve internal/load lang/ast typecheck"},
	{"spec/explore", "spec"},
	{"spec/trace", ""},
	{"spec/batch/driver", "runtime runtime/across runtime/callpath runtime/event runtime/inherit runtime/nodes runtime/state runtime/store runtime/store/memengine runtime/trace runtime/value"},
	{"spec/batch", ". codegen internal/gobuild internal/load lang lang/ast lang/diag runtime/inherit spec/batch/driver typecheck"},
	{"spec/golden", "internal/gobuild internal/gocall internal/load lang/diag runtime/across spec spec/batch spec/explore typecheck"},
	{"cmd/aeonc/internal/draw", "lang/ast typecheck"},
	{"cmd/aeonc/internal/testrun", "internal/bytejson runtime/inherit"},
	{"cmd/aeonc", "cluster/status cmd/aeonc/internal/... codegen codegen/typescript internal/atomicfile internal/bytejson internal/cli internal/cmdline internal/gobuild internal/gocall internal/load lang lang/ast lang/diag runtime/node runtime/protocodec runtime/settings runtime/state runtime/state/archive runtime/store runtime/store/pebbledb spec spec/explore spec/golden spec/trace typecheck"},
	{"cmd/aeond", "client cluster/status dominator internal/cli internal/cmdline membership/identity runtime/door runtime/door/access runtime/door/httpdoor runtime/event runtime/fault runtime/node runtime/outbox runtime/row runtime/settings runtime/snapshot runtime/state/archive runtime/state/inspection runtime/store runtime/store/pebbledb runtime/watch"},

	// What is for tests alone.
	{"dominator/oracle", ""},
	{"examples", ""},
	{"examples/bank", ". runtime runtime/door/godoor runtime/store/pebbledb runtime/value"},
	{"examples/goservice", ". examples/bank"},
	{"internal/freeport", ""},
	{"internal/generated", ""},
	{"replica/replicatest", "replica replica/driver replica/engine runtime/event runtime/store runtime/store/memengine"},
	{"runtime/lock/locktest/scene", ""},
	{"runtime/lock/locktest/seen", ""},
	{"runtime/lock/locktest/network", "runtime/codec runtime/lock"},
	{"runtime/lock/locktest", "runtime/codec runtime/commit runtime/event runtime/lock runtime/lock/locktest/network runtime/lock/locktest/scene runtime/lock/locktest/seen"},
	{"runtime/sched/schedtest", "runtime/sched"},
	{"internal/parallel", ""},
	{"internal/race", ""},
	{"internal/spantree", ""},
	{"internal/tally", ""},
	{"internal/tidy", ""},
	{"sim/cluster", ""},
	{"sim/kill", ""},
	{"sim/door/depot", "runtime runtime/value"},
	{"sim/door/shop", "runtime runtime/value"},
	{"sim/door", ""},
	{"sim/embed/hall", ". runtime runtime/door/godoor runtime/store/pebbledb runtime/value"},
	{"sim/embed", ""},
	{"sim/kill/ledger", "runtime runtime/value"},
	{"sim/mail", ""},
	{"sim/mail/paper", "runtime"},
	{"sim/mail/post", "runtime runtime/value sim/mail/paper"},
	{"spec/generate", "lang lang/ast lang/diag lang/format"},
	{"spec/differ", "lang lang/ast lang/diag lang/format runtime/across spec spec/batch spec/explore spec/generate typecheck"},
	{"spec/plants", ""},
}

// testOnly lists packages for tests alone: production code, which is all others, never reaches them.
const testOnly = "dominator/oracle examples/... internal/freeport internal/generated internal/parallel internal/race internal/spantree internal/tally internal/tidy replica/replicatest runtime/lock/locktest runtime/lock/locktest/network runtime/lock/locktest/scene runtime/lock/locktest/seen runtime/sched/schedtest sim/... spec/differ spec/generate spec/plants"

// directions lists what packages never reach, directly or through others, whatever the layers say.
var directions = []struct{ from, never string }{
	{"lang/... typecheck codegen", "runtime/... dominator/... cmd/..."}, // the compiler names the runtime by strings
	{"runtime/...", "lang/... typecheck codegen internal/load internal/gobuild membership/... placement/... replica/... cmd/..."},
	{"dominator", "runtime/... lang/... typecheck codegen cmd/..."},
	{"lang/... typecheck codegen dominator runtime/... internal/...", "spec/..."}, // only commands run the oracles
	{"spec spec/explore", "codegen runtime/... dominator/..."},                    // an oracle shares nothing with what it judges
}

// adapters lists modules that one package alone imports, tests included unless they may, too:
// those of the packages above the store run on file systems that crash, which are pebble's.
var adapters = []struct {
	module, pkg string
	tests       bool
}{
	{"github.com/alecthomas/participle", "lang/grammar", false},
	{"github.com/hashicorp/raft", "placement/raftnode", false},
	{"github.com/hashicorp/go-hclog", "placement/raftnode", false},
	{"github.com/hashicorp/memberlist", "membership/gossip", false},
	{"github.com/cockroachdb/pebble", "runtime/store/pebbledb", true},
	{"github.com/minio/minio-go", "runtime/snapshot/s3", false},
	{"google.golang.org/grpc", "client/grpcclient runtime/door/grpcdoor runtime/transport/grpc", true},
	{"go.etcd.io/raft", "replica", false},
	{"github.com/RaduBerinde/btreemap", "replica/engine", false},
}

// standardOnly lists packages whose production code reaches the standard library
// and the project alone: the runtime's source is compiled outside the repository, and the pure packages stay pure.
// The adapters among them are excepted, and so is what a program is linked with on request to have them.
const (
	standardOnly = "client runtime/... dominator lang/ast lang/diag internal/assert internal/bytejson internal/cmdline internal/heapfloor internal/shard internal/similar internal/short internal/smallset"
	onRequest    = "runtime/node/..."
)

// listed is what go list says of a package.
type listed struct {
	ImportPath   string
	Standard     bool
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
	Dir          string
	GoFiles      []string
	Export       string // the file that a compiler reads which imports it
	Error        *struct{ Err string }
}

// matches reports whether an import path is that of a package which a list of patterns names.
func matches(path, patterns string) bool {
	if path == module {
		path = "."
	} else if inside, ok := strings.CutPrefix(path, module+"/"); ok {
		path = inside
	} else {
		return false
	}
	for p := range strings.FieldsSeq(patterns) {
		if folder, below := strings.CutSuffix(p, "/..."); path == folder || below && within(path, folder) {
			return true
		}
	}
	return false
}

func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

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
	return r.checkOrder(packages)
}

func list(root string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Standard,Imports,Deps,TestImports,XTestImports,Dir,GoFiles,Export,Error", "./...")
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
	listed := false
	for _, l := range layers {
		if !matches(p.ImportPath, l.pkg) {
			continue
		}
		listed = true
		for _, i := range p.Imports {
			if within(i, module) && !matches(i, "internal/assert") && !matches(i, l.may) {
				r.add("layers", p.ImportPath, "imports %s, which is not in its line of the table of layers", i)
			}
		}
	}
	if !listed {
		r.add("layers", p.ImportPath, "is not in the table of layers")
	}
}

func (r *Report) checkAdapters(p listed) {
	for _, a := range adapters {
		if matches(p.ImportPath, a.pkg) {
			continue
		}
		imports := p.Imports
		if !a.tests {
			imports = slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		}
		for _, i := range imports {
			if within(i, a.module) {
				r.add("adapters", p.ImportPath, "imports %s, which %s alone may", i, a.pkg)
			}
		}
	}
}

func (r *Report) checkReach(p listed, standard map[string]bool) {
	outside := matches(p.ImportPath, onRequest)
	for _, a := range adapters {
		outside = outside || matches(p.ImportPath, a.pkg)
	}
	for _, d := range p.Deps {
		for _, f := range directions {
			if matches(p.ImportPath, f.from) && matches(d, f.never) {
				r.add("direction", p.ImportPath, "reaches %s", d)
			}
		}
		if matches(d, testOnly) && !matches(p.ImportPath, testOnly) {
			r.add("test-only", p.ImportPath, "reaches %s in production code", d)
		}
		if matches(p.ImportPath, standardOnly) && !outside && !standard[d] && !within(d, module) {
			r.add("standard-only", p.ImportPath, "reaches %s", d)
		}
	}
}
