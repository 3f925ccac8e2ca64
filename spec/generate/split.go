package generate

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/lang/format"
)

// Package is one package of a program: a folder of its name, with a file of its name, beside the file of the
// entry.
type Package struct {
	Name string
	Text string
}

// packagesMax bounds the packages that the entry imports.
const packagesMax = 3

// Split distributes the declarations of a generated program over packages, each after what it imports. The last one is
// the entry, which has main or the test. Names that other packages use become exported ones. A program that has nothing
// to distribute comes back as one package. The result means the same, but for the lines of its failures and for the
// names in what it prints.
//
// Where a declaration goes depends on its name and the seed alone, as far as imports allow: a program that is
// made smaller keeps its packages.
func Split(text string, seed uint64) []Package {
	s := &splitter{file: parsed(text), seed: seed, owner: map[string]int{}, member: map[string]int{}, shown: map[string]bool{}}
	s.declared()
	s.place()
	return s.packages()
}

// splitter distributes one program. A name stands for one thing: no member or declaration of a generated program has
// the name of another one, or of a local, but for members such as audit, which all actor classes have.
type splitter struct {
	file   *ast.File
	seed   uint64
	owner  map[string]int // the declaration of a name at the top level, also of the values of enums
	enum   map[string]string
	member map[string]int // the declaration of a field or method; any of those that have one of this name
	uses   [][]bool       // uses[i][j]: declaration i mentions j, or what does
	at     []int          // the package of a declaration
	shown  map[string]bool
}

// declared notes what is declared where, and what uses what.
func (s *splitter) declared() {
	s.enum = map[string]string{}
	for i, d := range s.file.Decls {
		for _, n := range namesOf(d) {
			s.owner[n] = i
		}
		switch d := d.(type) {
		case *ast.EnumDecl:
			for _, v := range d.Values {
				s.owner[v.Name.Text], s.enum[v.Name.Text] = i, d.Name.Text
			}
		case *ast.ClassDecl:
			for _, f := range d.Fields() {
				s.member[f.Name.Text] = i
			}
			for _, m := range d.Methods() {
				s.member[m.Name.Text] = i
			}
		}
	}
	n := len(s.file.Decls)
	s.uses = make([][]bool, n)
	for i, d := range s.file.Decls {
		s.uses[i] = make([]bool, n)
		s.mentions(d, func(m mention) {
			if j, ok := s.owner[m.text()]; ok && !m.member {
				s.uses[i][j] = true
			}
		})
	}
	for i, d := range s.file.Decls {
		if main, ok := d.(*ast.FuncDecl); ok && main.IsMain() && len(main.Params) > 0 {
			if j, ok := s.owner[main.Params[0].Type.Span().Text()]; ok {
				s.uses[j][i] = true // the class of its parameter is one of its package
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				s.uses[i][j] = s.uses[i][j] || s.uses[i][k] && s.uses[k][j]
			}
		}
	}
}

// namesOf returns the name that a declaration gives to the package, if it gives one.
func namesOf(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.ClassDecl:
		return []string{d.Name.Text}
	case *ast.EnumDecl:
		return []string{d.Name.Text}
	case *ast.ConstDecl:
		return []string{d.Name.Text}
	case *ast.FuncDecl:
		return []string{d.Name.Text}
	}
	return nil
}

// mention is a name in the text of a declaration, or what it is declared as.
type mention struct {
	span   ast.Span
	member bool // of a class, behind a dot or in its declaration
	value  bool // an expression: a value of an enum needs the enum's name in another package
}

func (m mention) text() string { return m.span.Text() }

// mentions calls f for each name in a declaration that may be one of the program's top level or of a member, in the order of
// the text.
func (s *splitter) mentions(d ast.Decl, f func(mention)) {
	name := func(n ast.Name, member bool) { f(mention{span: n.Span(), member: member}) }
	switch d := d.(type) {
	case *ast.FuncDecl:
		name(d.Name, false)
	case *ast.ConstDecl:
		name(d.Name, false)
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FieldDecl:
			name(n.Name, true)
		case *ast.MethodDecl:
			name(n.Name, true)
		case *ast.TableClause:
			for _, c := range n.Columns {
				name(c, true)
			}
		case *ast.NamedType:
			name(n.Name, false)
		case *ast.Field:
			name(n.Name, true)
		case *ast.OptionalField:
			name(n.Name, true)
		case *ast.Ident:
			_, member := s.member[n.Name]
			f(mention{span: n.Span(), member: member, value: true})
		}
		return true
	})
}

