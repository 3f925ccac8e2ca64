package callpath_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/value"
)

// names returns the functions of a path that are in this file, innermost first.
func names(path []callpath.Frame) (list []string) {
	for _, f := range path {
		if name, ok := strings.CutPrefix(f.Func, "github.com/aeon-lang/aeon/runtime/callpath_test."); ok {
			list = append(list, name)
		}
	}
	return list
}

//go:noinline
func once(yield func(int) bool) { yield(1) }

// looped takes its path in a loop. Go makes the body of the loop a function, which another function calls.
//
//go:noinline
func looped() (path []callpath.Frame) {
	for range once {
		func() { path = callpath.Here() }()
	}
	return path
}

//go:noinline
func calling() []callpath.Frame { return looped() }

// Bodies of loops and closures are no calls. Of several frames of one function in a row only the innermost counts.
func TestPartsOfAFunctionAreNoCalls(t *testing.T) {
	path := names(calling())
	if len(path) != 5 || !strings.HasPrefix(path[0], "looped.") || !slices.Equal(path[1:], []string{"once", "looped", "calling", t.Name()}) {
		t.Errorf("path %q", path)
	}
}

// The path of a panic, taken in a deferred function, begins where the panic came from; the runtime is left out, Go's and ours.
func TestPathOfAPanic(t *testing.T) {
	var path []callpath.Frame
	func() {
		defer func() {
			_ = recover()
			path = callpath.Here()
		}()
		fails(value.VectorOf[int64]())
	}()
	if got := names(path); len(got) == 0 || !slices.Contains(got, "fails") {
		t.Errorf("path %q", got)
	}
	for _, f := range path {
		if strings.HasPrefix(f.Func, "runtime.") || strings.Contains(f.Func, "/value.") {
			t.Errorf("the path shows %v", f)
		}
	}
}

// begin is a variable so that Go does not inline the function, which would make what begins a worker part of its caller.
var begin = (*sync.WaitGroup).Go

// A path that begins in a worker has no place of the worker.
func TestPathInAWorker(t *testing.T) {
	var group sync.WaitGroup
	var path []callpath.Frame
	begin(&group, func() { path = callpath.Here() })
	group.Wait()
	if got := names(path); !slices.Equal(got, []string{t.Name() + ".func1"}) || len(path) != 1 {
		t.Errorf("path %v", path)
	}
}

func fails(v value.Vector[int64]) int64 { return v.At(0) }

// Where a stack has lines of .aeon files the others do not count.
func TestLinesOfAeonCountAlone(t *testing.T) {
	path := dispatched(callpath.Here)
	if len(path) != 1 || !strings.HasSuffix(path[0].File, "p.aeon") || path[0].Line != 7 {
		t.Errorf("path %v", path)
	}
}

// dispatched calls f as generated code does, whose lines are in a file of the program. It stands last, since the rest of
// this file has such lines.
func dispatched(f func() []callpath.Frame) []callpath.Frame {
//line p.aeon:7
	return f()
}
