package order

// Mode is how strongly an event wants an actor.
type Mode uint8

// The modes, in order of strength.
const (
	NoAccess Mode = iota // not touched
	Read                 // shared with other readers
	Write                // exclusive
)

// String names the mode as the protocol does.
func (m Mode) String() string { return [...]string{"-", "R", "W"}[m] }

// Below says what a method may touch apart from its target and the members that ArgRefs lists.
type Below uint8

// The kinds of footprint below an actor.
const (
	None  Below = iota // nothing
	Exact              // the members that Method.Narrow lists, under a hold on the target
	Any                // anything reachable
)

// Args is a pointer to the argument struct of one method; its last field, ret,
// takes the result. Codecs are found by interface where a call leaves the process.
type Args any

// ClassMode is an effect: actors of the class with Shape are touched, at most with Mode.
type ClassMode struct {
	Shape *Shape
	Mode  Mode
}

// Effects are what a method may touch, as the compiler has found out. Narrow and ArgRefs are to be set in init, since
// Go refuses variables that refer to themselves through a function.
type Effects struct {
	ReadOnly  bool
	Self      Mode        // strongest mode on the target, fixed at entry
	Below     Below       // what is touched below the target
	BelowMode Mode        // strongest mode below, whatever the class
	Touches   []ClassMode // strongest mode per class below; a class not listed is never touched

	// Narrow lists the members of an Exact footprint. It is called under a hold
	// on self, only reads it, and adds nothing for elements that are missing.
	Narrow func(self any, args Args, f *Footprint)
	// ArgRefs lists the plain actor arguments, also those nested in values.
	ArgRefs func(args Args, f *Footprint)
}

// modeOf returns the strongest mode in which actors of class c may be touched below the target.
func (e *Effects) modeOf(c *Shape) Mode {
	for i := range e.Touches {
		if e.Touches[i].Shape == c {
			return e.Touches[i].Mode
		}
	}
	return NoAccess
}

// Field describes one field of an actor class.
type Field struct {
	Name   string
	Type   string // as the schema of a store has it; package codegen says how it is written
	Owning bool   // holds plain actor references: assignments change ownership
}

// Shape is what an actor class is apart from its methods: its name and its fields. There is one per class; New is to be set in init.
type Shape struct {
	Package string
	Name    string
	Fields  []Field
	New     func() Object
	// SelfRecursive: an actor of this class may own another of its class, so that adding an edge between two of them needs the instance cycle check.
	SelfRecursive bool
}

// Owning reports whether actors of the class may own anything.
func (c *Shape) Owning() bool {
	for i := range c.Fields {
		if c.Fields[i].Owning {
			return true
		}
	}
	return false
}

// Path names the class for good.
func (c *Shape) Path() string { return c.Package + "." + c.Name }
