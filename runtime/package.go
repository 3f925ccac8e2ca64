package runtime

// Package describes a generated package to the runtime and the tools.
type Package struct {
	Name          string
	Classes       []*Class
	ClientClasses []*ClientClass
	Main          func(cl *Client) // nil if the package has no main
	Config        []ConfigField    // of main's parameter
	Tests         []Test
	Imports       []*Package // what it imports, directly or not
}

// Test is one test block of a package.
type Test struct {
	Name string
	File string // of its declaration
	Line int
	Run  func(cl *Client)
}

// visit calls f for the package and all that it imports, once each.
func (p *Package) visit(seen map[*Package]bool, f func(*Package)) {
	if seen[p] {
		return
	}
	seen[p] = true
	f(p)
	for _, q := range p.Imports {
		q.visit(seen, f)
	}
}
