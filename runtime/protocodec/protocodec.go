// Package protocodec writes messages of package codec as messages of protobuf, and reads these into such messages, by the
// types of the program, as package jsoncodec does for JSON. It makes the description of the messages, too: as a file for
// protoc, and as the descriptor that reflection gives. docs/rfc/doors.md says which field has which number, and why so.
package protocodec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Program is what of a program is described.
type Program struct {
	Classes []Class // actor classes, whose methods are called
	Clients []Class // client classes, whose methods are callbacks
}

// Class is an actor class or a client class. One that is hidden is not described, and leaves the names and numbers of the
// others as they are beside it.
type Class struct {
	Package, Name, Doc string
	Methods            []Method
	Hidden             bool
}

// Method is a method of a class.
type Method struct {
	Name, Doc string
	Signature string   // as the schema of a store has it
	Params    []string // their names
	Hidden    bool     // as Class.Hidden; not of client classes
}

// Schema is the services and messages of a program. Any goroutine may use it.
type Schema struct {
	Files    []*File // one for each package, those that a file imports before it
	Services map[string]*Service
	Clients  map[string]*Clients // by package, of those that have client classes
}

// File is what protobuf has of a package.
type File struct {
	Package  string
	imports  []string // of files
	services []*Service
	messages []*Message
	enums    []*Enum
	taken    map[string]bool
}

// Service is an actor class.
type Service struct {
	Name, doc string
	Methods   []*RPC
}

// RPC is a method.
type RPC struct {
	Name, doc string
	request   *Message
	answer    *Message
	stream    bool // of answers
}

// Message is a message: the request or the answer of a method, a value class, or what holds a container where protobuf has
// no place for one.
type Message struct {
	name    string
	full    string // with package and messages around it
	doc     string
	class   string // of a value class, for users
	fields  []*Field
	choice  string   // the name of the oneof; "": the message has none
	choices []*Field // which of its fields that has: the last ones
	nested  []*Message
	number  map[string]int // of a value class: which of fields has a name in aeon
	byNum   map[uint64]int
	entry   bool // of a map
}

// Field is a field of a message.
type Field struct {
	name   string // in protobuf
	aeon   string // in the program
	number uint64
	is     *Type
}

// Enum is an enum. Its constant 0 stands for none.
type Enum struct {
	name, full string
	none       string
	values     []string // in protobuf
	aeon       []string
}

// holder is the kind of a message that holds a container or an optional value, where protobuf wants one value.
const holder = typetext.Client + 1

// Type is the type of a field.
type Type struct {
	kind     typetext.Kind
	of       *typetext.Type
	min      int64  // of signed
	max      uint64 // of signed and unsigned
	elem     *Type  // of containers and optional types
	key      *Type  // of maps
	entry    *Message
	nullable bool // a reference that may be null: it is encoded as one that may not
	enum     *Enum
	message  *Message // of class and holder
}

const (
	keyName, keyNumber       = "key", 1 // of the actor, in a request
	paramsFrom               = 2        // the number of the first parameter
	resultName, resultNumber = "result", 1

	requestSuffix, answerSuffix = "Request", "Response" // of the names of messages
)

// compiler makes a schema.
type compiler struct {
	*Schema
	defs   map[string]*typetext.Type // of enums and value classes
	files  map[string]*File
	enums  map[string]*Enum
	values map[string]*Message
}

// Compile makes the schema of a program.
func Compile(p Program) (*Schema, error) {
	c := &compiler{
		Schema: &Schema{Services: make(map[string]*Service), Clients: make(map[string]*Clients)}, defs: make(map[string]*typetext.Type),
		files: make(map[string]*File), enums: make(map[string]*Enum), values: make(map[string]*Message),
	}
	signatures := make(map[*Method]typetext.Signature)
	for _, of := range slices.Concat(p.Classes, p.Clients) {
		c.file(of.Package).taken[of.Name] = true
		for i := range of.Methods {
			m := &of.Methods[i]
			s, err := typetext.ParseSignature(m.Signature)
			if err != nil {
				return nil, err
			}
			if len(s.Params) != len(m.Params) {
				return nil, fmt.Errorf("%d names of %d parameters", len(m.Params), len(s.Params))
			}
			signatures[m] = s
			for name, d := range s.Definitions() { // they have their names before any message is made up
				if c.defs[name] == nil {
					c.defs[name] = d
					pkg, short := split(name)
					c.file(pkg).taken[short] = true
				}
			}
		}
	}
	for _, of := range p.Classes {
		if err := c.service(of, signatures); err != nil {
			return nil, err
		}
	}
	for _, f := range slices.Clone(c.Files) {
		var of []Class
		shown := false
		for _, class := range p.Clients {
			if class.Package == f.Package {
				of, shown = append(of, class), shown || !class.Hidden
			}
		}
		if shown {
			if err := c.clients(f.Package, of, signatures); err != nil {
				return nil, err
			}
		}
	}
	c.sort()
	return c.Schema, nil
}

