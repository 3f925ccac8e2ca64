// Package generate writes random programs: well-typed ones that use every statement and type of the language, and
// ill-typed ones in which one rule is broken. A seed gives the same program for ever, until this package changes.
//
// A well-typed program is small, ends, and shows at its end what has become of all its actors. It is made in the order
// in which things may use each other: enums, value classes, free functions, actor classes from the leaves of the ownership
// graph upwards with what helps them, main. Code only calls what was made before it, so that nothing recurses except where a template says so,
// and every body has a budget of steps.
package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/format"
)

// Profile says how many outcomes a program may have.
type Profile uint8

// The profiles.
const (
	// Sequential: main awaits every event, and no event has two sub-events that could run in either order. There is
	// one outcome.
	Sequential Profile = iota
	// Concurrent: main issues some events without awaiting them. The outcome is one of those that some serial order of
	// the events gives.
	Concurrent
)

func (p Profile) String() string { return [...]string{"sequential", "concurrent"}[p] }

// Program returns the program of a seed, in canonical format.
func Program(seed uint64, profile Profile) string {
	g := &gen{rng: rand.New(rand.NewPCG(seed, uint64(profile))), profile: profile, hearers: map[string]string{}}
	return canonical(g.program(), profile.String(), seed)
}

// canonical formats a program of a seed; kind says which it is one of.
func canonical(text, kind string, seed uint64) string {
	canonical, diags, err := format.Source(ast.NewSource("generated.aeon", text))
	assert.That(err == nil && canonical != "", "%s %d: %v %v\n%s", kind, seed, err, diags, text)
	return canonical
}

// gen is the state of making one program.
type gen struct {
	rng     *rand.Rand
	profile Profile
	test    bool // the events are issued by a test, not by main
	names   int
	loud    int // how many more loud ways a program of branches may have
	enums   []*enum
	consts  []*variable
	classes []*class
	funcs   []*method
	actors  []*actor // owners before what they own
	screen  *screen  // the client class, nil if there is none
	helper  *class   // the value class whose methods act for actors, nil if there is none
	decls   []string // finished declarations
	// hearers are the functions of clients that take pending values, by the use and the type of the result.
	hearers map[string]string
}

func (g *gen) program() string {
	if g.chance(2) {
		g.newEnum()
	}
	if g.chance(4) {
		g.newConst()
	}
	for range g.upto(2) {
		g.newClass()
	}
	for range g.upto(1) {
		g.newFunc()
	}
	if g.chance(3) {
		g.planScreen()
	}
	if g.chance(3) {
		g.planHelper()
	}
	g.planActors()
	for i := len(g.actors) - 1; i >= 0; i-- {
		g.baseMethods(g.actors[i])
	}
	for i := len(g.actors) - 1; i >= 0; i-- {
		g.ctor(g.actors[i])
	}
	g.newScreen()
	g.newHelpers()
	for i := len(g.actors) - 1; i >= 0; i-- {
		for _, e := range g.actors[i].extras {
			if e.write != nil {
				e.write()
			}
		}
		g.richMethods(g.actors[i])
		g.chainMethods(g.actors[i])
	}
	g.test = g.chance(4)
	main := g.main()
	for _, a := range g.actors {
		g.decls = append(g.decls, a.text())
	}
	return "package generated\n\n" + strings.Join(g.decls, "\n") + "\n" + main
}

// upto returns a number from 0 to n.
func (g *gen) upto(n int) int { return g.rng.IntN(n + 1) }

// chance is true once in n times.
func (g *gen) chance(n int) bool { return g.rng.IntN(n) == 0 }

// hazards are names that a careless compiler could confuse with its own or with Go's.
var hazards = []string{"self", "cx", "cl", "ret", "args", "err", "ok", "func", "chan", "select", "defer", "range", "tmp1", "aeonrt",
	"any", "error", "copy", "append", "make", "panic", "iota", "byte", "set", "time", "log", "x", "a", "interface", "goto", "nil_"}

// name returns a new name that begins with the prefix, or now and then one that is hard to compile.
func (g *gen) name(prefix string) string {
	g.names++
	if g.chance(12) {
		return fmt.Sprintf("%s_%d", pick(g, hazards), g.names)
	}
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// pick returns one of the list, which is not empty.
func pick[T any](g *gen, list []T) T { return list[g.rng.IntN(len(list))] }

// choice is one way to go on.
type choice struct {
	weight int
	make   func() bool // false if it does not apply here
}

// choose goes one of the ways, by weight; a way that does not apply makes place for another.
func (g *gen) choose(ways ...choice) bool {
	for {
		total := 0
		for _, w := range ways {
			total += w.weight
		}
		if total == 0 {
			return false
		}
		n := g.rng.IntN(total)
		for i := range ways {
			if n -= ways[i].weight; n < 0 {
				if ways[i].make() {
					return true
				}
				ways[i].weight = 0
				break
			}
		}
	}
}
