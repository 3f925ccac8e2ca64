package protocodec

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Clients is the service by which callers have objects of the client classes of a package, and receive their callbacks. What
// it is asked and answers is written and read as the methods of actors are: by messages of package codec.
type Clients struct {
	*Service
	Package string
	Begin   *RPC // (set<string> classes): (string id, map<string,string> references)
	Receive *RPC // (string id, uint64 after): a stream of callbacks
	End     *RPC // (string id): nothing
	Classes map[string]*ClientClass
}

// ClientClass is a client class.
type ClientClass struct {
	Methods map[string]*Callback
}

// Callback is a method of a client class.
type Callback struct {
	class  uint64 // the number of the field that has the callbacks of its class
	method uint64 // and in that message the number of the field that has those of the method
	args   *Message
}

// The parts of a callback. The classes of the package have the numbers from classesFrom on, their methods those from 1 on,
// and so have the parameters.
const (
	// BeginName is the method of the service that begins a client.
	BeginName      = "begin"
	clientsName    = "Clients"
	callbackName   = "Callback"
	callbackNumber = 1
	classesFrom    = 2
)

var (
	textType   = &typetext.Type{Form: "string"}
	numberType = &typetext.Type{Form: "uint64"}
	textsType  = &typetext.Type{Form: "set", Elems: []*typetext.Type{textType}}
	byNameType = &typetext.Type{Form: "map", Elems: []*typetext.Type{textType, textType}}
)

// param is a field of a message of the service.
type param struct {
	name string
	is   *typetext.Type
}

// clients makes the service of the client classes of a package.
func (c *compiler) clients(pkg string, classes []Class, signatures map[*Method]typetext.Signature) error {
	f := c.file(pkg)
	name := f.take(clientsName)
	s := &Clients{
		Service: &Service{Name: pkg + "." + name, doc: "Clients is how a caller is a client, and receives callbacks."}, Package: pkg, Classes: make(map[string]*ClientClass),
	}
	var err error
	rpc := func(method, doc string, request, answer []param) *RPC {
		made := &RPC{Name: method, doc: doc, request: c.plain(f, name+upperFirst(method)+requestSuffix, request, &err)}
		if answer != nil {
			made.answer = c.plain(f, name+upperFirst(method)+answerSuffix, answer, &err)
		}
		s.Methods = append(s.Methods, made)
		return made
	}
	id := param{"id", textType}
	s.Begin = rpc(BeginName, "begin begins a client that has an object of each of these client classes of the package. References are the\narguments for methods that take one, by the names of their classes.",
		[]param{{"classes", textsType}}, []param{id, {"references", byNameType}})
	s.Receive = rpc("receive", "receive streams the callbacks of a client, behind the one with the number after.", []param{id, {"after", numberType}}, nil)
	s.Receive.stream = true
	s.End = rpc("end", "end ends a client.", []param{id}, []param{})
	if err != nil {
		return err
	}
	if s.Receive.answer, err = c.callback(f, s, classes, signatures); err != nil {
		return err
	}
	f.services, c.Clients[pkg] = append(f.services, s.Service), s
	return nil
}

// plain makes a message with fields that are numbered from 1 on. The first error goes to failed.
func (c *compiler) plain(f *File, name string, params []param, failed *error) *Message {
	m := f.add(f.take(name))
	in := &scope{c: c, file: f, of: m, taken: make(map[string]bool)}
	for i, p := range params {
		if err := in.field(p.name, uint64(i+1), p.is); err != nil && *failed == nil {
			*failed = fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return m
}

// callback makes the message of all callbacks: their number, and one of the classes, each of which is one of its methods.
func (c *compiler) callback(f *File, s *Clients, classes []Class, signatures map[*Method]typetext.Signature) (*Message, error) {
	all := f.add(f.take(callbackName))
	in := &scope{c: c, file: f, of: all, taken: make(map[string]bool)}
	if err := in.field("number", callbackNumber, numberType); err != nil {
		return nil, err
	}
	for i, of := range classes {
		if of.Hidden {
			f.take(of.Name + callbackName)
			for _, m := range of.Methods {
				f.take(of.Name + upperFirst(m.Name))
			}
		} else {
			made := &ClientClass{Methods: make(map[string]*Callback)}
			s.Classes[of.Name] = made
			if err := c.clientClass(f, in, uint64(classesFrom+i), of, made, signatures); err != nil {
				return nil, err
			}
		}
	}
	in.choose("client", 1)
	return all, nil
}

// clientClass adds the callbacks of a class to those of its package.
func (c *compiler) clientClass(f *File, all *scope, number uint64, of Class, made *ClientClass, signatures map[*Method]typetext.Signature) error {
	m := f.add(f.take(of.Name + callbackName))
	m.doc = of.Doc
	in := &scope{c: c, file: f, of: m, taken: make(map[string]bool)}
	for i := range of.Methods {
		method := &of.Methods[i]
		var params []param
		for j, p := range signatures[method].Params {
			params = append(params, param{method.Params[j], p})
		}
		var err error
		args := c.plain(f, of.Name+upperFirst(method.Name), params, &err)
		if err != nil {
			return fmt.Errorf("method %s of client class %s: %w", method.Name, of.Name, err)
		}
		args.doc = method.Doc
		in.message(method.Name, uint64(i+1), args)
		made.Methods[method.Name] = &Callback{class: number, method: uint64(i + 1), args: args}
	}
	in.choose("method", 0)
	all.message(of.Name, number, m)
	return nil
}

// message adds a field that is a message.
func (s *scope) message(name string, number uint64, m *Message) {
	f := &Field{name: s.take(name), aeon: name, number: number, is: &Type{kind: typetext.Class, message: m}}
	s.of.byNum[number] = len(s.of.fields)
	s.of.fields = append(s.of.fields, f)
}

// choose says that a message has one of its fields from a place on; there may be none.
func (s *scope) choose(name string, from int) {
	if from < len(s.of.fields) {
		s.of.choice, s.of.choices = s.take(name), s.of.fields[from:]
	}
}

// Append appends a callback with its number and the arguments that msg holds. The error says why protobuf cannot have them.
func (c *Callback) Append(b []byte, number uint64, msg []byte, names jsoncodec.Names) ([]byte, error) {
	w := writer{Decoder: codec.NewDecoder(msg), names: names}
	b = appendNumber(b, callbackNumber, number)
	b = appendSized(b, c.class, func(b []byte) []byte {
		return appendSized(b, c.method, func(b []byte) []byte { return w.fields(b, c.args) })
	})
	if w.err != nil {
		return nil, w.err
	}
	return b, w.Close()
}