// file returns the file of a package.
func (c *compiler) file(pkg string) *File {
	f := c.files[pkg]
	if f == nil {
		f = &File{Package: pkg, taken: make(map[string]bool)}
		c.files[pkg], c.Files = f, append(c.Files, f)
	}
	return f
}

// Name returns the name of the file.
func (f *File) Name() string { return f.Package + ".proto" }

// take returns a name that the file has not.
func (f *File) take(name string) string {
	for f.taken[name] {
		name += "_"
	}
	f.taken[name] = true
	return name
}

// uses notes that f refers to what another file has.
func (f *File) uses(name string) {
	if name == f.Name() {
		return
	}
	for _, i := range f.imports {
		if i == name {
			return
		}
	}
	f.imports = append(f.imports, name)
}

// sort puts files behind those that they import. Packages do not import each other in a circle.
func (c *compiler) sort() {
	var sorted []*File
	done := make(map[*File]bool)
	var visit func(f *File)
	visit = func(f *File) {
		if f == nil || done[f] {
			return
		}
		done[f] = true
		for _, i := range f.imports {
			visit(c.files[strings.TrimSuffix(i, ".proto")])
		}
		sorted = append(sorted, f)
	}
	for _, f := range c.Files {
		visit(f)
	}
	c.Files = slices.DeleteFunc(sorted, func(f *File) bool { // all that the package has is hidden
		return len(f.services)+len(f.messages)+len(f.enums) == 0
	})
}

func (c *compiler) service(of Class, signatures map[*Method]typetext.Signature) error {
	f := c.file(of.Package)
	s := &Service{Name: of.Package + "." + of.Name, doc: of.Doc}
	if !of.Hidden {
		f.services, c.Services[s.Name] = append(f.services, s), s
	}
	for i := range of.Methods {
		m := &of.Methods[i]
		rpc := &RPC{Name: m.Name, doc: m.Doc}
		base := of.Name + upperFirst(m.Name)
		if of.Hidden || m.Hidden {
			f.take(base + requestSuffix)
			f.take(base + answerSuffix)
			continue
		}
		if err := c.rpc(rpc, f, base, m.Params, signatures[m]); err != nil {
			return fmt.Errorf("method %s.%s: %w", of.Name, m.Name, err)
		}
		s.Methods = append(s.Methods, rpc)
	}
	return nil
}

func (c *compiler) rpc(rpc *RPC, f *File, base string, names []string, s typetext.Signature) error {
	rpc.request, rpc.answer = f.add(f.take(base+requestSuffix)), f.add(f.take(base+answerSuffix))
	in := &scope{c: c, file: f, of: rpc.request, taken: make(map[string]bool)}
	if err := in.field(keyName, keyNumber, &typetext.Type{Form: "string"}); err != nil {
		return err
	}
	for i, p := range s.Params {
		if err := in.field(names[i], uint64(paramsFrom+i), p); err != nil {
			return err
		}
	}
	if s.Result == nil {
		return nil
	}
	return (&scope{c: c, file: f, of: rpc.answer, taken: make(map[string]bool)}).field(resultName, resultNumber, s.Result)
}

// add adds a message.
func (f *File) add(name string) *Message {
	m := newMessage(name, f.Package+"."+name)
	f.messages = append(f.messages, m)
	return m
}

func newMessage(name, full string) *Message {
	return &Message{name: name, full: full, byNum: make(map[uint64]int)}
}

// scope is a message whose fields are being made.
type scope struct {
	c     *compiler
	file  *File
	of    *Message
	taken map[string]bool // forms of its names: protobuf takes two for one that differ in case and low lines alone
}

