package door

import (
	"fmt"

	"github.com/aeon-lang/aeon/runtime/exec"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
)

// Program is what callers can name of a program. It does not change, and is there before any system of the program: a file of tokens can be read
// then, and all doors of a process may share one.
type Program struct {
	list    []*Class
	classes register[Class]
	clients register[ClientClass]
}

// Class is an actor class whose methods can be called.
type Class struct {
	*exec.Class
	Methods []*Method // in order of their declaration, without those that are internal
	byName  map[string]*Method
}

// Method is a method that can be called.
type Method struct {
	*exec.Method
	Params *jsoncodec.Params
	Result *jsoncodec.Type // nil: none
}

// ProgramOf returns what callers can name of a program with these classes.
func ProgramOf(classes []*exec.Class, clientClasses []*exec.ClientClass) (*Program, error) {
	p := &Program{classes: newRegister[Class]("actor class"), clients: newRegister[ClientClass]("client class")}
	var types jsoncodec.Compiler
	for _, of := range clientClasses {
		c, err := newClientClass(of, &types)
		if err != nil {
			return nil, err
		}
		p.clients.add(of.Name, of.Path(), c)
	}
	for _, of := range classes {
		c := &Class{Class: of, byName: make(map[string]*Method)}
		for _, m := range of.Methods {
			if m.Internal {
				continue
			}
			params, result, err := types.Signature(m.Signature, m.Params)
			if err != nil {
				return nil, fmt.Errorf("method %v: %w", m, err)
			}
			made := &Method{m, params, result}
			c.Methods, c.byName[m.Name] = append(c.Methods, made), made
			params.ClientClasses(func(path string) {
				if by := p.clients.byPath[path]; by != nil {
					by.takers = append(by.takers, taker{c, made})
				}
			})
		}
		p.list = append(p.list, c)
		p.classes.add(of.Name, of.Path(), c)
	}
	return p, nil
}

// Classes returns all classes.
func (p *Program) Classes() []*Class { return p.list }

// NameOf returns the name by which callers know a class: without its package, if that is clear.
func (p *Program) NameOf(c *Class) string { return p.classes.nameOf(c, c.Name, c.Path()) }

// Class returns a class by its name, with its package in front of it where two packages have a class of the name. The
// error is a *NotFoundError.
func (p *Program) Class(name string) (*Class, error) { return p.classes.find(name) }

// Method returns a method by its name. The error is a *NotFoundError.
func (c *Class) Method(name string) (*Method, error) {
	if m := c.byName[name]; m != nil {
		return m, nil
	}
	return nil, notFound("class %s has no method %q%s", c.Name, name, hint(name, func(yield func(string)) {
		for _, m := range c.Methods {
			yield(m.Name)
		}
	}))
}

// ClientClasses calls yield with all client classes.
func (p *Program) ClientClasses(yield func(*ClientClass)) {
	for _, r := range p.clients.all {
		yield(r.is)
	}
}

// ClientNameOf returns the name by which callers know a client class, as NameOf does.
func (p *Program) ClientNameOf(c *ClientClass) string {
	return p.clients.nameOf(c, c.Name, c.Path())
}

// ClientClass returns a client class by its name, as Class does. The error is a *NotFoundError.
func (p *Program) ClientClass(name string) (*ClientClass, error) { return p.clients.find(name) }
