// The driver of TestAPIBorder: a program in Go that calls a program by its API.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sync"

	"generated/kinds"

	"github.com/aeon-lang/aeon"
)

var ctx = context.Background()

var failures, values, read int

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func main() {
	db := must(kinds.Open(ctx, aeon.InMemory()))
	for _, test := range all {
		test(db)
	}
	must(0, db.Close())
	fmt.Printf("%d values, %d of them also as JSON\n", values, read)
	if failures > 0 || values == 0 || read*2 < values {
		os.Exit(1)
	}
}

type (
	giver[T any]  func(context.Context, ...aeon.CallOption) (T, error)
	taker[T any]  func(context.Context, T, ...aeon.CallOption) error
	passer[T any] func(context.Context, T, ...aeon.CallOption) (T, error)
	// told passes a value, and returns it as two callbacks have got it.
	told[T any] func(context.Context, T) (first, second T)
)

// ear receives a value.
type ear[T any] struct{ heard chan T }

func (e ear[T]) Heard(_ context.Context, v T) { e.heard <- v }

// teller returns what passes a value to tell, with an object of a client class whose interface is E.
func teller[T, E, R any](db *kinds.DB, object func(*aeon.Client, E) R, tell func(context.Context, R, T, ...aeon.CallOption) error) told[T] {
	return func(ctx context.Context, v T) (first, second T) {
		c, e := db.NewClient(), ear[T]{make(chan T, 2)}
		must(0, tell(ctx, object(c, any(e).(E)), v))
		first, second = <-e.heard, <-e.heard
		c.Close()
		<-c.Done()
		return first, second
	}
}

// check changes what it gets from an actor and passes to it, while others look at the actor.
func check[T any](name string, get, fresh giver[T], put taker[T], pass passer[T], fail taker[T], show giver[string], tell told[T]) {
	same := func(what, got, want string) {
		if got != want {
			failures++
			fmt.Printf("%s: %s is\n\t%s\nand should be\n\t%s\n", name, what, got, want)
		}
	}
	state := func() string { return must(show(ctx)) }
	text := func(v T) string { // as the program sees it
		was := must(get(ctx))
		must(0, put(ctx, v))
		defer func() { must(0, put(ctx, was)) }()
		return state()
	}
	was := state()
	for _, give := range []giver[T]{get, fresh, func(context.Context, ...aeon.CallOption) (T, error) { return pass(ctx, must(get(ctx))) }} {
		values++
		first, second := must(give(ctx)), must(give(ctx))
		other := text(second)
		beside(state, func() { mutate(&first) })
		same("the actor, as a result was changed,", state(), was)
		same("another result", text(second), other)
	}
	for _, take := range []taker[T]{put, func(_ context.Context, v T, _ ...aeon.CallOption) error { _, err := pass(ctx, v); return err }} {
		v := must(fresh(ctx))
		mutate(&v)
		want := text(v)
		must(0, take(ctx, v))
		beside(state, func() { mutate(&v) })
		same("the actor, as an argument was changed,", state(), want)
	}
	for _, v := range []T{must(fresh(ctx)), must(get(ctx))} {
		values++
		want := text(v)
		first, second := tell(ctx, v)
		same("what a callback has got", text(first), want)
		must(0, put(ctx, v))
		beside(state, func() { mutate(&first) })
		same("the actor, as the argument of a callback was changed,", state(), want)
		same("the argument of another callback", text(second), want)
	}
	want := state()
	v := must(fresh(ctx))
	if err := fail(ctx, v); !errors.Is(err, aeon.ErrAborted) || err.Error() != "no" {
		panic(err)
	}
	mutate(&v)
	same("the actor, after an abort,", state(), want)
	for _, v := range []T{must(fresh(ctx)), must(get(ctx)), *new(T)} {
		data, err := json.Marshal(v)
		var number *json.UnsupportedValueError // no number, or infinite
		if errors.As(err, &number) {
			continue
		}
		read++
		var again T
		must(0, json.Unmarshal(must(data, err), &again))
		zero := reflect.ValueOf(&v).Elem().IsZero() // time.Time{} is not a time of a program
		if _, err := pass(ctx, v); err != nil && zero && errors.Is(err, aeon.ErrArguments) {
			continue
		}
		same("what was read from "+string(data), text(again), text(v))
	}
}

// beside runs f while another goroutine looks at an actor.
func beside(look func() string, f func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 3 {
			look()
		}
	})
	f()
	wg.Wait()
}

// mutate changes all that Go code can reach from an address.
func mutate(p any) { change(reflect.ValueOf(p).Elem()) }

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
	case reflect.Pointer:
		if !v.IsNil() {
			change(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			change(v.Index(i))
		}
		if n := v.Len(); n > 0 && v.Cap() > n {
			change(v.Slice(0, n+1).Index(n)) // what append would overwrite
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(k))
			change(e) // it may refer to what others have
			v.SetMapIndex(k, e)
		}
		if v.Len() > 1 {
			v.SetMapIndex(v.MapKeys()[0], reflect.Value{})
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).CanSet() {
				change(v.Field(i))
			}
		}
	default:
		panic("no way to change a " + v.Kind().String())
	}
}
