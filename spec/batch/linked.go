package batch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

// driverDir and sourceRoot stand for directories that need not exist: build names packages after them.
const (
	driverDir  = "/aeon/batch/driver"
	sourceRoot = "/aeon/batch/programs/"
)

// linked collects what goes into one executable.
type linked struct {
	req         gobuild.Request
	owners      map[string][]int // import path of a package -> programs
	descriptors []string         // expressions for the descriptors of the programs
	imports     []string
	shared      map[int]*shared // by the number of packages of a program
}

// shared are the packages that programs of as many packages are merged into now.
type shared struct {
	pkgs   []gobuild.Package
	alias  string // by which the main package knows the last of them
	merged int    // programs in them
}

// add adds the packages of a program, the entry last. With together each goes into a package with those of other
// programs.
func (l *linked) add(i int, name string, pkgs []gobuild.Package, together bool) error {
	if !together {
		entry := pkgs[len(pkgs)-1]
		alias := fmt.Sprintf("p%d", i)
		l.imports = append(l.imports, fmt.Sprintf("%s %q", alias, gobuild.ImportPath(entry.Dir, entry.Name)))
		l.descriptors = append(l.descriptors, alias+".AeonEntry()")
		l.req.Imported = append(l.req.Imported, pkgs...)
		l.owns(i, pkgs)
		return nil
	}
	s := l.shared[len(pkgs)]
	if s == nil || s.merged == mergeMax/len(pkgs) {
		l.end(s)
		s = &shared{alias: fmt.Sprintf("s%d", i)}
		for n := range pkgs {
			s.pkgs = append(s.pkgs, gobuild.Package{Name: fmt.Sprintf("shared%d", n), Dir: fmt.Sprintf("%sshared/%s/%d", sourceRoot, name, n)})
		}
		entry := s.pkgs[len(pkgs)-1]
		l.imports = append(l.imports, fmt.Sprintf("%s %q", s.alias, gobuild.ImportPath(entry.Dir, entry.Name)))
		l.shared[len(pkgs)] = s
	}
	suffix := fmt.Sprintf("_p%d", s.merged)
	s.merged++
	moved := map[string]gobuild.Package{}
	for n, pkg := range pkgs {
		if err := merge(&s.pkgs[n], pkg, suffix, moved); err != nil {
			return err
		}
		moved[gobuild.ImportPath(pkg.Dir, pkg.Name)] = s.pkgs[n]
	}
	l.owns(i, s.pkgs)
	l.descriptors = append(l.descriptors, s.alias+".AeonEntry"+suffix+"()")
	return nil
}

// owns notes that packages have code of a program.
func (l *linked) owns(i int, pkgs []gobuild.Package) {
	for _, pkg := range pkgs {
		path := gobuild.ImportPath(pkg.Dir, pkg.Name)
		l.owners[path] = append(l.owners[path], i)
	}
}

// end ends the packages: the next program goes into new ones.
func (l *linked) end(s *shared) {
	if s != nil {
		l.req.Imported = append(l.req.Imported, s.pkgs...)
	}
}

// request returns the request for the executable of all that was added, whose stores are kept on replicas or not.
func (l *linked) request(replicated bool) gobuild.Request {
	for _, n := range slices.Sorted(maps.Keys(l.shared)) {
		l.end(l.shared[n])
	}
	req := l.req
	req.Kind, req.Name, req.Quick = gobuild.Tests, "batch", true
	req.Imported = append(req.Imported, gobuild.Package{Name: "driver", Dir: driverDir, Shared: true, Files: []gobuild.File{
		{Name: "driver.go", Data: driverSource}, {Name: "stored.go", Data: storedSource},
	}})
	imports, start := slices.Concat([]string{fmt.Sprintf("%q", gobuild.ImportPath(driverDir, "driver"))}, l.imports), ""
	if replicated {
		req.Store, req.Cluster = true, true // for the modules of raft
		imports, start = append(imports, fmt.Sprintf("%q", aeon.ReplicasPackage)), "\tdriver.Memory = replicatest.ThreeInMemory\n"
	}
	req.Main = fmt.Appendf(nil, "package main\n\nimport (\n\t%s\n)\n\nfunc main() {\n%s\tdriver.Main(\n\t\t%s,\n\t)\n}\n",
		strings.Join(imports, "\n\t"), start, strings.Join(l.descriptors, ",\n\t\t"))
	return req
}
