// Package callpath says where in a program something happens: it has the places on a stack of Go, without those of the
// runtime and of what the compiler adds.
package callpath

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Frame is one place in a program.
type Frame struct {
	Func string
	File string
	Line int
}

// String returns file:line (func).
func (f Frame) String() string { return fmt.Sprintf("%s:%d (%s)", f.File, f.Line, f.Func) }

// Short writes a place for users to whom the directories of the machine that has built the program mean
// nothing: bank.aeon:17 (Bank.transfer). A _ behind the name of a class is that of generated code.
func (f Frame) Short() string {
	name := f.Func[strings.LastIndexByte(f.Func, '/')+1:]
	_, name, _ = strings.Cut(name, ".") // behind the package
	return fmt.Sprintf("%s:%d (%s)", filepath.Base(f.File), f.Line, strings.NewReplacer("(*", "", "_)", "", ")", "").Replace(name))
}

// Here returns the places of the program on the stack of its caller, innermost
// first. Called in a deferred function it also sees where a panic came from.
func Here() []Frame {
	var stack [128]uintptr
	return Of(stack[:runtime.Callers(2, stack[:])])
}

// runtimePackages are skipped: code of events passes through them. Workers begin in sync, or in iter.
var runtimePackages = []string{
	"runtime.", "sync.(*WaitGroup).Go", "iter.Pull", "github.com/aeon-lang/aeon/runtime.",
	"github.com/aeon-lang/aeon/runtime/exec.", "github.com/aeon-lang/aeon/runtime/activation.", "github.com/aeon-lang/aeon/runtime/across.", "github.com/aeon-lang/aeon/runtime/nodes.", "github.com/aeon-lang/aeon/runtime/order.", "github.com/aeon-lang/aeon/runtime/sched.", "github.com/aeon-lang/aeon/runtime/value.", "github.com/aeon-lang/aeon/runtime/table.", "github.com/aeon-lang/aeon/runtime/undo.",
	"github.com/aeon-lang/aeon/internal/assert.",
}

// boundary is where a call of another store enters a stack: what waits below for the answer to a call of its own is told by the stores between.
const boundary = "github.com/aeon-lang/aeon/runtime/activation.(*Activation).within"

// Of returns the places of the program on a stack that runtime.Callers has taken, up to a call of another store. Generated dispatch code has no
// line in an .aeon file: where a stack has .aeon lines only these lines count.
func Of(stack []uintptr) []Frame {
	var all, aeon []Frame
	it := runtime.CallersFrames(stack)
	above := ""
	for {
		f, more := it.Next()
		if f.Function == boundary {
			break
		}
		if f.Function != "" && !skipped(f.Function) {
			if partOf(above, f.Function) {
				above = f.Function
				continue // Go calls a part of the function by itself: there is no call in the program
			}
			above = f.Function
			g := Frame{Func: f.Function, File: f.File, Line: f.Line}
			all = append(all, g)
			if strings.HasSuffix(f.File, ".aeon") {
				aeon = append(aeon, g)
			}
		}
		if !more {
			break
		}
	}
	if len(aeon) > 0 {
		return aeon
	}
	return all
}

// partOf reports whether the Go function part is the body of a loop or a closure, in fn or in
// another part of the function that fn is in.
func partOf(part, fn string) bool {
	whole := wholeFunc(part)
	return whole != part && whole == wholeFunc(fn)
}

// wholeFunc returns the name of the declared function that a Go function is in.
func wholeFunc(fn string) string {
	for _, mark := range []string{"-range", ".func"} {
		if i := strings.Index(fn, mark); i > 0 && i+len(mark) < len(fn) && '0' <= fn[i+len(mark)] && fn[i+len(mark)] <= '9' {
			fn = fn[:i]
		}
	}
	return fn
}

func skipped(fn string) bool {
	for _, p := range runtimePackages {
		if strings.HasPrefix(fn, p) {
			return true
		}
	}
	return false
}

// Attributes returns the attributes of a path in a log: the place of the failure, and the whole path where that is longer.
func Attributes(path []Frame) []any {
	switch len(path) {
	case 0:
		return nil
	case 1:
		return []any{"at", path[0]}
	}
	return []any{"at", path[0], "path", path}
}
