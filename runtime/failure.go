package runtime

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/callpath"
)

// failure is what has left main or a test.
type failure struct {
	msg   string
	path  []Frame // the places of the program, innermost first
	note  string  // a further line of the message
	stack string  // of Go, if the failure is a bug of the system
}

// call runs code of a client and returns its failure, nil if there is none.
func call(body func(*Client), cl *Client) (f *failure) {
	ended := make(chan struct{})
	go func() { // runtime.Goexit in Go code must not end main's goroutine
		defer close(ended)
		f = &failure{msg: "runtime.Goexit was called"}
		defer func() {
			if p := recover(); p != nil {
				f = failureOf(p)
			}
		}()
		body(cl)
		f = nil
	}()
	<-ended
	return f
}

// failureOf describes what code of a client panicked with. The deferred function that
// recovered calls it, as the stack there still shows the place.
func failureOf(p any) *failure {
	f := &failure{msg: fmt.Sprint(p), path: callpath.Here()}
	err, _ := p.(error)
	var abort *AbortError
	if errors.As(err, &abort) {
		if len(abort.Path) > 0 {
			f.path = abort.Path
		}
		err = abort.Cause
	}
	var bug assert.Failure
	if errors.As(err, &bug) {
		f.stack = string(debug.Stack())
	}
	return f
}

// String returns the message, and a line for every place of the call path.
func (f *failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.msg)
	for _, line := range places(f.path) {
		fmt.Fprintf(&b, "\tat %s\n", line)
	}
	if f.note != "" {
		fmt.Fprintf(&b, "\t%s\n", f.note)
	}
	if f.stack != "" {
		fmt.Fprintf(&b, "this is a bug of the runtime, not of the program; its stack:\n%s\n", f.stack)
	}
	return b.String()
}

// places writes a path for the user, innermost first. A place that follows itself, as in
// endless recursion, is written once.
func places(path []Frame) (lines []string) {
	for i := 0; i < len(path); {
		again := 1
		for i+again < len(path) && path[i+again] == path[i] {
			again++
		}
		line := place(path[i])
		if again > 1 {
			line += fmt.Sprintf(" (%d times)", again)
		}
		lines = append(lines, line)
		i += again
	}
	return lines
}

// place writes a frame for the user.
func place(f Frame) string {
	return fmt.Sprintf("%s:%d %s", shortFile(f.File), f.Line, shortFunc(f.Func))
}

// shortFile names a file relative to the current directory, if the file lies below that.
func shortFile(file string) string {
	wd, err := os.Getwd()
	if err != nil {
		return file
	}
	if rel, err := filepath.Rel(wd, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return file
}

// shortFunc turns the name that Go gives to a method into that of the program:
// path/bank.(*Account).withdraw.func1 is Account.withdraw.
func shortFunc(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	if _, rest, ok := strings.Cut(name, "."); ok {
		name = rest
	}
	for {
		i := strings.LastIndex(name, ".func")
		if i < 0 {
			break
		}
		name = name[:i]
	}
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	switch { // names that the compiler gives
	case name == "aeonMain":
		return "main"
	case strings.HasPrefix(name, "aeonTest"):
		return "test"
	}
	return name
}
