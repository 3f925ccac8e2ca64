// The driver of TestBorder: a program in Go that calls a generated package.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"generated/kinds"

	aeonrt "github.com/aeon-lang/aeon/runtime"
)

type test struct {
	name string
	run  func(*aeonrt.Client)
}

// border is how values of one type pass to and from an actor.
type border[T any] struct {
	get, fresh           func(*aeonrt.Client) (T, error)
	put, fail            func(*aeonrt.Client, T) error
	pass                 func(*aeonrt.Client, T) (T, error)
	getEvent, freshEvent func(*aeonrt.Client) aeonrt.Pending[T]
	passEvent            func(*aeonrt.Client, T) aeonrt.Pending[T]
	putEvent             func(*aeonrt.Client, T) aeonrt.Pending[struct{}]
	show                 func(*aeonrt.Client) (string, error)
	text                 func(*aeonrt.Client, T) (string, error)
	fill                 func(*aeonrt.Client, T)
	fetch                func(*aeonrt.Client) T
	made                 func(*aeonrt.Client, T) (func(*aeonrt.Client) (string, error), error)
	screen               func(cl *aeonrt.Client, v, w T) func(change func()) []string
}

var name string // of the type that is tested

var failures, values int

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// same compares the texts of a value before and after something else was changed.
func same(what, got, want string) {
	if got != want {
		failures++
		fmt.Printf("%s: %s is\n\t%s\nafterwards, and was\n\t%s\n", name, what, got, want)
	}
}

func check[T any](cl *aeonrt.Client, b border[T]) {
	state := func() string { return must(b.show(cl)) }
	text := func(v T) string { return must(b.text(cl, v)) }
	was := state()
	for how, get := range map[string]func() T{
		"a result":                     func() T { return must(b.get(cl)) },
		"a fresh result":               func() T { return must(b.fresh(cl)) },
		"what was awaited":             func() T { return must(b.getEvent(cl).Await()) },
		"what a function has returned": func() T { return b.fetch(cl) },
	} {
		first, second := get(), get()
		other := text(second)
		mutate(&first)
		same("the actor, as "+how+" was changed,", state(), was)
		same("another result, as "+how+" was changed,", text(second), other)
	}
	for _, p := range []aeonrt.Pending[T]{b.getEvent(cl), b.freshEvent(cl), b.passEvent(cl, must(b.get(cl)))} {
		first, second := must(p.Await()), must(p.Await())
		other := text(second)
		mutate(&first)
		same("what was awaited twice", text(second), other)
		same("what was awaited three times", text(must(p.Await())), other)
	}
	for how, put := range map[string]func(T) func(){
		"an argument":                func(v T) func() { check1(b.put(cl, v)); return func() {} },
		"an argument of a chain":     func(v T) func() { must(b.pass(cl, v)); return func() {} },
		"an argument of what waits":  func(v T) func() { p := b.putEvent(cl, v); return func() { must(p.Await()) } },
		"an argument of a function":  func(v T) func() { b.fill(cl, v); return func() {} },
		"an argument of what failed": func(v T) func() { was := must(b.get(cl)); _ = b.fail(cl, v); return func() { check1(b.put(cl, was)) } },
	} {
		v := must(b.fresh(cl))
		mutate(&v)
		want := text(v)
		if how == "an argument of what failed" {
			want = state()
		}
		end := put(v)
		mutate(&v)
		end()
		same("the actor, as "+how+" was changed,", state(), want)
	}
	v := must(b.fresh(cl))
	want := text(v)
	show := must(b.made(cl, v))
	mutate(&v)
	same("a new actor, as an argument of new was changed,", must(show(cl)), want)

	v, w := must(b.fresh(cl)), must(b.get(cl))
	for i, got := range b.screen(cl, v, w)(func() { mutate(&v); mutate(&w) }) {
		if i == 2 {
			break
		}
		same("a client object, as what it has got was changed,", got, want)
	}
	for _, v := range []T{must(b.fresh(cl)), must(b.get(cl)), *new(T)} {
		values++
		data, err := json.Marshal(v)
		if f, ok := any(v).(float64); ok && (f != f || f > 1e308) {
			continue // package json alone sees that
		}
		if err != nil {
			panic(err)
		}
		var read T
		if err := json.Unmarshal(data, &read); err != nil {
			panic(fmt.Errorf("%s: %w", data, err))
		}
		same("what was read from "+string(data), text(read), text(v))
		same("what was written once more", string(must(json.Marshal(read))), string(data))
	}
}

