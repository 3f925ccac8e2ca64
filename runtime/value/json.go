package value

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unicode/utf8"
)

// Values that Go code has got from a program are written as plain JSON: vectors and sets are arrays, maps are objects,
// an optional value is the value or null, a value class is an object with all the fields that the program gives it.
// Keys of objects are texts: numbers in decimal, bytes in base64, and the rest as the values themselves are written. A
// float that JSON has no number for is the string NaN, Infinity or -Infinity. A string that is not UTF-8 is an error,
// since JSON cannot hold it.
//
// Reading follows package encoding/json: a field that is missing stays as it is, one that is unknown is left out, and
// null leaves a value as it is whose type has no null.

// MarshalJSON implements json.Marshaler: an array.
func (v Vector[T]) MarshalJSON() ([]byte, error) { return arrayJSON(v.EachElem) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Vector[T]) UnmarshalJSON(data []byte) error {
	var elems []T
	return readParts(data, func(part json.RawMessage) error {
		var e T
		err := readJSON(part, &e)
		elems = append(elems, e)
		return err
	}, func() { *v = VectorOf(elems...) })
}

// MarshalJSON implements json.Marshaler: an array in ascending order.
func (s Set[K]) MarshalJSON() ([]byte, error) { return arrayJSON(s.EachElem) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Set[K]) UnmarshalJSON(data []byte) error {
	var read Set[K]
	return readParts(data, func(part json.RawMessage) error {
		var k K
		err := readJSON(part, &k)
		AddMember(&read, k)
		return err
	}, func() { *s = read })
}

// MarshalJSON implements json.Marshaler: an object, with the keys in their order.
func (m Map[K, V]) MarshalJSON() ([]byte, error) {
	b, key := []byte{'{'}, any(nil)
	err := each(m.EachElem, func(x any) (err error) {
		if key == nil {
			key = x
			return nil
		}
		text, err := keyText(key)
		if err == nil {
			b, err = appendField(b, text, x)
		}
		key = nil
		return err
	})
	return append(b, '}'), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Map[K, V]) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var read Map[K, V]
	for text, part := range parts {
		var k K
		var v V
		if err := readKey(text, &k); err != nil {
			return err
		}
		if read.Has(k) {
			return fmt.Errorf("the key %q is there twice", text)
		}
		if err := readJSON(part, &v); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		SetEntry(&read, k, v)
	}
	*m = read
	return nil
}

// MarshalJSON implements json.Marshaler: the value, or null.
func (o Opt[T]) MarshalJSON() ([]byte, error) { return orNull(o.EachElem) }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Opt[T]) UnmarshalJSON(data []byte) error {
	var v T
	null := string(data) == "null"
	if !null {
		if err := readJSON(data, &v); err != nil {
			return err
		}
	}
	*o = SomeIf(v, !null)
	return nil
}

// MarshalJSON implements json.Marshaler: the value, or null.
func (b Box[T]) MarshalJSON() ([]byte, error) { return orNull(b.EachElem) }

// UnmarshalJSON implements json.Unmarshaler.
func (b *Box[T]) UnmarshalJSON(data []byte) error {
	var o Opt[T]
	err := o.UnmarshalJSON(data)
	if err == nil {
		*b = BoxIf(o.Get())
	}
	return err
}

// MarshalObject returns an object with the given names and values, which alternate.
func MarshalObject(fields ...any) ([]byte, error) {
	b := []byte{'{'}
	var err error
	for i := 0; i < len(fields) && err == nil; i += 2 {
		b, err = appendField(b, fields[i].(string), fields[i+1])
	}
	return append(b, '}'), err
}

// UnmarshalObject reads an object into the fields of a class: their names and addresses alternate.
func UnmarshalObject(data []byte, class string, fields ...any) error {
	if string(data) == "null" {
		return nil
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return fmt.Errorf("%s: %w", class, err)
	}
	for i := 0; i < len(fields); i += 2 {
		part, ok := parts[fields[i].(string)]
		if !ok {
			continue
		}
		if err := readJSON(part, fields[i+1]); err != nil {
			return fmt.Errorf("%s.%s: %w", class, fields[i], err)
		}
	}
	return nil
}

