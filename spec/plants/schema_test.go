package plants

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// schema is the code with most bugs at once, all of them off, which is compiled once: planted one by one, bugs leave most of the time to compilers and linkers. A bug that
// changes bodies of functions alone is a copy of each of these, which the function calls in its place if the environment names the bug. See R. H. Untch, A. J. Offutt and
// M. J. Harrold, Mutation analysis using mutant schemata, 1993.
type schema struct {
	numbers   map[string]int    // of the bugs that it has, by their names
	texts     map[string]string // of the files, by their names in the repository
	dir       string            // of the test binaries
	overlay   string            // its path
	binaries  sync.Map          // by packages: functions that return the path of a test binary
	unplanted sync.Map          // suites that ran with all bugs off
}

// bugVariable is the variable of the environment that has the number of the bug which is on. What tests start inherits it.
const bugVariable = "AEON_PLANT"

// newSchema puts those of the bugs together that can be.
func newSchema(bugs []plant) (*schema, error) {
	s := &schema{numbers: map[string]int{}, texts: map[string]string{}}
	files := map[string]*schemaFile{}
	for i, p := range bugs {
		texts, err := p.files()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		changed := map[*schemaFile][]body{}
		for name, text := range texts {
			if files[name] == nil {
				if files[name], err = readSchemaFile(name); err != nil {
					return nil, err
				}
			}
			if changed[files[name]], err = files[name].changed(text); err != nil {
				break
			}
		}
		if errors.Is(err, errAlone) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		s.numbers[p.name] = i
		for f, list := range changed {
			f.plant(i, list)
		}
	}
	for name, f := range files {
		if len(f.bugs) > 0 {
			s.texts[name] = f.text()
		}
	}
	return s, nil
}

// schemaFile is a file of the schema.
type schemaFile struct {
	name, source string
	fset         *token.FileSet
	parsed       *ast.File               // nil: it is not in Go
	bugs         map[*ast.FuncDecl][]int // their numbers
	copies       strings.Builder         // of functions
}

// body is that of a function with a bug.
type body struct {
	of   *ast.FuncDecl // in the file
	text string
}

func readSchemaFile(name string) (*schemaFile, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil || path.Ext(name) != ".go" {
		return &schemaFile{}, err
	}
	f := &schemaFile{name: name, source: string(text), fset: token.NewFileSet(), bugs: map[*ast.FuncDecl][]int{}}
	f.parsed, err = parser.ParseFile(f.fset, name, f.source, parser.SkipObjectResolution)
	return f, err
}

// errAlone says that a bug is none for the schema.
var errAlone = errors.New("the bug changes more than bodies of functions")

// changed returns the bodies that a bug changes which makes text of the file. The error is errAlone if it changes anything else.
func (f *schemaFile) changed(text string) (list []body, err error) {
	if f.parsed == nil {
		return nil, errAlone
	}
	fset := token.NewFileSet()
	planted, err := parser.ParseFile(fset, f.name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if len(planted.Decls) != len(f.parsed.Decls) {
		return nil, errAlone
	}
	now := func(from, to token.Pos) string { return between(fset, text, from, to) }
	was := func(from, to token.Pos) string { return between(f.fset, f.source, from, to) }
	for i, d := range planted.Decls {
		old := f.parsed.Decls[i]
		if now(d.Pos(), d.End()) == was(old.Pos(), old.End()) {
			continue
		}
		from, ok := old.(*ast.FuncDecl)
		to, both := d.(*ast.FuncDecl)
		if !ok || !both || now(to.Pos(), to.Body.Lbrace) != was(from.Pos(), from.Body.Lbrace) || from.Name.Name == "init" || seesItsCaller(to.Body) {
			return nil, errAlone
		}
		list = append(list, body{from, now(to.Body.Lbrace, to.Body.End())})
	}
	if list == nil {
		return nil, errAlone // what the compiler reads of comments
	}
	return list, nil
}

// seesItsCaller reports whether a body does something else if another function stands between it and its caller.
func seesItsCaller(b *ast.BlockStmt) (sees bool) {
	ast.Inspect(b, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			sees = sees || n.Name == "recover" || n.Name == "Caller" || n.Name == "Callers"
		case *ast.FuncLit:
			return false
		}
		return !sees
	})
	return sees
}

func between(fset *token.FileSet, text string, from, to token.Pos) string {
	return text[fset.Position(from).Offset:fset.Position(to).Offset]
}

// plant adds a bug.
func (f *schemaFile) plant(bug int, list []body) {
	for _, b := range list {
		f.bugs[b.of] = append(f.bugs[b.of], bug)
		fmt.Fprintf(&f.copies, "\n%s%s%s%s\n", between(f.fset, f.source, b.of.Pos(), b.of.Name.End()), suffix(bug), between(f.fset, f.source, b.of.Name.End(), b.of.Body.Lbrace), b.text)
	}
}

// suffix ends the name of a function with a bug.
func suffix(bug int) string { return "_bug" + strconv.Itoa(bug) }

