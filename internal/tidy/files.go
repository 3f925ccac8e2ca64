package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	linesAim = 500 // longer files are listed
	linesMax = 700 // longer files are violations; generated code and tests are exempt
)

// A package of the runtime that is larger has more than one purpose. Tests do not count. runtime/value is the exception: it
// has a container for each kind of collection of programs.
const (
	runtimeFilesMax = 30
	runtimeLinesMax = 5000
	runtimeLarge    = "runtime/value"
)

// size is how large a package is without its tests.
type size struct{ files, lines int }

// vagueNames are no names for a package: they say nothing of its purpose.
var vagueNames = []string{"util", "utils", "common", "helper", "helpers", "misc", "types"}

// sleepAllowed lists tests that may sleep, as "path function", each with its
// reason beside it. A test that sleeps for luck is not among them.
var sleepAllowed = []string{}

// openMarks finds the words with which work is put off; written so that this
// line is none.
var openMarks = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// file is a parsed Go file of the tree.
type file struct {
	path string // relative to the root, with slashes
	fset *token.FileSet
	ast  *ast.File
	src  []byte
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

func (f *file) at(pos token.Pos) string {
	return fmt.Sprintf("%s:%d", f.path, f.fset.Position(pos).Line)
}

func (r *Report) checkFiles(root string) error {
	undocumented := map[string]string{} // directory of a package without comment, its name
	documented := map[string]bool{}
	sizes := map[string]size{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := d.Name()
			if name != root && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		f, err := parse(root, name)
		if err != nil {
			return err
		}
		r.Files++
		r.checkFile(f)
		if dir := path.Dir(f.path); !f.test() {
			undocumented[dir] = f.ast.Name.Name
			documented[dir] = documented[dir] || hasText(f.ast.Doc)
			sizes[dir] = size{sizes[dir].files + 1, sizes[dir].lines + bytes.Count(f.src, []byte("\n"))}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("tidy: %w", err)
	}
	for dir, name := range undocumented {
		if !documented[dir] {
			r.add("package-comment", dir, "package %s has no comment", name)
		}
	}
	for dir, n := range sizes {
		if within(dir, "runtime") && dir != runtimeLarge && (n.files > runtimeFilesMax || n.lines > runtimeLinesMax) {
			r.add("package-size", dir, "has %d files and %d lines, at most %d and %d", n.files, n.lines, runtimeFilesMax, runtimeLinesMax)
		}
	}
	return nil
}

func parse(root, name string) (*file, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return nil, err
	}
	f := &file{path: filepath.ToSlash(rel), fset: token.NewFileSet(), src: src}
	f.ast, err = parser.ParseFile(f.fset, f.path, src, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

func (r *Report) checkFile(f *file) {
	if name := strings.TrimSuffix(f.ast.Name.Name, "_test"); slices.Contains(vagueNames, name) {
		r.add("package-name", f.path, "package is called %s", name)
	}
	r.checkOpenMarks(f)
	if ast.IsGenerated(f.ast) {
		return
	}
	if formatted, err := format.Source(f.src); err != nil || !bytes.Equal(formatted, f.src) {
		r.add("gofmt", f.path, "is not formatted")
	}
	if f.test() {
		r.checkTest(f)
		return
	}
	switch lines := bytes.Count(f.src, []byte("\n")); {
	case lines > linesMax:
		r.add("file-length", f.path, "has %d lines, at most %d", lines, linesMax)
	case lines > linesAim:
		r.Long = append(r.Long, fmt.Sprintf("%s: %d lines", f.path, lines))
	}
	r.checkDocumented(f)
}

func (r *Report) checkOpenMarks(f *file) {
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if word := openMarks.FindString(c.Text); word != "" {
				r.add("open-mark", f.at(c.Pos()), "%s: do it, or say what is missing where users read it", word)
			}
		}
	}
}

// checkTest looks for tests that sleep, and tests that skip themselves. In a bubble of
// testing/synctest a sleep takes no time, and is exact.
func (r *Report) checkTest(f *file) {
	for _, d := range f.ast.Decls {
		fn, _ := d.(*ast.FuncDecl)
		allowed := fn != nil && slices.Contains(sleepAllowed, f.path+" "+fn.Name.Name)
		bubbleEnd := token.NoPos
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isBubble(call) {
				bubbleEnd = max(bubbleEnd, call.End())
			}
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch x, _ := s.X.(*ast.Ident); {
			case x != nil && x.Name == "time" && s.Sel.Name == "Sleep" && !allowed && s.Pos() >= bubbleEnd:
				r.add("test-sleep", f.at(s.Pos()), "sleeps: wait for the event, or use testing/synctest")
			case s.Sel.Name == "Skip" || s.Sel.Name == "Skipf" || s.Sel.Name == "SkipNow":
				r.add("test-skip", f.at(s.Pos()), "skips: a missing tool or file fails a test")
			}
			return true
		})
	}
}

// isBubble reports whether a call is one of synctest.Test.
func isBubble(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, _ := s.X.(*ast.Ident)
	return x != nil && x.Name == "synctest" && s.Sel.Name == "Test"
}

// checkDocumented asks a comment of every exported name at top level and of
// every exported method of an exported type.
func (r *Report) checkDocumented(f *file) {
	missing := func(n *ast.Ident) {
		r.add("documented", f.at(n.Pos()), "%s has no comment", n.Name)
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && !hasText(d.Doc) && exportedReceiver(d) && !wellKnown(d) {
				missing(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					// The comment of a group describes aliases, which are
					// documented where they lead, and does not describe types.
					grouped := d.Lparen.IsValid() && !s.Assign.IsValid()
					if s.Name.IsExported() && !hasText(s.Doc) && !hasText(s.Comment) && (grouped || !hasText(d.Doc)) {
						missing(s.Name)
					}
				case *ast.ValueSpec:
					if !hasText(d.Doc) && !hasText(s.Doc) && !hasText(s.Comment) {
						for _, n := range s.Names {
							if n.IsExported() {
								missing(n)
							}
						}
					}
				}
			}
		}
	}
}

func hasText(g *ast.CommentGroup) bool { return g != nil && strings.TrimSpace(g.Text()) != "" }

// wellKnown reports whether a function is a method that every Go programmer
// knows by its name: a comment would only repeat fmt and errors.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"String", "Error", "Unwrap"}, d.Name.Name)
}

// exportedReceiver reports whether a function has no receiver or one whose type
// is exported.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
