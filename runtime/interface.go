package runtime

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/across"
)

// InterfaceOf returns a fingerprint of how the stores of a program call each other: of the names and the types of all methods and callbacks. Versions of a
// program with different ones can have events that wait for each other (package across, version.go).
func InterfaceOf(p *Package) string {
	var names []string
	for _, c := range AllClasses(p) {
		for _, m := range append([]*Method{c.Ctor}, c.Methods...) {
			if m != nil {
				names = append(names, m.Path())
			}
		}
	}
	for _, c := range AllClientClasses(p) {
		for _, m := range c.Methods {
			names = append(names, across.MethodName(c.Path()+"."+m.Name, m.Signature))
		}
	}
	slices.Sort(names)
	h := fnv.New64a()
	h.Write([]byte(strings.Join(names, "\n"))) // it never fails
	return fmt.Sprintf("%016x", h.Sum64())
}