// text returns the file with its bugs. What was in it keeps its line.
func (f *schemaFile) text() string {
	variable := strings.NewReplacer("-", "_", ".", "_").Replace("bug_" + path.Base(f.name)) // no other file of the package has one of this name
	var list []replacement
	replace := func(from, to token.Pos, text string) {
		list = append(list, replacement{f.fset.Position(from).Offset, f.fset.Position(to).Offset, text})
	}
	replace(f.parsed.Name.End(), f.parsed.Name.End(), `; import bug_os "os"`) // a name that the package, its tests included, does not have
	for function, bugs := range f.bugs {
		given := 0
		// names returns names of parameters, and gives some to those that have none.
		names := func(of *ast.FieldList) (all []string) {
			if of == nil {
				return nil
			}
			for _, field := range of.List {
				if len(field.Names) == 0 {
					given++
					all = append(all, fmt.Sprintf("given_%d", given))
					replace(field.Type.Pos(), field.Type.Pos(), all[len(all)-1]+" ")
				}
				for _, name := range field.Names {
					if all = append(all, name.Name); name.Name == "_" {
						given++
						all[len(all)-1] = fmt.Sprintf("given_%d", given)
						replace(name.Pos(), name.End(), all[len(all)-1])
					}
				}
				if _, ok := field.Type.(*ast.Ellipsis); ok {
					all[len(all)-1] += "..."
				}
			}
			return all
		}
		receiver, types, arguments := "", "", strings.Join(names(function.Type.Params), ", ")
		if all := names(function.Recv); all != nil {
			receiver = all[0] + "."
		}
		if all := names(function.Type.TypeParams); all != nil {
			types = "[" + strings.Join(all, ", ") + "]"
		}
		before, behind := "return ", ""
		if function.Type.Results.NumFields() == 0 {
			before, behind = "", "; return"
		}
		var calls strings.Builder
		for _, bug := range bugs {
			fmt.Fprintf(&calls, " case \"%d\": %s%s%s%s%s(%s)%s;", bug, before, receiver, function.Name.Name, suffix(bug), types, arguments, behind)
		}
		replace(function.Body.Lbrace+1, function.Body.Lbrace+1, fmt.Sprintf(" switch %s {%s }; ", variable, &calls))
	}
	return fmt.Sprintf("%s\nvar %s = bug_os.Getenv(%q)\n%s", replaced(f.source, list), variable, bugVariable, &f.copies)
}

// replacement replaces what stands between two offsets.
type replacement struct {
	from, to int
	text     string
}

func replaced(source string, list []replacement) string {
	slices.SortFunc(list, func(a, b replacement) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for _, x := range list {
		b.WriteString(source[end:x.from] + x.text)
		end = x.to
	}
	return b.String() + source[end:]
}

// write writes the overlay into dir, where the test binaries will be.
func (s *schema) write(t *testing.T, dir string) {
	t.Helper()
	s.dir, s.overlay = dir, writeOverlay(t, dir, s.texts)
}

// tester turns the bug of that name on.
func (s *schema) tester(bug string) tester {
	return tester{
		with:    func(t *testing.T, suite string) string { return s.test(t, suite, strconv.Itoa(s.numbers[bug])) },
		without: once(&s.unplanted, func(t *testing.T, suite string) string { return s.test(t, suite, "") }),
	}
}

// testFlags are those of a test binary that go test has by shorter names, as far as suites use them.
var testFlags = []string{"-count", "-run", "-short", "-timeout"}

// test runs a suite with a bug, none if that is "", until a test fails, and returns what it has said then, "" if it passes.
func (s *schema) test(t *testing.T, suite, bug string) string {
	t.Helper()
	args := strings.Fields(suite)
	compile, _ := s.binaries.LoadOrStore(args[0], sync.OnceValues(func() (string, error) { return s.compile(args[0]) }))
	binary, err := compile.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.failfast", "-test.timeout=10m", "-test.paniconexit0")
	for _, a := range args[1:] {
		if slices.Contains(testFlags, a) {
			a = "-test." + a[1:]
		}
		cmd.Args = append(cmd.Args, a)
	}
	cmd.Dir = filepath.Join(root, args[0])
	cmd.Env = append(s.environment(), bugVariable+"="+bug)
	return said(cmd)
}

// environment has Go compile a package once, for the suites and for the programs that they build.
func (s *schema) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-tags=grpcnotrace -overlay="+s.overlay)
}

// compile compiles the tests of a package and returns the path of the binary.
func (s *schema) compile(pkg string) (string, error) {
	binary, err := filepath.Abs(filepath.Join(s.dir, strings.ReplaceAll(path.Clean(pkg), "/", "_")+".test"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", binary, pkg)
	cmd.Dir, cmd.Env = root, s.environment()
	if text := said(cmd); text != "" {
		return "", fmt.Errorf("%s does not compile with all bugs off:\n%s", pkg, text)
	}
	return binary, nil
}
