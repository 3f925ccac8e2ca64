package runtime

// Package describes a generated package to the runtime and the tools.
type Package struct {
	Name    string
	Classes []*Class
	Main    func(cl *Client) // nil if the package has no main
	Config  []ConfigField    // of main's parameter
	Tests   []Test
	Imports []*Package // what it imports, directly or not
}

// Test is one test block of a package.
type Test struct {
	Name string
	File string // of its declaration
	Line int
	Run  func(cl *Client)
}
