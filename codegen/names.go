package codegen

import (
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var goKeywords = set(`break case chan const continue default defer else fallthrough for func go goto if
	import interface map package range return select struct switch type var`)

var predeclared = set(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32
	int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex
	copy delete imag len make max min new panic print println real recover`)

// ours are the names that generated code uses for itself in any scope.
var ours = set(`aeonrt aeonval strconv time init main _ self cx cl ret ok v x y e d f n m r a k ref other visit err args mark walk nesting AeonPackage AeonEntry aeonMain failed exit result`)

// oursLocal are those of them that stand in the bodies of functions of the program.
var oursLocal = set(`aeonrt aeonval time self cx cl ok failed init main _ AeonPackage AeonEntry aeonMain`)

// oursStub are those that stand in stubs, beside the parameters of the method.
var oursStub = set(`aeonrt aeonval self cx cl ok args ret err r ref _`)

// refMethods are the methods that a typed reference has from the runtime or from us, by the
// names that stubs must not take.
var refMethods = set(`IsNull ID EachRef CompareKey Compare String Handle Ref ClientRef`)

// structNames are the fields and methods that the structs of classes have from the runtime or from us.
var structNames = set(`Self Ref ActorSelf ClientObject ClientObj construct this Share MarkShared EachRef EachElem Equal Str EachRefWithin EqualWithin StrWithin Encode Decode
	SaveField LoadFields StoredRows`)

func reserved(name string) bool {
	return goKeywords[name] || predeclared[name] || ours[name] || isTemporary(name)
}

// isTemporary reports whether name has the form of our temporaries: tmp1, tmp2, …
func isTemporary(name string) bool {
	digits, ok := strings.CutPrefix(name, "tmp")
	return ok && strings.Trim(digits, "0123456789") == ""
}

// scope hands out names that are unique within it. It never hands out a reserved name, so that no
// identifier of a program can change the meaning of ours.
type scope struct {
	taken  map[string]bool
	refuse func(string) bool
}

func newScope(refuse func(string) bool) *scope {
	return &scope{taken: map[string]bool{}, refuse: refuse}
}

// take returns want, or want with as many underscores as it needs to be free.
func (s *scope) take(want string) string {
	for s.taken[want] || s.refuse(want) {
		want += "_"
	}
	s.taken[want] = true
	return want
}

// names holds the Go names of everything declared at package level.
type names struct {
	top *scope
	obj map[any]string       // of typecheck objects: classes, enums and their values, constants, functions
	gen map[generated]string // of what we add to an object
	// topLevel has those of gen that stand at package level.
	topLevel map[generated]bool
	surface  map[typecheck.Type]bool
	// members has, per class, the fields and methods of its Go struct and of its reference type.
	members map[*typecheck.Class]*scope
	stubs   map[*typecheck.Class]*scope
	// goPackages has the names of the Go packages that the package binds functions of, by their paths.
	goPackages map[string]string
}

// generated is something that we declare for an object of the program.
type generated struct {
	of   any
	kind string
}

// nameAll names the declarations of a package: first those of the program, so that they keep their
// names where they can, then ours.
func nameAll(p *pkg) *names {
	refuse := reserved
	if p.opts.API {
		refuse = func(name string) bool { return reserved(name) || apiPackages[name] }
	}
	n := &names{top: newScope(refuse), obj: map[any]string{}, gen: map[generated]string{}, topLevel: map[generated]bool{}, surface: p.surface,
		members: map[*typecheck.Class]*scope{}, stubs: map[*typecheck.Class]*scope{}, goPackages: map[string]string{}}
	pk := p.info.Package
	if p.opts.API {
		n.api(pk)
	}
	for _, c := range pk.Classes {
		n.obj[c] = n.top.take(c.Name())
	}
	for _, e := range pk.Enums {
		if !p.opts.API {
			n.obj[e] = n.top.take(e.Name())
		}
	}
	for _, fn := range pk.Funcs {
		if fn != pk.Main {
			n.obj[fn] = n.top.take(fn.Name())
		}
	}
	for _, c := range pk.Consts {
		n.obj[c] = n.top.take(c.Name())
	}
	n.nameExterns(pk)
	for _, e := range pk.Enums {
		for _, v := range e.Values {
			if !p.opts.API {
				n.obj[v] = n.top.take(n.obj[e] + v.Name())
			}
		}
		n.add(e, "names", lowerFirst(n.obj[e])+"Names")
		n.addAlias(e, "type", n.obj[e])
	}
	for _, fn := range pk.Funcs {
		n.add(fn, "client", n.obj[fn]+"Client")
	}
	for i, t := range pk.Tests {
		n.add(t, "test", "aeonTest"+itoa(i+1))
	}
	for _, c := range pk.Classes {
		n.class(c)
	}
	return n
}

// add names something generated for an object at package level.
func (n *names) add(of any, kind, want string) {
	g := generated{of, kind}
	n.gen[g], n.topLevel[g] = n.top.take(want), true
}

// addAlias names the alias of a type on the surface whose own name is not exported.
func (n *names) addAlias(of typecheck.Type, kind, name string) {
	if n.surface[of] && !exported(name) {
		n.add(of, kind, "Aeon"+upperFirst(name))
	}
}

// handle returns the name for something of ours that other packages use if public is set.
func handle(public bool, what, name string) string {
	if public {
		return "Aeon" + upperFirst(what) + upperFirst(name)
	}
	return what + upperFirst(name)
}

func (n *names) class(c *typecheck.Class) {
	name := n.obj[c]
	s := newScope(func(w string) bool { return structNames[w] || goKeywords[w] || w == "_" })
	n.members[c] = s
	for _, f := range c.Fields {
		n.obj[f] = s.take(f.Name())
	}
	for _, m := range c.Methods {
		n.obj[m] = s.take(m.Name())
	}
	for _, m := range c.Methods {
		n.gen[generated{m, "client"}] = s.take(n.obj[m] + "Client")
		if m.Mutating && typecheck.IsValueClass(c) {
			n.gen[generated{m, "logged"}] = s.take(n.obj[m] + "Logged")
			n.gen[generated{m, "loggedOwned"}] = s.take(n.obj[m] + "Owned")
		}
	}
	switch {
	case typecheck.IsValueClass(c):
		for _, kind := range []string{"put", "get", "new", "copy"} {
			n.add(c, kind, handle(n.surface[c], kind, name))
		}
		n.add(c, "newClient", handle(n.surface[c], "new", name)+"Client")
		n.addAlias(c, "type", name)
		for _, f := range c.Fields {
			if n.surface[c] && !exported(n.obj[f]) && owning(f) {
				n.add(f, "get", "AeonGet"+upperFirst(name)+upperFirst(f.Name()))
			}
		}
	case typecheck.IsActor(c):
		n.actor(c, s)
	default:
		n.client(c)
	}
}

func (n *names) actor(c *typecheck.Class, s *scope) {
	name := n.obj[c]
	n.add(c, "ref", name+"Ref")
	n.addAlias(c, "refType", name+"Ref")
	n.add(c, "class", handle(n.surface[c], "class", name))
	n.add(c, "create", handle(n.surface[c], "create", name))
	n.add(c, "new", "New"+upperFirst(name))
	if c.Snapshot != nil {
		n.add(c, "snapshot", "snapshot"+upperFirst(name))
	}
	for _, f := range c.Fields {
		n.add(f, "index", "field"+upperFirst(name)+upperFirst(f.Name()))
		if containerKind(f.Type()) != "" {
			n.add(f, "rows", "rows"+upperFirst(name)+upperFirst(f.Name()))
		}
		if _, ok := f.Type().(*typecheck.Table); ok {
			n.add(f, "table", "table"+upperFirst(name)+upperFirst(f.Name()))
		}
		n.gen[generated{f, "set"}] = s.take("set" + upperFirst(f.Name()))
	}
	stubs := newScope(func(w string) bool { return refMethods[w] || goKeywords[w] || w == "_" })
	n.stubs[c] = stubs
	for _, m := range append(c.Methods[:len(c.Methods):len(c.Methods)], c.Ctor) {
		if m == nil {
			continue
		}
		title := upperFirst(m.Name())
		if m.Kind == typecheck.Constructor {
			title = "New"
		} else {
			n.gen[generated{m, "await"}] = stubs.take(title)
			n.gen[generated{m, "event"}] = stubs.take(title + "Event")
			call := "call" + title
			if m.Public() {
				call = "Call" + title
			}
			n.gen[generated{m, "call"}] = stubs.take(call)
		}
		n.descriptor(c, m, title)
	}
	for _, g := range c.GoCalls {
		title := upperFirst(name) + "Go" + g.Func.Name()
		if g.Then != nil {
			title += "Then" + upperFirst(g.Then.Name())
		}
		n.add(g.Call, "args", lowerFirst(title)+"Args")
		n.add(g.Call, "method", "method"+title)
	}
}

// descriptor names what describes a method of an actor or client class to the runtime.
func (n *names) descriptor(c *typecheck.Class, m *typecheck.Func, title string) {
	name := n.obj[c]
	if n.surface[c] && m.Public() && m.Kind == typecheck.Method {
		n.add(m, "args", "AeonArgs"+upperFirst(name)+title)
		n.add(m, "method", "AeonMethod"+upperFirst(name)+title)
		return
	}
	n.add(m, "args", lowerFirst(name)+title+"Args")
	n.add(m, "method", "method"+upperFirst(name)+title)
}

func (n *names) client(c *typecheck.Class) {
	name := n.obj[c]
	n.add(c, "ref", name+"Ref")
	n.addAlias(c, "refType", name+"Ref")
	n.add(c, "class", "class"+upperFirst(name))
	n.add(c, "new", handle(n.surface[c], "new", name))
	for _, m := range c.Methods {
		n.descriptor(c, m, upperFirst(m.Name()))
	}
}

// paramFields returns the names of a function's parameters as fields of its argument struct, which other packages
// fill if they can call the function.
func paramFields(fn *typecheck.Func) []string {
	s := newScope(func(w string) bool {
		return structNames[w] || goKeywords[w] || w == "_" || w == "ret" || w == "EncodeResult" || w == "DecodeResult" || w == "AeonResult" || w == "AeonTake" ||
			w == "AeonFailed" || w == "AeonCall" || w == "AeonThen"
	})
	var list []string
	for _, p := range fn.Params {
		name := p.Name()
		if fn.Public() && fn.Kind == typecheck.Method {
			if name = upperFirst(name); !exported(name) {
				name = "X" + name
			}
		}
		list = append(list, s.take(name))
	}
	return list
}

func upperFirst(s string) string {
	if s != "" && 'a' <= s[0] && s[0] <= 'z' {
		return string(s[0]-'a'+'A') + s[1:]
	}
	return s
}

func lowerFirst(s string) string {
	if s != "" && 'A' <= s[0] && s[0] <= 'Z' {
		return string(s[0]-'A'+'a') + s[1:]
	}
	return s
}