func check1(err error) {
	if err != nil {
		panic(err)
	}
}

// hitters do to a container, at its address, what functions of the runtime can do.
var hitters = map[reflect.Type]func(any){}

func register[C any](hit func(*C)) {
	hitters[reflect.TypeFor[C]()] = func(p any) { hit(p.(*C)) }
}

func hitVector[T any](v *aeonrt.Vector[T]) {
	for i := range v.Size() {
		e := v.At(i)
		mutateBelow(&e)
		aeonrt.SetAt(v, i, e)
		mutateBelow(aeonrt.RefAt(v, i))
	}
	if v.Size() > 0 && v.Size() < 5 {
		aeonrt.Push(v, v.At(0))
		aeonrt.InsertAt(v, 0, v.At(1))
		aeonrt.RemoveAt(v, 1)
	}
}

func hitMap[K comparable, V any](m *aeonrt.Map[K, V]) {
	for _, k := range m.Keys().Items() {
		aeonrt.UpdateEntry(m, k, func(v *V) { mutateBelow(v) })
		e := m.At(k)
		mutateBelow(&e)
	}
	if keys := m.Keys().Items(); len(keys) > 1 {
		aeonrt.RemoveKey(m, keys[0])
	}
}

func hitSet[K comparable](s *aeonrt.Set[K]) {
	if keys := s.Keys().Items(); len(keys) > 1 {
		aeonrt.RemoveMember(s, keys[0])
	}
}

func hitOpt[T any](o *aeonrt.Opt[T]) {
	if !o.IsNull() {
		mutateBelow(o.Ref("it"))
	}
}

func hitBox[T any](b *aeonrt.Box[T]) {
	if !b.IsNull() {
		v := b.Value()
		mutateBelow(&v)
		mutateBelow(b.Ref("it"))
	}
}

const depthMax = 9

var depth int

// mutate changes everything that Go code can reach from an address.
func mutate(p any) {
	depth = 0
	mutateBelow(p)
}

func mutateBelow(p any) {
	depth++
	defer func() { depth-- }()
	if depth <= depthMax {
		change(reflect.ValueOf(p).Elem())
	}
}

func change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Int64:
		v.SetInt(v.Int() + 1000)
	case reflect.Uint8, reflect.Uint16:
		if v.Type() == reflect.TypeFor[kinds.Color]() {
			v.SetUint((v.Uint() + 1) % 3)
		} else {
			v.SetUint(v.Uint() + 1)
		}
	case reflect.Float64:
		v.SetFloat(v.Float()/2 + 17)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "!")
	case reflect.Slice:
		for i := range v.Len() {
			mutateBelow(v.Index(i).Addr().Interface())
		}
	case reflect.Struct:
		if _, ref := v.Type().FieldByName("Ref"); ref {
			return
		}
		if hit := hitters[v.Type()]; hit != nil {
			try(func() { hit(v.Addr().Interface()) }) // the keys may have been changed below a map
		}
		for _, hidden := range reached(v) {
			mutateBelow(hidden)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				mutateBelow(v.Field(i).Addr().Interface())
			}
		}
	}
}

// try calls f, which may fail: values that Go code has changed may contradict themselves.
func try(f func()) {
	defer func() { _ = recover() }()
	f()
}

// reached calls the exported methods of a value and returns the addresses of what they have returned.
func reached(v reflect.Value) (list []any) {
	p := v.Addr()
	for i := range p.NumMethod() {
		m := p.Type().Method(i)
		if strings.HasPrefix(m.Name, "Unmarshal") || m.Name == "MarkShared" || m.Name == "Share" {
			continue // they change v itself, or return it
		}
		var args []reflect.Value
		for j := range m.Type.NumIn() - 1 {
			t := m.Type.In(j + 1)
			arg := reflect.Zero(t)
			if t.Kind() == reflect.Func {
				arg = reflect.MakeFunc(t, func(args []reflect.Value) []reflect.Value {
					for _, a := range args {
						list = append(list, address(a))
					}
					return nil
				})
			}
			args = append(args, arg)
		}
		try(func() {
			for _, r := range p.Method(i).Call(args) {
				if r.Type() != v.Type() {
					list = append(list, address(r))
				}
			}
		})
	}
	return list
}

