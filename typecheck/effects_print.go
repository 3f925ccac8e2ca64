package typecheck

import (
	"fmt"
	"io"
	"strings"
)

// String returns the path as `aeonc check --effects` shows it.
func (p Path) String() string {
	s := "this"
	if p.Param != nil {
		s = p.Param.name
	}
	if p.Field != nil {
		s += "." + p.Field.name
	}
	switch p.Elem {
	case ElemAt:
		if p.KeyParam != nil {
			return s + "[" + p.KeyParam.name + "]"
		}
		return s + "[" + p.Key.String() + "]"
	case ElemAll:
		return s + "[*]"
	case ElemKeys:
		return s + ".keys()[*]"
	case ElemDeep:
		return s + "[**]"
	}
	return s
}

// String returns path:mode, or "any Class reachable from path:mode".
func (x Access) String() string {
	switch {
	case x.Reach:
		return fmt.Sprintf("any %s reachable from %s:%s", x.Class.name, x.Path, x.Mode)
	case x.Path.Elem == ElemDeep:
		return fmt.Sprintf("any %s in %s:%s", x.Class.name, strings.TrimSuffix(x.Path.String(), "[**]"), x.Mode)
	}
	return fmt.Sprintf("%s:%s", x.Path, x.Mode)
}

// PrintEffects writes what every method, constructor and helper of actors may
// touch, in source order.
func PrintEffects(w io.Writer, in *Info) error {
	var err error
	in.Package.AllFuncs(func(f *Func) {
		if f.Effects == nil || f.Kind == SnapshotBlock || err != nil || f.Decl == nil && len(f.Effects.Footprint) <= 1 {
			return
		}
		_, err = io.WriteString(w, f.Effects.text(f)+in.stepsText(f))
	})
	return err
}

// text is the paragraph of one function.
func (e *Effects) text(f *Func) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", title(f))
	classes := make([]string, len(e.Classes))
	for i, c := range e.Classes {
		mode := c.Mode.String()
		if c.Mode == NoMode {
			mode = "new"
		}
		classes[i] = c.Class.name + " " + mode
	}
	fmt.Fprintf(&b, "\tclasses    %s\n", listOr(classes, "none"))
	var accesses []string
	if e.Issuer != NoMode {
		accesses = append(accesses, "issuer:"+e.Issuer.String())
	}
	for _, x := range e.Footprint {
		accesses = append(accesses, x.String())
	}
	fmt.Fprintf(&b, "\tfootprint  %s\n", listOr(accesses, "none"))
	if f.Class != nil && IsActor(f.Class) {
		fmt.Fprintf(&b, "\tentry      target %s, below %s\n", e.Self, e.Below)
	}
	if e.ChangesOwnership {
		b.WriteString("\townership  may change\n")
	}
	return b.String()
}

func title(f *Func) string {
	names := make([]string, len(f.Params))
	for i, p := range f.Params {
		names[i] = p.name
	}
	ro := ""
	if f.RO {
		ro = "ro "
	}
	name := f.FullName()
	if f.Kind == Constructor {
		name = "new " + f.Class.name
	}
	return fmt.Sprintf("%s%s(%s)", ro, name, strings.Join(names, ", "))
}

func listOr(list []string, empty string) string {
	if len(list) == 0 {
		return empty
	}
	return strings.Join(list, ", ")
}
