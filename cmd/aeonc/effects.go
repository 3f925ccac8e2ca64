package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/aeon-lang/aeon/typecheck"
)

// writeEffects prints what every method, constructor and helper may touch.
func writeEffects(w io.Writer, info *typecheck.Info) error {
	var b strings.Builder
	info.Package.AllFuncs(func(f *typecheck.Func) {
		if f.Effects == nil {
			return // code of clients touches nothing by itself
		}
		name := f.Name()
		if f.Class != nil {
			name = f.Class.Name() + "." + name
		}
		fmt.Fprintf(&b, "%s: %s:%s", info.Package.Name, name, effectNotes(f))
		fmt.Fprintf(&b, "\n\tclasses   %s\n\tfootprint ", classModes(f.Effects.Classes))
		for i, a := range f.Effects.Footprint {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(accessText(a))
		}
		b.WriteByte('\n')
	})
	_, err := io.WriteString(w, b.String())
	return err
}

func effectNotes(f *typecheck.Func) string {
	var notes string
	if f.RO {
		notes += " ro"
	}
	if f.Effects.ChangesOwnership {
		notes += " changes ownership"
	}
	return notes
}

func classModes(list []typecheck.ClassMode) string {
	if len(list) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(list))
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%s %s", c.Class.Name(), c.Mode))
	}
	return strings.Join(parts, ", ")
}

// accessText prints an entry of a footprint as language.md writes it: this.f[*] W.
func accessText(a typecheck.Access) string {
	path := "this"
	if a.Path.Param != nil {
		path = a.Path.Param.Name()
	}
	if a.Path.Field != nil {
		path += "." + a.Path.Field.Name()
	}
	switch a.Path.Elem {
	case typecheck.ElemAll:
		path += "[*]"
	case typecheck.ElemKeys:
		path += ".keys()"
	case typecheck.ElemAt:
		if a.Path.KeyParam != nil {
			path += "[" + a.Path.KeyParam.Name() + "]"
		} else {
			path += "[" + a.Path.Key.ExactString() + "]"
		}
	}
	if a.Reach {
		return fmt.Sprintf("any %s reachable from %s %s", a.Class.Name(), path, a.Mode)
	}
	return path + " " + a.Mode.String()
}