// MarshalEnum returns the name of a constant.
func MarshalEnum[E ~uint16](names []string, e E) ([]byte, error) {
	if int(e) >= len(names) {
		return nil, fmt.Errorf("there is no constant %d: the last is %d, %s", e, len(names)-1, names[len(names)-1])
	}
	return []byte(names[e]), nil
}

// UnmarshalEnum reads the name of a constant.
func UnmarshalEnum[E ~uint16](names []string, text []byte, e *E) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of the constants %q", text, names)
	}
	*e = E(i)
	return nil
}

// each calls f for the elements that visit has, until f fails.
func each(visit func(func(any)), f func(any) error) (err error) {
	visit(func(x any) {
		if err == nil {
			err = f(x)
		}
	})
	return err
}

func arrayJSON(visit func(func(any))) ([]byte, error) {
	b := []byte{'['}
	err := each(visit, func(x any) (err error) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, err = appendJSON(b, x)
		return err
	})
	return append(b, ']'), err
}

func orNull(visit func(func(any))) ([]byte, error) {
	var b []byte
	err := each(visit, func(x any) (err error) {
		b, err = appendJSON(nil, x)
		return err
	})
	if b == nil {
		b = []byte("null")
	}
	return b, err
}

// appendField appends a field of an object that begins with b.
func appendField(b []byte, name string, x any) ([]byte, error) {
	if len(b) > 1 {
		b = append(b, ',')
	}
	b, err := appendJSON(b, name)
	if err == nil {
		b, err = appendJSON(append(b, ':'), x)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return b, err
}

// NotFinite are the strings for the floats that JSON has no number for.
var NotFinite = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func appendJSON(b []byte, x any) ([]byte, error) {
	switch y := x.(type) {
	case json.Marshaler: // directly: package json would check and copy it once more on each level
		text, err := y.MarshalJSON()
		return append(b, text...), err
	case string:
		if !utf8.ValidString(y) {
			return b, fmt.Errorf("%q is not UTF-8, and JSON has no other strings; make it bytes", y)
		}
	case float64:
		for name, f := range NotFinite {
			if y == f || y != y && f != f {
				x = name
			}
		}
	}
	text, err := json.Marshal(x)
	return append(b, text...), err
}

func readJSON(data []byte, p any) error {
	if f, ok := p.(*float64); ok && len(data) > 0 && data[0] == '"' {
		var name string
		if err := json.Unmarshal(data, &name); err != nil {
			return err
		}
		if *f, ok = NotFinite[name]; !ok {
			return fmt.Errorf("%q is neither a number nor NaN, Infinity or -Infinity", name)
		}
		return nil
	}
	return json.Unmarshal(data, p)
}

// readParts reads an array part by part and then calls end.
func readParts(data []byte, part func(json.RawMessage) error, end func()) error {
	if string(data) == "null" {
		return nil
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for i, p := range parts {
		if err := part(p); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	end()
	return nil
}

// keyText returns a key as a text.
func keyText(k any) (string, error) {
	switch x := k.(type) {
	case string:
		return x, nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		return string(text), err
	}
	return fmt.Sprint(k), nil // a number or a bool
}

// readKey reads what keyText has returned.
func readKey(text string, p any) error {
	switch x := p.(type) {
	case *string:
		*x = text
		return nil
	case encoding.TextUnmarshaler:
		return x.UnmarshalText([]byte(text))
	}
	err := json.Unmarshal([]byte(text), p)
	if again, _ := keyText(reflect.ValueOf(p).Elem().Interface()); err != nil || again != text {
		return fmt.Errorf("%q is no key of type %T", text, reflect.ValueOf(p).Elem().Interface())
	}
	return nil
}
