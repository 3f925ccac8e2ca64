package typecheck

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// TestGoldensApart checks each golden program once more with every class, enum, constant and function in a package
// of its own: only declarations that depend on each other in a circle stay together. Diagnostics, effects, the
// ownership graph, and what code generation reads are those of the program in one package.
func TestGoldensApart(t *testing.T) {
	programs, packages, errors := 0, 0, 0
	for name, files := range wholePrograms(t) {
		if strings.HasPrefix(name, "names/") || name == "types/switch" || name == "go/bad" || name == "go/types_bad" {
			continue // these are about what a bare name means in a package, and about blocks of several functions
		}
		if strings.HasPrefix(name, "go/bodies") {
			continue // the directory is that of the package
		}
		if name == "go/classes_bad" || name == "semantics/go-classes" {
			continue // the names of fields are those of Go
		}
		t.Run(name, func(t *testing.T) {
			exportAll(files)
			info, diags := Check(files, Options{Import: importer(t), Go: standardGo})
			if info.Package.MainConfig() != nil {
				return // that class stands beside main
			}
			want := wholeText(t, []*Info{info}, diags)
			infos, apart := checkApart(t, files, info)
			if got := wholeText(t, infos, apart); got != want {
				t.Errorf("in packages of their own:\n%s", lineDiff(want, got))
			}
			programs++
			packages += len(infos)
			errors += len(diags)
		})
	}
	t.Logf("%d programs in %d packages, %d diagnostics", programs, packages, errors)
	if programs < 250 || packages < 3*programs || errors < 400 {
		t.Errorf("only %d programs in %d packages with %d diagnostics", programs, packages, errors)
	}
}

// wholePrograms parses the goldens of the checker and of the semantics.
func wholePrograms(t *testing.T) map[string][]*ast.File {
	programs := make(map[string][]*ast.File)
	archives, err := filepath.Glob(filepath.Join("..", "testdata", "semantics", "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("testdata/semantics holds no goldens (%v)", err)
	}
	for _, area := range areas {
		archives = append(archives, goldenFiles(t, area)...)
	}
	for _, file := range archives {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		whole := true
		for _, f := range txtar.Parse(data).Files {
			if strings.HasSuffix(f.Name, ".aeon") {
				tree, syntax := lang.Parse(f.Name, f.Data)
				tree.Decls = slices.Collect(splitBlocks(tree.Decls))
				files = append(files, tree)
				whole = whole && len(syntax) == 0 && tree.Package != nil
			}
		}
		if whole {
			programs[filepath.Base(filepath.Dir(file))+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar")] = files
		}
	}
	return programs
}

// splitBlocks gives every Go function a block of its own.
func splitBlocks(decls []ast.Decl) iter.Seq[ast.Decl] {
	return func(yield func(ast.Decl) bool) {
		for _, d := range decls {
			block, ok := d.(*ast.ExternGoDecl)
			if !ok || len(block.Items) < 2 || hasTypes(block) {
				yield(d)
				continue
			}
			for _, f := range block.Funcs() {
				yield(&ast.ExternGoDecl{Loc: block.Loc, Doc: block.Doc, Path: block.Path, Items: []ast.ExternItem{f}})
			}
		}
	}
}

// hasTypes reports whether a block has Go types, or methods of some: these stand in one package.
func hasTypes(block *ast.ExternGoDecl) bool {
	return len(block.Types()) > 0 || slices.ContainsFunc(block.Funcs(), func(f *ast.ExternFunc) bool { return f.Recv != nil })
}

// boundBy returns the names at the top level that a block declares.
func boundBy(block *ast.ExternGoDecl) (names []string) {
	for _, t := range block.Types() {
		names = append(names, t.Name.Text)
	}
	for _, f := range block.Funcs() {
		if f.Recv == nil {
			names = append(names, f.Name.Text)
		}
	}
	return names
}

// topLevel returns the declarations that can be in a package of their own, by name, in source order.
func topLevel(files []*ast.File) (names []string, of map[string]ast.Decl) {
	of = make(map[string]ast.Decl)
	for _, f := range files {
		for _, d := range f.Decls {
			name := ""
			switch d := d.(type) {
			case *ast.ClassDecl:
				name = d.Name.Text
			case *ast.EnumDecl:
				name = d.Name.Text
			case *ast.ConstDecl:
				name = d.Name.Text
			case *ast.FuncDecl:
				if !d.IsMain() {
					name = d.Name.Text
				}
			case *ast.ExternGoDecl:
				for _, bound := range boundBy(d) {
					names = append(names, bound)
					of[bound] = d
				}
			}
			if name != "" && of[name] == nil {
				names = append(names, name)
				of[name] = d
			}
		}
	}
	return names, of
}

// exportAll gives all names of a program that other packages may have to use a capital letter.
func exportAll(files []*ast.File) {
	info, _ := Check(files, Options{Go: standardGo})
	own := make(map[string]bool)
	note := func(n ast.Name) {
		if n.Text != "" && !n.Exported() && n.Text != "main" {
			own[n.Text] = true
		}
	}
	names, of := topLevel(files)
	for _, name := range names {
		note(ast.Name{Text: name})
		switch d := of[name].(type) {
		case *ast.EnumDecl:
			for _, v := range d.Values {
				note(v.Name)
			}
		case *ast.ClassDecl:
			for _, f := range d.Fields() {
				note(f.Name)
			}
			for _, m := range d.Methods() {
				note(m.Name)
			}
		}
	}
	keep := make(map[ast.Expr]bool)
	for x, call := range info.Calls {
		if call.Func == nil { // what is called is none of the program's
			keep[x.Fun] = true
		}
	}
	rename := func(s *string) {
		if own[*s] {
			*s = "Zz" + *s
		}
	}
	for _, f := range files {
		rewrite(reflect.ValueOf(f), func(n any) {
			switch n := n.(type) {
			case *ast.Ident:
				if !keep[n] {
					rename(&n.Name)
				}
			case *ast.Field:
				if !keep[n] {
					rename(&n.Name.Text)
				}
			case *ast.OptionalField:
				if !keep[n] {
					rename(&n.Name.Text)
				}
			case *ast.Name:
				rename(&n.Text)
			}
		})
	}
}

// rewrite visits the nodes of a tree, and the names in them, the inner ones first. An expression that is to be replaced is given as the
// pointer to its place.
func rewrite(v reflect.Value, visit func(any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if _, src := v.Interface().(*ast.Source); src || v.IsNil() {
			return
		}
		rewrite(v.Elem(), visit)
		visit(v.Interface())
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		rewrite(v.Elem(), visit)
		if x, ok := v.Addr().Interface().(*ast.Expr); ok {
			visit(x)
		}
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i), visit)
			if name, ok := v.Index(i).Addr().Interface().(*ast.Name); ok {
				visit(name)
			}
		}
	case reflect.Struct:
		_, field := v.Addr().Interface().(*ast.Field)
		_, optional := v.Addr().Interface().(*ast.OptionalField)
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() {
				rewrite(f, visit)
				if name, ok := f.Addr().Interface().(*ast.Name); ok && !field && !optional {
					visit(name)
				}
			}
		}
	}
}