// place decides on the package of every declaration: not before those of what it uses, and those that use each other together.
func (s *splitter) place() {
	last := 1 + int(s.seed%packagesMax)
	s.at = make([]int, len(s.file.Decls))
	for i := range s.at {
		s.at[i] = -1
	}
	var visit func(i int) int
	visit = func(i int) int {
		if s.at[i] >= 0 {
			return s.at[i]
		}
		at, name, entry := 0, "", false
		for j := range s.file.Decls {
			switch together := i == j || s.uses[i][j] && s.uses[j][i]; {
			case together:
				for _, n := range append(namesOf(s.file.Decls[j]), "") {
					name = max(name, n)
				}
				d, ok := s.file.Decls[j].(*ast.FuncDecl)
				entry = entry || ok && d.IsMain()
			case s.uses[i][j]:
				at = max(at, visit(j))
			}
		}
		h := fnv.New32a()
		fmt.Fprint(h, name, s.seed)
		at = min(at+int(h.Sum32()>>8)%2, last)
		if name == "" || entry {
			at = last
		}
		for j := range s.file.Decls {
			if i == j || s.uses[i][j] && s.uses[j][i] {
				s.at[j] = at
			}
		}
		return at
	}
	for i := range s.file.Decls {
		visit(i)
	}
	taken := slices.Compact(slices.Sorted(slices.Values(s.at)))
	for i, at := range s.at { // no package is empty
		s.at[i] = slices.Index(taken, at)
	}
}

// packages writes the packages.
func (s *splitter) packages() []Package {
	last := slices.Max(s.at)
	for i, d := range s.file.Decls {
		s.mentions(d, func(m mention) {
			owner, known := s.owner[m.text()]
			if m.member {
				owner, known = s.member[m.text()]
			}
			if known && s.at[owner] != s.at[i] {
				s.shown[m.text()] = true
			}
		})
	}
	if last > 0 {
		s.shown["audit"] = s.shown["audit"] || slices.ContainsFunc(s.file.Decls, func(d ast.Decl) bool { _, ok := d.(*ast.ClassDecl); return ok })
	}
	out := make([]Package, last+1)
	bodies := make([]strings.Builder, last+1)
	imports := make([][]bool, last+1)
	for i, d := range s.file.Decls {
		at := s.at[i]
		if imports[at] == nil {
			imports[at] = make([]bool, last+1)
		}
		var edits []diag.Edit
		s.mentions(d, func(m mention) { edits = append(edits, s.edit(m, at, imports[at])...) })
		bodies[at].WriteString("\n" + applied(d.Span(), edits) + "\n")
	}
	for at := range out {
		p := Package{Name: fmt.Sprintf("pk%d", at)}
		from := ".."
		if at == last {
			p.Name, from = s.file.Package.Name.Text, "."
		}
		text := "package " + p.Name + "\n\n"
		for i, used := range imports[at] {
			if used {
				text += fmt.Sprintf("import %s\"%s/pk%d\"\n", s.alias(i), from, i)
			}
		}
		canonical, diags, err := format.Source(ast.NewSource(p.Name+".aeon", text+bodies[at].String()))
		assert.That(err == nil && canonical != "", "splitting: %v %v\n%s", err, diags, text+bodies[at].String())
		p.Text = canonical
		out[at] = p
	}
	return out
}

// edit returns what becomes of a name in package at.
func (s *splitter) edit(m mention, at int, imports []bool) []diag.Edit {
	name := m.text()
	owner, top := s.owner[name]
	if m.member {
		top = false
	}
	text := s.exported(name)
	if top && s.at[owner] != at {
		imports[s.at[owner]] = true
		prefix := s.qualifier(s.at[owner])
		if enum := s.enum[name]; enum != "" {
			prefix += enum + "."
		}
		text = prefix + text
	}
	if _, member := s.member[name]; text == name || !top && !member {
		return nil
	}
	return []diag.Edit{diag.Replace(m.span, text)}
}

// exported returns the name by which the program knows something now.
func (s *splitter) exported(name string) string {
	if s.shown[name] {
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}

// alias returns the name under which package i is imported, with a space behind it, "" if it is that of the package.
func (s *splitter) alias(i int) string {
	if (s.seed>>8+uint64(i))%3 == 0 {
		return fmt.Sprintf("the%d ", i)
	}
	return ""
}

func (s *splitter) qualifier(i int) string {
	if alias := strings.TrimSpace(s.alias(i)); alias != "" {
		return alias + "."
	}
	return fmt.Sprintf("pk%d.", i)
}

// applied returns the text of a span with edits within it.
func applied(span ast.Span, edits []diag.Edit) string {
	out, err := diag.Apply(span.Src, edits)
	assert.That(err == nil, "splitting: %v", err)
	return out[span.Start : len(out)-(len(span.Src.Text)-int(span.End))]
}

// Parse returns the syntax tree of a package that Split has made.
func (p Package) Parse() (*ast.File, []diag.Diagnostic) {
	return lang.Parse(p.Name+".aeon", []byte(p.Text))
}
