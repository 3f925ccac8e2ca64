package typecheck

import (
	"strconv"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// libSig is the signature of a library method of one receiver type.
type libSig struct {
	id      LibraryID
	params  []Type
	result  Type
	mutates bool
}

// libraryMethod finds the method name of a library type.
func libraryMethod(t Type, name string) (libSig, bool) {
	switch t := t.(type) {
	case *Vector:
		return vectorMethod(t, name)
	case *Map:
		return mapMethod(t, name)
	case *Set:
		return setMethod(t, name)
	case *Table:
		return tableMethod(t, name)
	case *Basic:
		switch t {
		case String:
			return stringMethod(name)
		case Bytes:
			return bytesMethod(name)
		case Time:
			return timeMethod(name)
		case Float:
			return floatMethod(name)
		}
		if IsInteger(t) {
			return intMethod(name)
		}
	}
	return libSig{}, false
}

func vectorMethod(t *Vector, name string) (libSig, bool) {
	switch name {
	case "push":
		return libSig{PushMethod, []Type{t.Elem}, Void, true}, true
	case "pop":
		return libSig{PopMethod, nil, t.Elem, true}, true
	case "insert":
		return libSig{InsertMethod, []Type{Int, t.Elem}, Void, true}, true
	case "remove":
		return libSig{RemoveMethod, []Type{Int}, t.Elem, true}, true
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "clear":
		return libSig{ClearMethod, nil, Void, true}, true
	case "sort":
		return libSig{SortMethod, nil, Void, true}, isOrdered(t.Elem) || IsValueClass(t.Elem)
	case "reversed":
		return libSig{ReversedMethod, nil, t, false}, true
	case "limit":
		return libSig{LimitMethod, []Type{Int}, t, false}, true
	case "contains":
		return libSig{ContainsMethod, []Type{t.Elem}, Bool, false}, comparable(t.Elem)
	case "slice":
		return libSig{SliceMethod, []Type{Int, Int}, t, false}, true
	case "join":
		return libSig{JoinMethod, []Type{String}, String, false}, t.Elem == String
	}
	return libSig{}, false
}

func mapMethod(t *Map, name string) (libSig, bool) {
	switch name {
	case "has":
		return libSig{HasMethod, []Type{t.Key}, Bool, false}, true
	case "get":
		return libSig{GetMethod, []Type{t.Key}, makeOptional(t.Value), false}, true
	case "keys":
		return libSig{KeysMethod, nil, &Vector{t.Key}, false}, true
	case "values":
		return libSig{ValuesMethod, nil, &Vector{t.Value}, false}, true
	case "remove":
		return libSig{RemoveMethod, []Type{t.Key}, Bool, true}, true
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "clear":
		return libSig{ClearMethod, nil, Void, true}, true
	}
	return libSig{}, false
}

func setMethod(t *Set, name string) (libSig, bool) {
	switch name {
	case "has":
		return libSig{HasMethod, []Type{t.Elem}, Bool, false}, true
	case "insert":
		return libSig{InsertMethod, []Type{t.Elem}, Bool, true}, true
	case "remove":
		return libSig{RemoveMethod, []Type{t.Elem}, Bool, true}, true
	case "keys":
		return libSig{KeysMethod, nil, &Vector{t.Elem}, false}, true
	case "values":
		return libSig{ValuesMethod, nil, &Vector{t.Elem}, false}, true
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "clear":
		return libSig{ClearMethod, nil, Void, true}, true
	}
	return libSig{}, false
}

func stringMethod(name string) (libSig, bool) {
	switch name {
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "split":
		return libSig{SplitMethod, []Type{String}, &Vector{String}, false}, true
	case "contains":
		return libSig{ContainsMethod, []Type{String}, Bool, false}, true
	case "replace":
		return libSig{ReplaceMethod, []Type{String, String}, String, false}, true
	case "parseInt":
		return libSig{ParseIntMethod, nil, &Optional{Int}, false}, true
	case "parseFloat":
		return libSig{ParseFloatMethod, nil, &Optional{Float}, false}, true
	case "parseTime":
		return libSig{ParseTimeMethod, nil, &Optional{Time}, false}, true
	case "find":
		return libSig{FindMethod, []Type{String}, &Optional{Int}, false}, true
	case "startsWith":
		return libSig{StartsWithMethod, []Type{String}, Bool, false}, true
	case "endsWith":
		return libSig{EndsWithMethod, []Type{String}, Bool, false}, true
	case "trim":
		return libSig{TrimMethod, nil, String, false}, true
	case "lower":
		return libSig{LowerMethod, nil, String, false}, true
	case "upper":
		return libSig{UpperMethod, nil, String, false}, true
	case "repeat":
		return libSig{RepeatMethod, []Type{Int}, String, false}, true
	}
	return libSig{}, false
}

func bytesMethod(name string) (libSig, bool) {
	switch name {
	case "size":
		return libSig{SizeMethod, nil, Int, false}, true
	case "push":
		return libSig{PushMethod, []Type{Uint8}, Void, true}, true
	case "pop":
		return libSig{PopMethod, nil, Uint8, true}, true
	case "clear":
		return libSig{ClearMethod, nil, Void, true}, true
	}
	return libSig{}, false
}

func timeMethod(name string) (libSig, bool) {
	switch name {
	case "year":
		return libSig{YearMethod, nil, Int, false}, true
	case "month":
		return libSig{MonthMethod, nil, Int, false}, true
	case "day":
		return libSig{DayMethod, nil, Int, false}, true
	case "hour":
		return libSig{HourMethod, nil, Int, false}, true
	case "minute":
		return libSig{MinuteMethod, nil, Int, false}, true
	case "second":
		return libSig{SecondMethod, nil, Int, false}, true
	case "weekday":
		return libSig{WeekdayMethod, nil, Int, false}, true
	}
	return libSig{}, false
}

func floatMethod(name string) (libSig, bool) {
	switch name {
	case "format":
		return libSig{FormatMethod, []Type{Int}, String, false}, true
	}
	return libSig{}, false
}

func intMethod(name string) (libSig, bool) {
	switch name {
	case "format":
		return libSig{FormatMethod, []Type{Int, Int}, String, false}, true
	}
	return libSig{}, false
}

// libraryCall checks a method of a library type.
func (b *body) libraryCall(x *ast.Call, recv ast.Expr, name ast.Name, t Type, optional bool) operand {
	sig, ok := libraryMethod(t, name.Text)
	if !ok {
		b.noLibraryMethod(t, name, sig)
		for _, a := range x.Args {
			if !b.meansField(a, t) {
				b.loose(a)
			}
		}
		b.timer(x)
		return invalid
	}
	b.undecorated(x, "a method of a value")
	if table, ok := t.(*Table); ok && (sig.id == FindMethod || sig.id == RangeMethod || sig.id == SortedMethod) {
		return b.query(x, recv, table, sig, optional)
	}
	info := &Call{Kind: LibraryCall, Library: sig.id, Recv: recv, RecvType: t, Optional: optional, Params: sig.params, Result: sig.result}
	full := t.String() + "." + name.Text
	if v, ok := t.(*Vector); ok && sig.id == SortMethod && IsValueClass(v.Elem) {
		info.Fields = b.sortFields(x, v.Elem.(*Class))
	} else if b.builtinCount(x, full, sig.params, len(sig.params)) {
		for i, p := range sig.params {
			b.assign(x.Args[i], p, "argument "+plainNumber(i+1)+" of "+full)
		}
	}
	if optional {
		info.Result = makeOptional(sig.result)
	}
	if sig.mutates {
		if store, ok := b.mutatedPath(recv, optional); ok {
			b.addStore(x, store)
		}
	}
	return b.recordCall(x, info)
}

// meansField reports whether x, an argument of a method that vectors do not have, names a field of the elements, as for sort.
func (b *body) meansField(x ast.Expr, t Type) bool {
	id, ok := x.(*ast.Ident)
	v, vector := t.(*Vector)
	if !ok || !vector || b.lookup(id, nil) != nil {
		return false
	}
	class, ok := v.Elem.(*Class)
	return ok && class.members[id.Name] != nil
}

// sortFields reads the names of the fields by which objects are sorted. As in queries of tables they hide variables.
func (b *body) sortFields(x *ast.Call, class *Class) []*Var {
	if len(x.Args) == 0 {
		b.errorf(diag.BadArgCount, x, "sort takes the fields by which %s objects are sorted", class.name).Help = "as in `list.sort(price)`, or `list.sort(city, price)`"
	}
	var list []*Var
	for _, a := range x.Args {
		id, ok := a.(*ast.Ident)
		if !ok {
			b.errorf(diag.UnknownMember, a, "the name of a field of %s stands here", class.name).Help = "objects are sorted by their fields, as in `list.sort(city, price)`"
			continue
		}
		v := b.column(diag.UnknownMember, class, ast.Name{Loc: id.Loc, Text: id.Name})
		switch {
		case v == nil || v.typ == Invalid:
		case !isOrdered(v.typ):
			b.report(diag.New(diag.TypeMismatch, a.Span(), "objects cannot be sorted by %s: %s has no order", v.name, aType(v.typ)).
				With(v.span, "declared here").
				WithHelp("numbers, strings, bytes, time and duration have an order"))
		default:
			list = append(list, v)
		}
	}
	return list
}

func plainNumber(n int) string { return strconv.Itoa(n) }

func (b *body) noLibraryMethod(t Type, name ast.Name, sig libSig) {
	switch {
	case sig.id == SortMethod:
		d := b.errorAt(diag.UnknownMember, name.Span(), "%s cannot be sorted: its elements have no order", t)
		d.Help = "numbers, strings, bytes, time and duration have an order"
	case sig.id == JoinMethod:
		b.errorAt(diag.UnknownMember, name.Span(), "%s has no method join: only a vector<string> has", t)
	default:
		b.noMember(t, name, true)
	}
}
