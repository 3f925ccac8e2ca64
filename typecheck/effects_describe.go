package typecheck

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// describe turns a summary into Effects.
func (a *effectAnalysis) describe(f *Func) *Effects {
	e := &Effects{ChangesOwnership: f.sum.changes}
	if f.sum.issuer {
		e.Issuer = Write
	}
	classes := make(map[*Class]Mode)
	for class := range f.sum.created {
		classes[class] = NoMode
	}
	touches := make(map[*Class]Mode)
	all := maps.Clone(f.sum.accesses)
	for k, mode := range f.sum.guards {
		all[k] = max(all[k], mode)
	}
	for k, mode := range all {
		classes[k.class] = max(classes[k.class], mode)
		e.Footprint = append(e.Footprint, Access{a.path(k.path), k.class, mode, k.reach})
		if isTarget(f, k) {
			e.Self = mode
		} else {
			touches[k.class] = max(touches[k.class], mode)
			e.BelowMode = max(e.BelowMode, mode)
		}
	}
	slices.SortFunc(e.Footprint, compareAccess)
	e.Footprint = slices.DeleteFunc(e.Footprint, func(x Access) bool { return covered(x, all) })
	e.Classes, e.Touches = classModes(classes), classModes(touches)
	if f.IsMethodOf(ast.ActorClass) {
		e.below(f)
	}
	return e
}

func isTarget(f *Func, k accessKey) bool {
	return f.IsMethodOf(ast.ActorClass) && k.path.isRoot() && k.path.param == nil && !k.reach
}

// covered reports whether a single element adds nothing to all elements of the
// same container, which are touched at least as strongly.
func covered(x Access, accesses map[accessKey]Mode) bool {
	if x.Path.Elem != ElemAt {
		return false
	}
	all := accessKey{ipath{param: x.Path.Param, field: x.Path.Field, elem: ElemAll}, x.Class, x.Reach}
	return accesses[all] >= x.Mode
}

// path gives an internal path its public form.
func (a *effectAnalysis) path(p ipath) Path {
	out := Path{Param: p.param, Field: p.field, Elem: p.elem, KeyParam: p.keyParam}
	if p.key != "" {
		out.Key = a.keys[p.key]
	}
	return out
}

func classModes(m map[*Class]Mode) []ClassMode {
	list := make([]ClassMode, 0, len(m))
	for class, mode := range m {
		list = append(list, ClassMode{class, mode})
	}
	slices.SortFunc(list, func(a, b ClassMode) int { return compareClasses(a.Class, b.Class) })
	return list
}

func compareClasses(a, b *Class) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.Pkg.Path, b.Pkg.Path), cmp.Compare(a.index, b.index))
}

func compareAccess(a, b Access) int {
	return cmp.Or(
		comparePaths(a.Path, b.Path),
		cmp.Compare(boolInt(a.Reach), boolInt(b.Reach)),
		compareClasses(a.Class, b.Class),
	)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func comparePaths(a, b Path) int {
	index := func(v *Var) int {
		if v == nil {
			return -1
		}
		return v.Index
	}
	key := func(p Path) string {
		if p.Key == nil {
			return ""
		}
		return keyText(p.Key)
	}
	if c := cmp.Or(cmp.Compare(index(a.Param), index(b.Param)), cmp.Compare(index(a.Field), index(b.Field)), cmp.Compare(a.Elem, b.Elem)); c != 0 || a.Elem != ElemAt {
		return c
	}
	return cmp.Or(cmp.Compare(index(a.KeyParam), index(b.KeyParam)), strings.Compare(key(a), key(b)))
}

// below derives the shape that the descriptor of a method wants.
func (e *Effects) below(f *Func) {
	var members []Member
	for _, x := range e.Footprint {
		root := x.Path.Param == nil && x.Path.Field == nil && x.Path.Elem == NoElem
		switch {
		case root && !x.Reach:
			continue
		case root:
			e.Below, e.Narrow = BelowAny, nil
			return
		}
		members = addMember(members, x)
	}
	e.Narrow = members
	if len(members) > 0 {
		e.Below = BelowExact
	}
}

// addMember adds an access to the member of its path. A path through the
// fields of another actor cannot be read before that actor is held, so it
// counts as something below that actor.
func addMember(members []Member, x Access) []Member {
	if p := x.Path.Param; p != nil && x.Path.Field != nil && IsActor(nonNull(p.typ)) {
		x.Path, x.Reach = Path{Param: p}, true
	}
	i := slices.IndexFunc(members, func(m Member) bool { return comparePaths(m.Path, x.Path) == 0 })
	if i < 0 {
		i = len(members)
		members = append(members, Member{Path: x.Path})
	}
	m := &members[i]
	if !x.Reach {
		if m.Mode == NoMode {
			m.Class = x.Class
		} else if m.Class != x.Class {
			m.Class = nil
		}
		m.Mode = max(m.Mode, x.Mode)
		return members
	}
	m.Below = BelowAny
	m.BelowMode = max(m.BelowMode, x.Mode)
	j := slices.IndexFunc(m.Touches, func(c ClassMode) bool { return c.Class == x.Class })
	if j < 0 {
		m.Touches = append(m.Touches, ClassMode{x.Class, x.Mode})
		slices.SortFunc(m.Touches, func(a, b ClassMode) int { return compareClasses(a.Class, b.Class) })
	} else {
		m.Touches[j].Mode = max(m.Touches[j].Mode, x.Mode)
	}
	return members
}