// address returns the address of what r is, or points to, or of a copy of it.
func address(r reflect.Value) any {
	if r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	if r.Kind() == reflect.Pointer && !r.IsNil() {
		return r.Interface()
	}
	if !r.IsValid() {
		return new(int64)
	}
	p := reflect.New(r.Type())
	p.Elem().Set(r)
	return p.Interface()
}

// checkShelf does the same for rows of a table.
func checkShelf(cl *aeonrt.Client) {
	name = "table<Row>"
	shelf := kinds.ShelfRef{Ref: aeonrt.Named(cl, &kinds.AeonClassShelf, "s")}
	was := must(shelf.Show(cl))
	rows := must(shelf.All(cl))
	mutate(&rows)
	same("a table, as the rows were changed,", must(shelf.Show(cl)), was)
	row := must(shelf.Get(cl, "a"))
	mutate(&row)
	same("a table, as a row was changed,", must(shelf.Show(cl)), was)
	given := must(shelf.Get(cl, "a")).Value()
	check1(shelf.Put(cl, given))
	mutate(&given)
	same("a table, as an argument was changed,", must(shelf.Show(cl)), was)
}

// checkCard compares JSON with what it shall look like.
func checkCard(cl *aeonrt.Client) {
	name = "Card"
	const want = `{"Amount":7,"what":"GREEN","raw":[1,2],"note":"aGk=","memo":null,"seen":{"aw==":true},"owner":"Name/bob","all":["Name/ann"],` +
		`"at":"1970-01-01T00:00:00Z","took":"1m30s","rate":1.5,"root":null}`
	card := kinds.MakeCardClient(cl)
	same("the JSON", string(must(json.Marshal(card))), want)
	for text, wrong := range map[string]string{
		`{"owner":"Name/bob"}`:          `Card.owner: "Name/bob" names an actor, and JSON gives no reference to it; get that from an actor, or by Named`,
		`{"what":"PINK"}`:               `Card.what: "PINK" is none of the constants ["RED" "GREEN" "BLUE"]`,
		`{"seen":{"aw==":1}}`:           `Card.seen: aw==: json: cannot unmarshal number into Go value of type bool`,
		`{"raw":[1,300]}`:               `Card.raw: 1: json: cannot unmarshal number 300 into Go value of type uint8`,
		`{"at":"3000-01-01T00:00:00Z"}`: `Card.at: parsing time "3000-01-01T00:00:00Z": a time is as RFC 3339 has it, between the years 1677 and 2262`,
		`{"rate":"much"}`:               `Card.rate: "much" is neither a number nor NaN, Infinity or -Infinity`,
		`[]`:                            `Card: json: cannot unmarshal array into Go value of type map[string]json.RawMessage`,
	} {
		err := json.Unmarshal([]byte(text), new(kinds.Card))
		same("the error of "+text, fmt.Sprint(err), wrong)
	}
	read := kinds.Card{Amount: 1}
	check1(json.Unmarshal([]byte(`{"took":"5s","owner":null,"unknown":[]}`), &read))
	same("what was read", string(must(json.Marshal(read))), `{"Amount":1,"what":"RED","raw":[],"note":"","memo":null,"seen":{},"owner":null,"all":[],`+
		`"at":"1970-01-01T00:00:00Z","took":"5s","rate":0,"root":null}`)
	_, err := json.Marshal(kinds.Tree{Name: "\xff"})
	if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		same("the error of a string that is not UTF-8", fmt.Sprint(err), "it is not UTF-8")
	}
}

func main() {
	for _, t := range all {
		name = t.name
		system := aeonrt.Open(aeonrt.Config{Seed: 1})
		t.run(system.Client())
		system.Close()
	}
	system := aeonrt.Open(aeonrt.Config{Seed: 1})
	checkShelf(system.Client())
	checkCard(system.Client())
	system.Close()
	if failures > 0 {
		fmt.Println(failures, "failures")
		os.Exit(1)
	}
	fmt.Println(values, "values written and read")
}
