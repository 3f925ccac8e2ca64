package generate

import "fmt"

type kind uint8

const (
	intKind kind = iota
	sizedKind
	floatKind
	boolKind
	stringKind
	durationKind
	timeKind
	bytesKind
	enumKind
	classKind
	vectorKind
	mapKind
	setKind
	optionalKind
	actorKind
	screenKind
)

// typ is a type of the language. Types are compared by their source text.
type typ struct {
	kind  kind
	text  string
	elem  *typ // of vectors, sets, optionals, and the values of maps
	key   *typ
	enum  *enum
	class *class
	actor *actor
}

var (
	intType      = &typ{kind: intKind, text: "int"}
	floatType    = &typ{kind: floatKind, text: "float"}
	boolType     = &typ{kind: boolKind, text: "bool"}
	stringType   = &typ{kind: stringKind, text: "string"}
	durationType = &typ{kind: durationKind, text: "duration"}
	timeType     = &typ{kind: timeKind, text: "time"}
	bytesType    = &typ{kind: bytesKind, text: "bytes"}
	sizedTypes   = []*typ{{kind: sizedKind, text: "int8"}, {kind: sizedKind, text: "uint8"}, {kind: sizedKind, text: "int32"}, {kind: sizedKind, text: "uint64"},
		{kind: sizedKind, text: "int16"}, {kind: sizedKind, text: "uint16"}, {kind: sizedKind, text: "uint32"}}
)

func vectorOf(t *typ) *typ   { return &typ{kind: vectorKind, text: "vector<" + t.text + ">", elem: t} }
func setOf(t *typ) *typ      { return &typ{kind: setKind, text: "set<" + t.text + ">", elem: t} }
func optionalOf(t *typ) *typ { return &typ{kind: optionalKind, text: t.text + "?", elem: t} }
func mapOf(k, t *typ) *typ {
	return &typ{kind: mapKind, text: fmt.Sprintf("map<%s, %s>", k.text, t.text), key: k, elem: t}
}

// enum is an enum type.
type enum struct {
	typ    *typ
	values []string
}

// class is a value class.
type class struct {
	typ     *typ
	fields  []*variable
	methods []*method
	this    *variable
	inner   *variable // the field that may have another value of the class, nil if there is none
}

func newClassOf(name string) *class {
	c := &class{}
	c.typ = &typ{kind: classKind, text: name, class: c}
	c.this = &variable{name: "this", typ: c.typ, declared: -1}
	return c
}

// method is something that can be called: a method of an actor or value class, or a free function.
type method struct {
	name    string
	params  []*variable
	result  *typ // nil for void
	plain   bool // a reference as result is plain
	ro      bool
	mutates bool // of value classes
	faults  bool // it may well fail
	tails   bool // it ends with a tail call
	takes   bool // it writes every field, see takeText
	acts    bool // a function or method of a value that does for an actor what only actors may do
	under   int  // of what acts: it may be called by actors of classes before this one; 0: by all
	cost    int  // an upper bound of the steps it takes
	emits   int  // an upper bound of the events it issues
	chain   int  // an upper bound of the events it causes, directly or not
	text    string
	class   *class
	actor   *actor
}

// variable is a local, a parameter or a field.
type variable struct {
	name     string
	typ      *typ
	yield    bool // of references: reached through yield
	writable bool
	narrowed bool // an optional local that is known not to be null, and stays so: only its parts are assigned
	declared int  // index of the line of a local's declaration; -1 for what need not be used
}

// newEnum makes an enum.
func (g *gen) newEnum() {
	e := &enum{}
	name := fmt.Sprintf("E%d", len(g.enums))
	e.typ = &typ{kind: enumKind, text: name, enum: e}
	text := ""
	for i := range 2 + g.upto(2) {
		v := fmt.Sprintf("%s_%c", name, 'A'+i)
		e.values = append(e.values, v)
		if i > 0 {
			text += ", "
		}
		text += v
	}
	g.enums = append(g.enums, e)
	g.decls = append(g.decls, fmt.Sprintf("enum %s { %s }\n", name, text))
}

// scalar returns a type without parts.
func (g *gen) scalar() *typ {
	switch g.upto(12) {
	case 0, 1, 2, 3, 4:
		return intType
	case 5, 6:
		return stringType
	case 7:
		return boolType
	case 8:
		return pick(g, sizedTypes)
	case 9:
		return floatType
	case 10:
		return pick(g, []*typ{durationType, bytesType, timeType})
	}
	if len(g.enums) > 0 {
		return pick(g, g.enums).typ
	}
	return intType
}

// keyType returns a type that can be a key.
func (g *gen) keyType() *typ {
	switch g.upto(6) {
	case 0:
		if len(g.enums) > 0 {
			return pick(g, g.enums).typ
		}
		return boolType
	case 1:
		if g.chance(4) {
			return timeType
		}
		return pick(g, sizedTypes)
	case 2, 3:
		return stringType
	}
	return intType
}

// value returns a type that is no reference, nested at most depth deep.
func (g *gen) value(depth int) *typ {
	if depth <= 0 || g.chance(2) {
		return g.scalar()
	}
	switch g.upto(6) {
	case 0, 1:
		return vectorOf(g.value(depth - 1))
	case 2:
		if t := g.value(depth - 1); t.kind != optionalKind {
			return mapOf(g.keyType(), t)
		}
	case 3:
		return setOf(g.keyType())
	case 4:
		if t := g.value(depth - 1); t.kind != optionalKind {
			return optionalOf(t)
		}
	}
	if len(g.classes) > 0 {
		return pick(g, g.classes).typ
	}
	return g.scalar()
}

// deep returns a type that is nested as deep as that.
func (g *gen) deep(depth int) *typ {
	if depth <= 1 {
		return g.scalar()
	}
	t := g.deep(depth - 1)
	switch g.upto(2) {
	case 0:
		return vectorOf(t)
	case 1:
		return mapOf(g.keyType(), t)
	}
	if t.kind == optionalKind {
		return vectorOf(t)
	}
	return optionalOf(t)
}

// holes returns a container of values that may be null, and that methods change.
func (g *gen) holes() *typ {
	t := pick(g, []*typ{vectorOf(g.scalar()), vectorOf(optionalOf(g.scalar())), setOf(g.keyType()), mapOf(g.keyType(), g.scalar())})
	if len(g.classes) > 0 && g.chance(2) {
		t = pick(g, g.classes).typ
	}
	if g.chance(2) {
		return mapOf(g.keyType(), optionalOf(t))
	}
	return vectorOf(optionalOf(t))
}

// hasJSON reports whether values of a type have JSON: those without references.
func (t *typ) hasJSON() bool {
	switch t.kind {
	case actorKind, screenKind:
		return false
	case classKind:
		for _, f := range t.class.fields {
			if f != t.class.inner && !f.typ.hasJSON() {
				return false
			}
		}
	}
	return (t.elem == nil || t.elem.hasJSON()) && (t.key == nil || t.key.hasJSON())
}

// ordered reports whether < and sort work on a type.
func (t *typ) ordered() bool {
	switch t.kind {
	case intKind, sizedKind, floatKind, stringKind, durationKind, timeKind, bytesKind:
		return true
	}
	return false
}

// isReference reports whether values of the type hold references of actors or clients.
func (t *typ) isReference() bool {
	for t.elem != nil {
		t = t.elem
	}
	return t.kind == actorKind || t.kind == screenKind
}
