package batch

import (
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/build"
)

// driverDir and sourceRoot stand for directories that need not exist: build names packages after them.
const (
	driverDir  = "/aeon/batch/driver"
	sourceRoot = "/aeon/batch/programs/"
)

// linked collects what goes into one executable.
type linked struct {
	req         build.Request
	owners      map[string][]int // import path of a package -> programs
	descriptors []string         // expressions for the descriptors of the programs
	imports     []string
	shared      *build.Package // the package that programs are merged into now
	alias       string         // by which the main package knows it
	merged      int            // programs in it
}

// add adds the packages of a program, the entry last. With together a program of one package goes into a package with others.
func (l *linked) add(i int, name string, pkgs []build.Package, together bool) error {
	entry := pkgs[len(pkgs)-1]
	if !together || len(pkgs) > 1 {
		alias := fmt.Sprintf("p%d", i)
		l.imports = append(l.imports, fmt.Sprintf("%s %q", alias, build.ImportPath(entry.Dir, entry.Name)))
		l.descriptors = append(l.descriptors, alias+".AeonPackage")
		l.req.Imported = append(l.req.Imported, pkgs...)
		for _, pkg := range pkgs {
			path := build.ImportPath(pkg.Dir, pkg.Name)
			l.owners[path] = append(l.owners[path], i)
		}
		return nil
	}
	if l.shared == nil || l.merged == mergeMax {
		l.endShared()
		l.shared, l.merged = &build.Package{Name: "shared", Dir: sourceRoot + "shared/" + name}, 0
		l.alias = fmt.Sprintf("s%d", i)
		l.imports = append(l.imports, fmt.Sprintf("%s %q", l.alias, build.ImportPath(l.shared.Dir, l.shared.Name)))
	}
	l.merged++
	path := build.ImportPath(l.shared.Dir, l.shared.Name)
	l.owners[path] = append(l.owners[path], i)
	descriptor, err := merge(l.shared, entry)
	l.descriptors = append(l.descriptors, l.alias+"."+descriptor)
	return err
}

func (l *linked) endShared() {
	if l.shared != nil {
		l.req.Imported = append(l.req.Imported, *l.shared)
		l.shared = nil
	}
}

// request returns the request for the executable of all that was added.
func (l *linked) request() build.Request {
	l.endShared()
	req := l.req
	req.Kind, req.Name, req.Quick = build.Tests, "batch", true
	req.Imported = append(req.Imported, build.Package{Name: "driver", Dir: driverDir, Files: []build.File{
		{Name: "driver.go", Data: driverSource}, {Name: "stored.go", Data: storedSource},
	}})
	req.Main = fmt.Appendf(nil, "package main\n\nimport (\n\t%q\n\n\t%s\n)\n\nfunc main() {\n\tdriver.Main(\n\t\t&%s,\n\t)\n}\n",
		build.ImportPath(driverDir, "driver"), strings.Join(l.imports, "\n\t"), strings.Join(l.descriptors, ",\n\t\t&"))
	return req
}
