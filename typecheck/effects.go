package typecheck

import (
	"go/constant"
)

// Mode is how an actor is touched.
type Mode uint8

// The modes, from weak to strong.
const (
	NoMode Mode = iota
	Read
	Write
)

// String returns R, W or -.
func (m Mode) String() string { return [...]string{"-", "R", "W"}[m] }

// Effects is what a method, constructor or function may touch within the
// event that runs it (AEON §3.4.4, figure 3.10): the classes, [T-EFFECT], and the
// footprint as access paths, [T-FOOTPRINT]. Sub-events, yield references and clients are no
// part of it, and neither are actors created by the event itself.
type Effects struct {
	// Classes has the actor classes touched, created ones included, with the
	// strongest mode, by name.
	Classes []ClassMode
	// Footprint has the access paths, in a canonical order. For a method of an
	// actor class it contains `this`.
	Footprint []Access

	// Self is the strongest mode on the target itself: at least Read for a
	// method of an actor class.
	Self Mode
	// Issuer is what a helper does to the actor that it runs for: Write if it sets or cancels a
	// named timer, which are the issuer's. NoMode for methods of actors, where Self has it.
	Issuer Mode
	// Below, BelowMode, Touches and Narrow are the same footprint in the shape
	// that the descriptor of a method wants. Everything in Narrow can be
	// evaluated from the target's own fields and the arguments.
	Below     Below
	BelowMode Mode        // strongest mode on anything but the target; NoMode if Below is BelowNone
	Touches   []ClassMode // classes touched below or through parameters, strongest mode, by name
	Narrow    []Member    // of BelowExact

	// ChangesOwnership ([T-OWN]): some store in it, or in what it calls within the
	// event, is OwnerChanges.
	ChangesOwnership bool
}

// ClassMode is an actor class with a mode.
type ClassMode struct {
	Class *Class
	Mode  Mode
}

// Below says what a method touches apart from its target.
type Below uint8

// The answers.
const (
	BelowNone  Below = iota // nothing
	BelowExact              // the members that Narrow lists
	BelowAny                // anything of the classes in Touches that is reachable from the target or from a parameter
)

// String returns none, exact or any.
func (b Below) String() string { return [...]string{"none", "exact", "any"}[b] }

// Member is one entry of the narrow footprint: the actors that a path leads
// to, how they are touched themselves, and what is wanted below them.
type Member struct {
	Path  Path
	Class *Class // of the actors; nil if they may be of several classes (then ElemDeep)
	Mode  Mode   // NoMode: the actors are not touched themselves, only something below them
	// Below is BelowNone or BelowAny.
	Below     Below
	BelowMode Mode
	Touches   []ClassMode // classes below them, by name; empty if Below is BelowNone
}

// Access is one entry of a footprint.
type Access struct {
	Path  Path
	Class *Class // of the actors touched
	Mode  Mode
	// Reach: not the actors at Path, but any Class reachable from them.
	Reach bool
}

// Path leads from the target or a parameter to actors: `this`, p, p.f,
// p.f[*], p.f[k], p[*] or p[k]. If the value there holds actors deeper inside,
// Elem is ElemDeep.
type Path struct {
	// Param is the parameter that the path starts from; nil: `this`.
	Param *Var
	// Field is the field of the root that is read; nil if there is none. The
	// root is an actor or a value.
	Field *Var
	Elem  Elem
	// Key is the index or key of ElemAt: a constant, or an unassigned
	// parameter, which cannot be null, if KeyParam is set.
	Key      constant.Value
	KeyParam *Var
}

// Elem says which elements of a container a path takes.
type Elem uint8

// The element steps.
const (
	NoElem   Elem = iota // the actor itself, also where the type is A?
	ElemAt               // [k]: the element at one index or key; of a map, the value
	ElemAll              // [*]: all elements; of a map, the values
	ElemKeys             // the keys of a map
	ElemDeep             // every actor of the class anywhere in the value
)