// checkApart checks the declarations of a program in packages of their own; info is what is known of it whole.
func checkApart(t *testing.T, files []*ast.File, info *Info) (infos []*Info, diags []diag.Diagnostic) {
	names, of := topLevel(files)
	uses := make(map[string]map[string]bool)
	for _, name := range names {
		uses[name] = mentions(of[name], of, info)
	}
	together := func(path string) (bound []string) { // what whole blocks of a Go package declare
		for _, name := range names {
			if block, ok := of[name].(*ast.ExternGoDecl); ok && hasTypes(block) && block.Path.Value == path {
				bound = append(bound, name)
			}
		}
		return bound
	}
	for _, name := range names {
		if block, ok := of[name].(*ast.ExternGoDecl); ok && hasTypes(block) {
			for _, other := range together(block.Path.Value) {
				uses[name][other] = true
			}
		}
	}
	group := groups(names, uses)
	packageOf := func(name string) string { return "q" + fmt.Sprint(slices.Index(names, group[name])) }
	checked := make(map[string]*Package)
	check := func(pkg string, in func(ast.Decl) bool) {
		var list []*ast.File
		for _, f := range files {
			part := &ast.File{Loc: f.Loc, Src: f.Src, Package: &ast.PackageClause{Loc: f.Package.Loc, Name: f.Package.Name}, Imports: slices.Clone(f.Imports)}
			if pkg != "" {
				part.Package.Name.Text, part.Imports = pkg, nil
			}
			wanted := make(map[string]bool)
			for _, d := range f.Decls {
				if !in(d) {
					continue
				}
				for name := range mentions(d, of, info) {
					wanted[packageOf(name)] = true
				}
				part.Decls = append(part.Decls, d)
			}
			delete(wanted, pkg)
			for path := range wanted {
				part.Imports = append(part.Imports, &ast.ImportDecl{Loc: f.Package.Loc, Path: &ast.StringLit{Loc: f.Package.Loc, Value: path}})
			}
			if len(part.Decls) > 0 || pkg == "" {
				list = append(list, part)
			}
		}
		for _, part := range list {
			for _, d := range part.Decls {
				qualify(d, pkg, of, info, packageOf)
			}
		}
		outside := importer(t)
		got, ds := Check(list, Options{Path: pkg, Go: standardGo, Import: func(path string) (*Package, error) {
			if p := checked[path]; p != nil {
				return p, nil
			}
			return outside(path)
		}})
		for _, cycle := range got.Graph.Cycles { // no package but those of this test imports one with a cycle
			cycle[0].From.Owns = nil
		}
		checked[pkg] = got.Package
		infos, diags = append(infos, got), append(diags, ds...)
	}
	done := make(map[string]bool)
	var visit func(name string)
	visit = func(name string) {
		pkg := packageOf(name)
		if done[pkg] {
			return
		}
		done[pkg] = true
		for _, other := range names {
			if group[other] != group[name] {
				continue
			}
			for _, needed := range names {
				if uses[other][needed] {
					visit(needed)
				}
			}
		}
		check(pkg, func(d ast.Decl) bool {
			return slices.ContainsFunc(names, func(n string) bool { return of[n] == d && packageOf(n) == pkg })
		})
	}
	for _, name := range names {
		visit(name)
	}
	check("", func(d ast.Decl) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return of[n] == d })
	})
	return infos, diag.Sort(diags)
}

