package typecheck

import (
	"slices"
	"strings"
	"unicode"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// ReservedFlags are the flags that the runtime gives to every program: no field of main's parameter may have one.
var ReservedFlags = []string{
	"audit", "create", "data", "drop-fields", "durability", "h", "help", "listen", "memory", "seed", "serve", "snapshot-actor",
	"snapshot-every", "snapshot-keep", "snapshot-once", "snapshots", "spans", "spans-sample", "static", "summary", "tls-cert", "tls-key", "tokens", "trace", "trace-states",
}

// FlagName returns the flag that fills a field of main's parameter, without dashes: max-orders for maxOrders.
func FlagName(field string) string {
	var b strings.Builder
	name := []rune(field)
	for i, r := range name {
		switch {
		case r == '_':
			if b.Len() > 0 && i+1 < len(name) && name[i+1] != '_' {
				b.WriteByte('-')
			}
			continue
		case i > 0 && name[i-1] != '_' && unicode.IsUpper(r) &&
			(!unicode.IsUpper(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1])):
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// MainConfig returns the class of main's parameter, or nil if main has none.
func (p *Package) MainConfig() *Class {
	if p.Main == nil || len(p.Main.Params) == 0 {
		return nil
	}
	class, _ := p.Main.Params[0].typ.(*Class)
	return class
}

// main checks the signature of main. Its parameter is filled from flags and from the environment, field by field.
func (c *checker) main(f *Func, d *ast.FuncDecl) {
	const help = "write `void main() { … }`, or `void main(Config c) { … }` with a class that has a field for each flag"
	if f.Result != Void && f.Result != Invalid {
		c.report(diag.New(diag.BadMain, d.Name.Span(), "main has no result").WithHelp(help))
	}
	if len(f.Params) > 1 {
		c.report(diag.New(diag.BadMain, f.Params[1].Span(), "main takes one parameter at most, but has %d", len(f.Params)).WithHelp(help))
		return
	}
	if len(f.Params) == 0 || f.Params[0].typ == Invalid {
		return
	}
	p := f.Params[0]
	class, ok := p.typ.(*Class)
	switch {
	case !ok || class.Kind != ast.ValueClass:
		c.report(diag.New(diag.BadMain, p.Span(), "the parameter of main is of a value class, not %s", p.typ).WithHelp(help))
		return
	case class.Pkg != c.pkg:
		c.report(diag.New(diag.BadMain, p.Span(), "the class of main's parameter, %s, is of another package", class.name).WithHelp("declare one in this package"))
		return
	case class.Ctor != nil && class.Ctor.Decl != nil:
		c.report(diag.New(diag.BadMain, class.Ctor.Span(), "flags fill %s field by field, so it has no constructor", class.name).
			WithHelp("give the fields initial values instead"))
		return
	}
	flags := make(map[string]*Var)
	for _, v := range class.Fields {
		c.configField(v, flags)
	}
}

// configField checks a field of main's parameter; flags are those of the fields before it.
func (c *checker) configField(v *Var, flags map[string]*Var) {
	if v.typ == Invalid {
		return
	}
	if !fillable(v.typ) {
		c.report(diag.New(diag.BadMain, v.Span(), "no flag can fill %s, which is of type `%s`", v.Name(), v.typ).
			WithHelp("flags fill integers, float, bool, string, time, duration and enums, and except for enums `T?` and vectors of these"))
		return
	}
	flag := FlagName(v.Name())
	switch before := flags[flag]; {
	case before != nil:
		c.report(diag.New(diag.BadMain, v.Span(), "%s and %s have the same flag, --%s", before.Name(), v.Name(), flag).WithHelp("rename one of them"))
	case slices.Contains(ReservedFlags, flag) || flag == "":
		c.report(diag.New(diag.BadMain, v.Span(), "--%s is a flag that every program has, so it cannot fill %s", flag, v.Name()).WithHelp("rename the field"))
	}
	flags[flag] = v
}

// fillable reports whether a flag can fill a field of type t.
func fillable(t Type) bool {
	switch t := t.(type) {
	case *Enum:
		return true
	case *Optional:
		return isScalar(t.Elem)
	case *Vector:
		return isScalar(t.Elem)
	}
	return isScalar(t)
}

func isScalar(t Type) bool {
	b, ok := t.(*Basic)
	return ok && b.of == nil && (IsNumeric(t) || b.Kind == BoolKind || b.Kind == StringKind || b.Kind == TimeKind || b.Kind == DurationKind)
}
