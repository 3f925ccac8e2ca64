package codegen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	aeon "github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// file generates the Go file for one source file.
func (p *pkg) file(src *aeon.File) (File, error) {
	w := p.writer()
	for _, d := range src.Decls {
		p.decl(w, d)
	}
	return p.assemble(fileName(src.Src, p.files), src.Package.Doc.Text(), w)
}

func (p *pkg) writer() *writer { return &writer{name: p.opts.SourceName} }

// decl emits a top-level declaration. Every kind of declaration has its line here.
func (p *pkg) decl(w *writer, d aeon.Decl) {
	switch d := d.(type) {
	case *aeon.ClassDecl:
		c := p.info.Defs[d].(*typecheck.Class)
		switch d.Kind {
		case aeon.ActorClass:
			p.actorClass(w, c)
		case aeon.ClientClass:
			p.clientClass(w, c)
		default:
			p.valueClass(w, c)
		}
	case *aeon.EnumDecl:
		p.enum(w, p.info.Defs[d].(*typecheck.Enum))
	case *aeon.ConstDecl:
		p.constDecl(w, p.info.Defs[d].(*typecheck.Const))
	case *aeon.FuncDecl:
		p.function(w, p.info.Defs[d].(*typecheck.Func), d)
	case *aeon.TestDecl:
		p.test(w, p.info.Defs[d].(*typecheck.Func))
	case *aeon.ExternGoDecl: // externgo.go
	case *aeon.BadDecl:
		panic("codegen: asked to compile a package with errors")
	default:
		panic("codegen: no emitter for this declaration")
	}
}

// assemble puts the head of a file, with the package comment if it has one, before
// its declarations.
func (p *pkg) assemble(name, comment string, w *writer) (File, error) {
	top := p.writer()
	top.doc1(comment)
	head := header + "\n" + top.buf.String() + "package " + GoPackageName(p.info.Package.Name) + "\n\n"
	body := w.buf.String()
	imports, err := p.imports(name, head+body)
	if err != nil {
		return File{}, err
	}
	return p.finish(name, []byte(head+imports+body))
}

// imports returns the import declaration for a file, whose text begins with its head.
func (p *pkg) imports(name, text string) (string, error) {
	if p.mapped { // the text is not for readers, so it need not be found out what is used
		list, uses := "", ""
		for _, im := range p.imported {
			list += im.alias + " " + quote(im.path) + "\n"
			uses += "var _ = &" + im.alias + ".AeonPackage\n"
		}
		return "import (\n\"time\"\n\naeonrt \"" + runtimePath + "\"\naeonval \"" + valuePath + "\"\n" + list + ")\n\nvar _ time.Duration\nvar _ aeonrt.Mode\nvar _ aeonval.Bytes\n" + uses + "\n", nil
	}
	used, err := usedPackages(name, text)
	if err != nil {
		return "", err
	}
	list := ""
	if used["time"] {
		list += "\t\"time\"\n\n"
	}
	if used["aeonrt"] {
		list += "\taeonrt \"" + runtimePath + "\"\n"
	}
	if used["aeonval"] {
		list += "\taeonval \"" + valuePath + "\"\n"
	}
	for i, im := range p.imported {
		if i == 0 {
			list += "\n"
		}
		if used[im.alias] {
			list += "\t" + im.alias + " " + quote(im.path) + "\n"
		}
	}
	if strings.TrimSpace(list) == "" {
		return "", nil
	}
	return "import (\n" + list + ")\n\n", nil
}

// usedPackages returns the names in front of selectors in the text of a file; the packages that it uses are among them.
func usedPackages(name, text string) (map[string]bool, error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("codegen: generated Go does not parse: %w\n%s", err, numbered([]byte(text)))
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	return used, nil
}

func (p *pkg) constDecl(w *writer, c *typecheck.Const) {
	w.doc1(c.Decl.Doc.Text())
	t := ""
	if c.Type() != typecheck.UntypedInt && c.Type() != typecheck.UntypedFloat {
		t = " " + p.goType(c.Type())
	}
	if e, ok := c.Type().(*typecheck.Enum); ok {
		i, _ := intConst(c.Value)
		w.add("const %s = %s", p.names.obj[c], p.names.obj[e.Values[i]])
		return
	}
	text := p.literal(c.Type(), c.Value)
	if strings.HasPrefix(text, "aeonrt.") {
		t = "" // the value says it
	}
	w.add("const %s%s = %s", p.names.obj[c], t, text)
	w.add("")
}

// doc1 writes a doc comment if there is one.
func (w *writer) doc1(text string) {
	if text != "" {
		w.doc(text)
	}
}

// function emits a free function: once for all contexts if it only computes, else once per context
// that runs it.
func (p *pkg) function(w *writer, f *typecheck.Func, d *aeon.FuncDecl) {
	if f.Go != nil { // externgo.go
		return
	}
	w.doc1(d.Doc.Text())
	if f == p.info.Package.Main {
		e := p.newFn(f, byClient, w)
		e.body("func aeonMain("+e.params(true)+")", nil, f.Body, f.Result, "")
		return
	}
	p.versions(f, func(by runner, client bool) {
		name := p.names.obj[f]
		if client {
			name = p.gen(f, "client")
			w.add("// %s is %s as clients run it.", name, p.names.obj[f])
		}
		e := p.newFn(f, by, w)
		e.body("func "+name+"("+e.params(p.plan[f].context)+")"+p.resultType(f.Result), nil, f.Body, f.Result, "")
	})
}

// versions calls emit for every version of a function that is needed; client is set for a second one.
func (p *pkg) versions(f *typecheck.Func, emit func(by runner, client bool)) {
	pl := p.plan[f]
	switch {
	case pl.runners == byClient:
		emit(byClient, false)
	case pl.context && pl.runners&byClient != 0:
		emit(byActor, false)
		emit(byClient, true)
	default:
		emit(byActor, false)
	}
}

func (p *pkg) test(w *writer, f *typecheck.Func) {
	e := p.newFn(f, byClient, w)
	w.add("// %s is the test %s.", p.gen(f, "test"), quote(f.Name()))
	e.body("func "+p.gen(f, "test")+"(cl *aeonrt.Client)", nil, f.Body, typecheck.Void, "")
}