// mentions returns the names at the top level that a declaration uses.
func mentions(d ast.Decl, of map[string]ast.Decl, info *Info) map[string]bool {
	found := make(map[string]bool)
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.NamedType:
			if n.Pkg == nil && of[n.Name.Text] != nil {
				found[n.Name.Text] = true
			}
		case *ast.Ident:
			if name := topName(info.Uses[n]); name != "" && of[name] != nil {
				found[name] = true
			}
		}
		return true
	})
	return found
}

// topName is the name of the declaration at the top level that a bare name stands for.
func topName(obj Object) string {
	switch obj := obj.(type) {
	case *Class, *Enum, *Const, *GoType:
		return obj.Name()
	case *EnumValue:
		return obj.Enum.Name()
	case *Func:
		if obj.Class == nil {
			return obj.Name()
		}
	}
	return ""
}

// groups gives declarations that need each other in a circle the name of the first of them.
func groups(names []string, uses map[string]map[string]bool) map[string]string {
	reach := make(map[string]map[string]bool)
	for _, name := range names {
		seen := map[string]bool{}
		work := []string{name}
		for len(work) > 0 {
			at := work[0]
			work = work[1:]
			for next := range uses[at] {
				if !seen[next] {
					seen[next] = true
					work = append(work, next)
				}
			}
		}
		reach[name] = seen
	}
	group := make(map[string]string)
	for _, name := range names {
		i := slices.IndexFunc(names, func(other string) bool { return other == name || reach[name][other] && reach[other][name] })
		group[name] = names[i]
	}
	return group
}

// qualify writes names of other packages with the package.
func qualify(d ast.Decl, pkg string, of map[string]ast.Decl, info *Info, packageOf func(string) string) {
	rewrite(reflect.ValueOf(d), func(n any) {
		switch n := n.(type) {
		case *ast.NamedType:
			if name := n.Name.Text; n.Pkg == nil && of[name] != nil && packageOf(name) != pkg {
				n.Pkg = &ast.Name{Loc: n.Name.Loc, Text: packageOf(name)}
			}
		case *ast.Expr:
			id, ok := (*n).(*ast.Ident)
			if !ok {
				return
			}
			obj := info.Uses[id]
			name := topName(obj)
			if name == "" || of[name] == nil || packageOf(name) == pkg {
				return
			}
			*n = &ast.Field{Loc: id.Loc, X: &ast.Ident{Loc: id.Loc, Name: packageOf(name)}, Name: ast.Name{Loc: id.Loc, Text: name}}
			if _, value := obj.(*EnumValue); value {
				*n = &ast.Field{Loc: id.Loc, X: *n, Name: ast.Name{Loc: id.Loc, Text: id.Name}}
			}
		}
	})
}

// local is what differs: the names of the packages, changes to the text, which are offered in the same package only,
// and names that are similar.
var local = regexp.MustCompile(`\bq\d+\.|(?m)^\tfix: .*\n|^\thelp: did you mean .*\n`)

// wholeText is all that must be equal. With errors there are no effects, and no warnings that need them.
func wholeText(t *testing.T, infos []*Info, diags []diag.Diagnostic) string {
	var parts []string
	add := func(kind, text string) {
		for _, p := range strings.Split(text, "\n") {
			if p != "" {
				parts = append(parts, kind+" "+p)
			}
		}
	}
	for _, in := range infos {
		add("graph", section(t, "graph", in, nil))
		if diag.HasErrors(diags) {
			continue
		}
		var b strings.Builder
		if err := PrintEffects(&b, in); err != nil {
			t.Fatal(err)
		}
		add("effects", strings.ReplaceAll(b.String(), "\n\t", "; "))
		add("facts", facts1(in))
	}
	slices.Sort(parts)
	if diag.HasErrors(diags) {
		diags = slices.DeleteFunc(slices.Clone(diags), func(d diag.Diagnostic) bool { return d.Code == diag.LostWrite })
	}
	return local.ReplaceAllString(show(diags)+strings.Join(slices.Compact(parts), "\n"), "")
}

// lineDiff shows the lines that one of two texts has alone.
func lineDiff(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	var out strings.Builder
	for _, l := range a {
		if !slices.Contains(b, l) {
			out.WriteString("- " + l + "\n")
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			out.WriteString("+ " + l + "\n")
		}
	}
	return out.String()
}
