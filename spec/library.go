package spec

import (
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// library is a method of a library type that does not change its receiver.
func (f *frame) library(x *ast.Call, c *typecheck.Call, recv value, args []value) value {
	switch c.Library {
	case typecheck.SizeMethod:
		return intValue(sizeOf(recv))
	case typecheck.SliceMethod:
		return f.part(x, recv, args[0], args[1])
	case typecheck.JoinMethod:
		return f.join(x, recv, args[0])
	}
	switch r := recv.(type) {
	case string:
		return f.stringMethod(x, c.Library, r, args)
	case instant:
		return r.part(c.Library)
	case integer:
		return f.formatInt(x, r, args[0].(integer), args[1].(integer))
	case float64:
		return f.formatFloat(x, r, args[0].(integer))
	case *vector:
		switch c.Library {
		case typecheck.ContainsMethod:
			return slices.ContainsFunc(r.elems, func(e value) bool { return equal(e, args[0]) })
		case typecheck.ReversedMethod:
			elems := slices.Clone(r.elems)
			slices.Reverse(elems)
			return &vector{elems: elems}
		case typecheck.LimitMethod:
			n := args[0].(integer).bits
			if n < 0 {
				f.fail(x, fmt.Sprintf("limit %d", n))
			}
			return &vector{elems: slices.Clone(r.elems[:min(n, int64(len(r.elems)))])}
		}
	case *rows:
		return rowsMethod(c, r, args)
	case *table:
		switch c.Library {
		case typecheck.HasMethod:
			_, ok := r.find(args[0])
			return ok
		case typecheck.GetMethod:
			v, _ := r.get(args[0])
			return v
		case typecheck.KeysMethod:
			return r.keys()
		case typecheck.ValuesMethod:
			if r.set {
				return r.keys()
			}
			return r.values()
		}
	}
	panic(bug{"no rule for the method " + c.Library.String()})
}

// change is a method of a library type that changes its receiver: the receiver as it is
// afterwards, and the result.
func (f *frame) change(x *ast.Call, c *typecheck.Call, recv value, args []value) (changed, result value) {
	switch r := recv.(type) {
	case *vector:
		return f.changeVector(x, c, r, args)
	case *table:
		return changeTable(c.Library, r, args)
	case *rows:
		return f.changeRows(x, c.Library, r, args)
	case byteString:
		switch c.Library {
		case typecheck.PushMethod:
			return r + byteString([]byte{byte(args[0].(integer).bits)}), nil
		case typecheck.PopMethod:
			if len(r) == 0 {
				f.fail(x, msgEmpty)
			}
			return r[:len(r)-1], octet(r[len(r)-1])
		case typecheck.ClearMethod:
			return byteString(""), nil
		}
	case nil:
		f.fail(x, msgNull)
	}
	panic(bug{"no rule for the method " + c.Library.String()})
}

func (f *frame) changeVector(x *ast.Call, c *typecheck.Call, v *vector, args []value) (changed, result value) {
	if c.Library == typecheck.PushMethod {
		return v.push(args[0]), nil
	}
	elems := slices.Clone(v.elems)
	switch c.Library {
	case typecheck.PopMethod:
		n := len(elems)
		if n == 0 {
			f.fail(x, msgEmpty)
		}
		return &vector{elems: elems[:n-1]}, elems[n-1]
	case typecheck.InsertMethod:
		i := f.position(x, args[0])
		if i < 0 || i > int64(len(elems)) {
			f.fail(x, indexText(i, len(elems)))
		}
		return &vector{elems: slices.Insert(elems, int(i), args[1])}, nil
	case typecheck.RemoveMethod:
		i := f.inRange(x, args[0], len(elems))
		return &vector{elems: slices.Delete(elems, i, i+1)}, v.elems[i]
	case typecheck.ClearMethod:
		return emptyVector(), nil
	case typecheck.SortMethod:
		slices.SortStableFunc(elems, func(a, b value) int { return compareBy(c.Fields, a, b) })
		return &vector{elems: elems}, nil
	}
	panic(bug{"no rule for the method " + c.Library.String()})
}

// compareBy compares objects by these fields, and other values by themselves.
func compareBy(fields []*typecheck.Var, a, b value) int {
	if fields == nil {
		return compare(a, b)
	}
	for _, v := range fields {
		if n := compare(a.(*structure).fields[v.Index], b.(*structure).fields[v.Index]); n != 0 {
			return n
		}
	}
	return 0
}

func changeTable(id typecheck.LibraryID, t *table, args []value) (changed, result value) {
	switch id {
	case typecheck.InsertMethod:
		_, had := t.find(args[0])
		return t.with(args[0], nil), !had
	case typecheck.RemoveMethod:
		_, had := t.find(args[0])
		return t.without(args[0]), had
	case typecheck.ClearMethod:
		return &table{set: t.set}, nil
	}
	panic(bug{"no rule for the method " + id.String()})
}