func form(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// take returns a name that the message has not, nor has it with the suffixes.
func (s *scope) take(name string, suffixes ...string) string {
	free := func(try string) bool {
		for _, suffix := range suffixes {
			if s.taken[form(try+suffix)] {
				return false
			}
		}
		return !s.taken[form(try)]
	}
	try := name
	for n := 2; !free(try); n++ {
		try = name + strconv.Itoa(n)
	}
	s.taken[form(try)] = true
	for _, suffix := range suffixes {
		s.taken[form(try+suffix)] = true
	}
	return try
}

// The ends of the names of messages inside others.
const (
	entrySuffix  = "Entry"
	holderSuffix = "Value"
)

// field adds a field.
func (s *scope) field(name string, number uint64, of *typetext.Type) error {
	var suffixes []string
	inner := of
	if of.Form == "?" {
		inner = of.Elems[0]
	}
	switch {
	case of.Form == "map":
		suffixes = []string{entrySuffix, holderSuffix}
	case of.Form == "vector" || isContainer(inner.Form):
		suffixes = []string{holderSuffix}
	}
	f := &Field{name: s.take(name, suffixes...), aeon: name, number: number}
	var err error
	if f.is, err = s.typeOf(f.name, of); err != nil {
		return err
	}
	s.of.byNum[number] = len(s.of.fields)
	s.of.fields = append(s.of.fields, f)
	return nil
}

func isContainer(form string) bool { return form == "vector" || form == "set" || form == "map" }

// typeOf makes the type of the field called name.
func (s *scope) typeOf(name string, of *typetext.Type) (t *Type, err error) {
	e, ok := of.Encoding()
	if !ok {
		return nil, fmt.Errorf("values of type %s do not leave an actor", of)
	}
	t = &Type{kind: e.Kind, of: of, min: e.Min, max: e.Max}
	switch e.Kind {
	case typetext.Time:
		s.file.uses(timestampFile)
	case typetext.Duration:
		s.file.uses(durationFile)
	case typetext.Enum:
		t.enum, err = s.c.enum(s.file, of.Name)
	case typetext.Class:
		t.message, err = s.c.value(s.file, of.Name)
	case typetext.Vector, typetext.Set:
		t.elem, err = s.one(name, of.Elems[0])
	case typetext.Optional:
		if t.elem, err = s.one(name, of.Elems[0]); err == nil && (t.elem.kind == typetext.Actor || t.elem.kind == typetext.Client) {
			t.elem.nullable = true
			return t.elem, nil
		}
	case typetext.Map:
		err = s.dict(name, t)
	}
	return t, err
}

// dict makes the entries of a map.
func (s *scope) dict(name string, t *Type) (err error) {
	t.entry = newMessage(camel(name, true)+entrySuffix, s.of.full+"."+camel(name, true)+entrySuffix)
	if t.key, err = s.one(name, t.of.Elems[0]); err != nil {
		return err
	}
	if t.elem, err = s.one(name, t.of.Elems[1]); err != nil {
		return err
	}
	switch t.key.kind {
	case typetext.Signed, typetext.Unsigned, typetext.Bool, typetext.String, typetext.Actor:
		t.entry.entry = true
	case typetext.Bytes, typetext.Time, typetext.Duration, typetext.Enum: // no keys in protobuf: the field is repeated
	default:
		return fmt.Errorf("%s is no type of keys", t.key.of)
	}
	for i, f := range []*Type{t.key, t.elem} {
		t.entry.byNum[uint64(i+1)] = i
		t.entry.fields = append(t.entry.fields, &Field{name: []string{"key", "value"}[i], number: uint64(i + 1), is: f})
	}
	s.of.nested = append(s.of.nested, t.entry)
	return nil
}

// one returns what is one value in protobuf: a container or an optional value is in a message.
func (s *scope) one(name string, of *typetext.Type) (*Type, error) {
	if !isContainer(of.Form) && of.Form != "?" {
		return s.typeOf(name, of)
	}
	m := newMessage(camel(name, true)+holderSuffix, s.of.full+"."+camel(name, true)+holderSuffix)
	s.of.nested = append(s.of.nested, m)
	inner := &scope{c: s.c, file: s.file, of: m, taken: make(map[string]bool)}
	what := "values"
	if of.Form == "?" {
		what = "value"
	}
	return &Type{kind: holder, of: of, message: m}, inner.field(what, 1, of)
}

// enum returns the enum of a name, to which a file refers.
func (c *compiler) enum(from *File, path string) (*Enum, error) {
	pkg, name := split(path)
	f := c.file(pkg)
	from.uses(f.Name())
	if e := c.enums[path]; e != nil {
		return e, nil
	}
	def := c.defs[path]
	if def == nil {
		return nil, fmt.Errorf("the text of the type does not say what %s consists of", path)
	}
	prefix := upperSnake(name) + "_"
	e := &Enum{name: name, full: path, none: f.take(prefix + "UNSPECIFIED"), aeon: def.Values}
	for _, v := range def.Values { // they stand beside their enum
		e.values = append(e.values, f.take(prefix+v))
	}
	c.enums[path], f.enums = e, append(f.enums, e)
	return e, nil
}

// value returns the message of a value class, to which a file refers.
func (c *compiler) value(from *File, path string) (*Message, error) {
	pkg, name := split(path)
	f := c.file(pkg)
	from.uses(f.Name())
	if m := c.values[path]; m != nil {
		return m, nil
	}
	def := c.defs[path]
	if def == nil {
		return nil, fmt.Errorf("the text of the type does not say what %s consists of", path)
	}
	m := f.add(name)
	m.class, m.number = name, make(map[string]int)
	c.values[path] = m // before its fields, which may have it as their type
	in := &scope{c: c, file: f, of: m, taken: make(map[string]bool)}
	for i, field := range def.Fields {
		m.number[field.Name] = i
		if err := in.field(field.Name, uint64(i+1), field.Type); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// mayBeNull reports whether null is a value of the type.
func (t *Type) mayBeNull() bool { return t.kind == typetext.Optional || t.nullable }
