package typecheck

import (
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
)

// isBareValue reports whether x is a name that may mean a value of an enum. In a comparison it takes its enum from the other
// operand, on whichever side it stands.
func (b *body) isBareValue(x ast.Expr) bool {
	id, ok := ast.Unparen(x).(*ast.Ident)
	if !ok {
		return false
	}
	obj := b.lookup(id, nil)
	_, value := obj.(*EnumValue)
	return value || obj == nil
}

// importedValue returns how the file writes a value of an enum of a package that it imports, "" if none is called so.
func (b *body) importedValue(name string) string {
	if b.file == nil || len(b.file.imports) == 0 || !b.mayList() {
		return ""
	}
	for _, alias := range slices.Sorted(maps.Keys(b.file.imports)) {
		if full := valueOf(b.file.imports[alias], name); full != "" {
			return full
		}
	}
	return ""
}

// valueOf is importedValue for one package.
func valueOf(p *PkgName, name string) string {
	if p.Pkg == nil {
		return ""
	}
	for _, e := range p.Pkg.Enums {
		if exported(e.name) && e.value(name) != nil {
			return p.Name() + "." + e.name + "." + name
		}
	}
	return ""
}
