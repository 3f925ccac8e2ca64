// Package grpcdoor serves the methods of a program's actors by gRPC, at the address of package httpdoor and within its limits,
// tokens, rights and audit: a service for each actor class, with a method for each of its methods. Messages are made of the
// types of the program by package protocodec. Beside them it serves callbacks to clients outside, a service for each package
// that has client classes; reflection; and the health of the program.
//
// Metadata of a call: authorization has the token, idempotency-key the key by which it runs once. A failure is a status with
// google.rpc.ErrorInfo, whose reason is the code that package door has for it, and whose metadata are happened and at;
// google.rpc.DebugInfo with the path; and google.rpc.RetryInfo if the call may succeed later.
package grpcdoor

import (
	"sync"

	"google.golang.org/grpc"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/protocodec"
)

// Services are what a program serves. Any goroutine may use them.
type Services struct {
	door     *door.Door
	schema   *protocodec.Schema
	rpcs     map[*door.Method]*protocodec.RPC
	packages map[string]string // of the services of client classes, by name
}

// Of makes the services of a program.
func Of(d *door.Door) (*Services, error) {
	schema, err := schemaOf(d, func(*door.Class, *door.Method) bool { return true }, func(*door.ClientClass) bool { return true })
	if err != nil {
		return nil, err
	}
	s := &Services{door: d, schema: schema, rpcs: make(map[*door.Method]*protocodec.RPC), packages: make(map[string]string)}
	for name, c := range schema.Clients {
		s.packages[c.Name] = name
	}
	for _, c := range d.Classes() {
		for i, m := range c.Methods {
			s.rpcs[m] = schema.Services[c.Path()].Methods[i]
		}
	}
	return s, nil
}

// schemaOf describes a program: of its actor classes the methods for which may holds, and the client classes for which mayBe does.
func schemaOf(d *door.Door, may func(*door.Class, *door.Method) bool, mayBe func(*door.ClientClass) bool) (*protocodec.Schema, error) {
	var p protocodec.Program
	for _, c := range d.Classes() {
		of := protocodec.Class{Package: c.Package, Name: c.Name, Doc: c.Doc, Hidden: !may(c, nil)}
		for _, m := range c.Methods {
			shown := may(c, m)
			of.Hidden = of.Hidden && !shown
			of.Methods = append(of.Methods, protocodec.Method{Name: m.Name, Doc: m.Doc, Signature: m.Signature, Params: m.Method.Params, Hidden: !shown})
		}
		p.Classes = append(p.Classes, of)
	}
	d.ClientClasses(func(c *door.ClientClass) {
		of := protocodec.Class{Package: c.Package, Name: c.Name, Doc: c.Doc, Hidden: !mayBe(c)}
		for _, m := range c.Methods {
			of.Methods = append(of.Methods, protocodec.Method{Name: m.Name, Doc: m.Doc, Signature: m.Signature, Params: m.ClientMethod.Params})
		}
		p.Clients = append(p.Clients, of)
	})
	return protocodec.Compile(p)
}

// Server serves gRPC, beside a server of HTTP.
type Server struct {
	*Services
	gate      *gate.Gate
	grpc      *grpc.Server
	reading   readers
	receivers receivers
	through   through
	views     sync.Map // of *access.Caller: the view of reflection
}
