package codegen

import (
	"cmp"
	"path"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// The API of a package is what programmers in Go use of it: its classes, methods and values in types of plain Go.
// It stands in a file of its own, which fills the argument structs of the program, and calls package godoor.
// docs/rfc/embedding.md says why so.

// The packages that the file of the API imports if it uses them.
var apiImports = []struct{ name, path string }{
	{"context", "context"},
	{"time", "time"},
	{"", ""}, // a blank line
	{"aeon", "github.com/aeon-lang/aeon"},
	{"aeonrt", runtimePath},
	{"aeonval", valuePath},
	{"godoor", runtimePath + "/door/godoor"},
	{"pebbledb", runtimePath + "/store/pebbledb"},
}

// apiFile generates the API.
func (p *pkg) apiFile() (File, error) {
	w := p.writer()
	p.apiDB(w)
	for _, c := range p.info.Package.Classes {
		switch c.Kind {
		case ast.ActorClass:
			p.apiActor(w, c)
		case ast.ClientClass:
			p.apiClient(w, c)
		case ast.ValueClass:
			p.apiValue(w, c)
		}
	}
	for _, e := range p.info.Package.Enums {
		p.apiEnum(w, e)
	}
	const name = "aeon_api.go"
	body := w.buf.String()
	head := header + "\npackage " + GoPackageName(p.info.Package.Name) + "\n\n"
	used, err := usedPackages(name, head+body)
	if err != nil {
		return File{}, err
	}
	list := ""
	for _, im := range apiImports {
		switch {
		case im.name == "":
			list += "\n"
		case used[im.name] && path.Base(im.path) == im.name:
			list += quote(im.path) + "\n"
		case used[im.name]:
			list += im.name + " " + quote(im.path) + "\n"
		}
	}
	for _, im := range p.imported {
		if used[im.alias] {
			list += im.alias + " " + quote(im.path) + "\n"
		}
	}
	text, err := formatted([]byte(head + "import (\n" + list + ")\n\n" + body))
	return File{name, text}, err
}

// apiDB emits how the program is opened.
func (p *pkg) apiDB(w *writer) {
	name, disk := p.info.Package.Name, "pebbledb.Open"
	if p.opts.MemoryOnly {
		disk = "nil"
	}
	w.add("// DB is the program %s, opened. Any goroutine may use it.", name)
	w.add("type DB struct{ *aeon.DB }")
	w.add("")
	w.add("// Open opens the program with all that is stored of it: aeon.Dir or aeon.InMemory say where. Its main does not run.")
	w.add("// The caller closes it. ctx can prevent the opening, not cut it off.")
	w.add("func Open(ctx context.Context, opts ...aeon.Option) (*DB, error) {")
	w.add("db, err := godoor.Open(ctx, &AeonPackage, %s, opts)", disk)
	w.add("if err != nil {\nreturn nil, err\n}")
	w.add("return &DB{db}, nil")
	w.add("}")
	w.add("")
}

// apiActor emits the handle of a class, how one is found, and its methods.
func (p *pkg) apiActor(w *writer, c *typecheck.Class) {
	handle, class := p.gen(c, "handle"), p.gen(c, "class")
	if doc := c.Decl.Doc.Text(); doc != "" {
		w.doc(doc)
	} else {
		w.add("// %s is an actor.", handle)
	}
	w.add("type %s struct{ aeon.Handle }", handle)
	w.add("")
	finders := apiFinders(c)
	if nameable(c) {
		w.add("// %s returns the actor of class %s with this name. Its first call creates it.", finders[0], c.Name())
		w.add("func (db *DB) %s(name string) %s { return %[2]s{godoor.Named(db.DB, &%s, name)} }", finders[0], handle, class)
		w.add("")
	}
	if c.Ctor != nil {
		p.apiNew(w, c)
	}
	find := finders[len(finders)-1]
	w.add("// %s returns the actor of class %s of which String has returned text.", find, c.Name())
	w.add("func (db *DB) %s(text string) (%s, error) {", find, handle)
	w.add("h, err := godoor.Find(db.DB, &%s, text)", class)
	w.add("return %s{h}, err", handle)
	w.add("}")
	w.add("")
	for _, m := range c.Offered() {
		p.apiMethod(w, c, m)
	}
}

// apiNew emits how an actor without a name is made.
func (p *pkg) apiNew(w *writer, c *typecheck.Class) {
	handle := p.gen(c, "handle")
	name := apiName("New"+handle, apiOwnDB)
	if p.leftOut(w, name, c.Ctor) {
		return
	}
	params, args, checks := p.apiArgs(c.Ctor, "db.DB")
	w.add("// %s makes an actor of class %s without a name. ctx can prevent that, not undo it.", name, c.Name())
	w.add("func (db *DB) %s(ctx context.Context%s) (%s, error) {", name, params, handle)
	p.apiFill(w, args, checks, handle+"{}, ")
	w.add("h, err := godoor.New(ctx, db.DB, &%s, &%s, args)", p.gen(c, "class"), p.gen(c.Ctor, "method"))
	w.add("return %s{h}, err", handle)
	w.add("}")
	w.add("")
}

// apiMethod emits the call of a method.
func (p *pkg) apiMethod(w *writer, c *typecheck.Class, m *typecheck.Func) {
	name := p.gen(m, "api")
	if p.leftOut(w, name, m) {
		return
	}
	w.doc(apiDoc(m, name, name+" calls "+m.Name()+"."))
	params, args, checks := p.apiArgs(m, "godoor.Of(a.Handle)")
	call := "(ctx, &a.Handle, &" + p.gen(m, "method") + ", args, opts"
	w.add("func (a %s) %s(ctx context.Context%s, opts ...aeon.CallOption) %s {", p.gen(c, "handle"), name, params, p.apiResult(m))
	if isVoid(m.Result) {
		p.apiFill(w, args, checks, "")
		w.add("return godoor.Call%s)", call)
	} else {
		p.apiFill(w, args, checks, "ret, ")
		ret, db := p.toPlain(m.Result, "args.ret"), ""
		if strings.Contains(ret, "db, ") {
			db = "db := godoor.Of(a.Handle)\n"
		}
		if hasContainer(m.Result) {
			w.add("err = godoor.Fetch%s, func() {\n%sret = %s\n})", call, db, ret)
			w.add("return ret, err")
		} else {
			w.add("if err = godoor.Call%s); err != nil {\nreturn ret, err\n}", call)
			w.add("%sreturn %s, nil", db, ret)
		}
	}
	w.add("}")
	w.add("")
}

// apiDoc returns the comment of a method, which Go knows by name, or without one what is said instead.
func apiDoc(m *typecheck.Func, name, instead string) string {
	doc := m.Decl.(*ast.MethodDecl).Doc.Text()
	if rest, ok := strings.CutPrefix(doc, m.Name()+" "); ok {
		return name + " " + rest // as Go has it
	}
	return cmp.Or(doc, instead)
}

func (p *pkg) apiResult(m *typecheck.Func) string {
	if isVoid(m.Result) {
		return "error"
	}
	return "(ret " + p.plainType(m.Result) + ", err error)"
}

// apiArgs returns the parameters of a method in plain Go, and the literal of its argument struct; checks is the program that
// arguments must belong to, if they can be wrong.
func (p *pkg) apiArgs(m *typecheck.Func, db string) (params, args, checks string) {
	s := p.apiParams()
	fields, list := paramFields(m), make([]string, len(m.Params))
	for i, v := range m.Params {
		name := s.take(v.Name())
		params += ", " + name + " " + p.plainType(v.Type())
		list[i] = fields[i] + ": " + p.fromPlain(v.Type(), name)
		if refusable(v.Type()) {
			checks = db
		}
	}
	return params, "&" + p.gen(m, "args") + "{" + strings.Join(list, ", ") + "}", checks
}

// apiParams names parameters.
func (p *pkg) apiParams() *scope {
	local := set("a db ctx opts in args ret err h x time aeonrt aeonval")
	return newScope(func(name string) bool {
		return goKeywords[name] || predeclared[name] || local[name] || apiPackages[name] || p.names.top.taken[name]
	})
}

// apiFill emits how arguments are converted; results are those before the error.
func (p *pkg) apiFill(w *writer, args, checks, results string) {
	if checks == "" {
		w.add("args := %s", args)
		return
	}
	w.add("in := godoor.Into(%s)", checks)
	w.add("args := %s", args)
	w.add("if err := in.Err(); err != nil {\nreturn %serr\n}", results)
}

// leftOut reports whether a method is left out, and then says why: Go code has none of the types that only clients of the program have.
func (p *pkg) leftOut(w *writer, name string, m *typecheck.Func) bool {
	out := !isVoid(m.Result) && !plain(m.Result)
	for _, v := range m.Params {
		out = out || !plain(v.Type())
	}
	if out {
		w.add("// %s is left out: it takes or returns what only clients in the program have.", name)
		w.add("")
	}
	return out
}
