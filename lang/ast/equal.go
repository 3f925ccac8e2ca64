package ast

import (
	"fmt"
	"reflect"
	"strings"
)

// Equal reports whether two trees are the same but for their places, comments
// and layout. Of a modifier's span it compares whether the modifier is there.
func Equal(a, b Node) bool {
	return equal(reflect.ValueOf(a), reflect.ValueOf(b))
}

var (
	spanType    = reflect.TypeFor[Span]()
	locType     = reflect.TypeFor[Loc]()
	sourceType  = reflect.TypeFor[*Source]()
	groupType   = reflect.TypeFor[*CommentGroup]()
	commentType = reflect.TypeFor[[]*Comment]()
)

// isLayout reports whether a field of type t says where and how, not what.
func isLayout(t reflect.Type) bool {
	return t == locType || t == sourceType || t == groupType || t == commentType
}

func equal(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	if a.Type() == spanType {
		return a.Interface().(Span).IsValid() == b.Interface().(Span).IsValid()
	}
	switch a.Kind() {
	case reflect.Interface, reflect.Pointer:
		return equal(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !isLayout(a.Type().Field(i).Type) && !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	default:
		return a.Equal(b)
	}
}

// Dump prints a tree for developers and golden files: one node per line, named by
// its type, with its plain fields behind it and its children indented. Places and
// comments are left out.
func Dump(n Node) string {
	var out strings.Builder
	dump(&out, reflect.ValueOf(n), "", "")
	return out.String()
}

func dump(out *strings.Builder, v reflect.Value, indent, label string) {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		v = v.Elem()
	}
	if !v.IsValid() {
		return
	}
	fmt.Fprintf(out, "%s%s%s", indent, label, v.Type().Name())
	scalars(out, v)
	out.WriteByte('\n')
	children(out, v, indent+"  ")
}

// scalars prints the fields of a node that are not nodes and not zero.
func scalars(out *strings.Builder, v reflect.Value) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		if isLayout(f.Type) || field.IsZero() {
			continue
		}
		switch x := field.Interface().(type) {
		case Name:
			fmt.Fprintf(out, " %s=%s", f.Name, x.Text)
		case *Name:
			fmt.Fprintf(out, " %s=%s", f.Name, x.Text)
		case []Name:
			fmt.Fprintf(out, " %s=", f.Name)
			for i, n := range x {
				if i > 0 {
					out.WriteByte(',')
				}
				out.WriteString(n.Text)
			}
		case Span:
			if !strings.HasSuffix(f.Name, "Pos") {
				fmt.Fprintf(out, " %s", f.Name)
			}
		case bool:
			fmt.Fprintf(out, " %s", f.Name)
		case string:
			fmt.Fprintf(out, " %s=%q", f.Name, x)
		case Signature:
			scalars(out, field)
		default:
			switch field.Kind() {
			case reflect.Uint8, reflect.Uint64, reflect.Int64, reflect.Float64:
				fmt.Fprintf(out, " %s=%v", f.Name, x)
			}
		}
	}
}

func children(out *strings.Builder, v reflect.Value, indent string) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		if isLayout(f.Type) || field.IsZero() {
			continue
		}
		switch field.Interface().(type) {
		case Name, *Name, []Name, Span:
			continue
		case Signature:
			children(out, field, indent)
			continue
		}
		switch field.Kind() {
		case reflect.Slice:
			for j := range field.Len() {
				dump(out, field.Index(j), indent, label(f.Name))
			}
		case reflect.Interface, reflect.Pointer:
			dump(out, field, indent, label(f.Name))
		}
	}
}

// label leaves out names that say no more than the position does.
func label(field string) string {
	switch field {
	case "Decls", "Members", "Stmts", "Values", "Cases", "Funcs", "X":
		return ""
	}
	return field + ": "
}
