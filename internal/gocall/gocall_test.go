package gocall_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/gocall"
	"github.com/aeon-lang/aeon/internal/gocall/serve"
	"github.com/aeon-lang/aeon/internal/load"
)

// loaded returns the package of a source text.
func loaded(t *testing.T, text string) *load.Package {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.aeon")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := gobuild.NewLoader().Load(load.Unit{Dir: filepath.Dir(file), Files: []string{file}})
	if err != nil || p.HasErrors() {
		t.Fatal(err, p.Diagnostics)
	}
	return p
}

// Two calls of one function with the same arguments have one reply, whatever the function does; other arguments have another. When
// the process has ended each call has an error, except those that were made before.
func TestEqualCallsHaveOneReply(t *testing.T) {
	p := loaded(t, "package p\n\nextern go \"math/rand/v2\" { ro int IntN(int n); ro int Int64(); }\n")
	c, err := gocall.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, args ...string) string {
		t.Helper()
		var raw []json.RawMessage
		for _, a := range args {
			raw = append(raw, json.RawMessage(a))
		}
		reply, err := c.Call(serve.Request{Func: name, Args: raw, Shapes: make([]*serve.Shape, len(raw))})
		if err != nil {
			return err.Error()
		}
		return string(reply)
	}
	first := call("math/rand/v2.Int64")
	if again := call("math/rand/v2.Int64"); again != first || !strings.Contains(first, `"Ended":true`) {
		t.Errorf("the replies are %s and %s", first, again)
	}
	const large = "9000000000000000000"
	if a, b := call("math/rand/v2.IntN", large), call("math/rand/v2.IntN", large[:18]+"1"); a == b {
		t.Errorf("with other arguments the reply is the same, %s", a)
	}
	// A panic is a reply. "invalid argument to IntN" in base64.
	if got := call("math/rand/v2.IntN", "0"); got != `{"Panic":"aW52YWxpZCBhcmd1bWVudCB0byBJbnRO","Ended":false}` {
		t.Errorf("the reply to IntN(0) is %s", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := call("math/rand/v2.IntN", "7"); !strings.HasPrefix(got, "the process in which the Go function math/rand/v2.IntN ran has ended: ") {
		t.Errorf("after the end a call says %q", got)
	}
}

// Values that stay in the process are named by the calls that have made them: equal calls have made the same one.
func TestEqualCallsKeepOneValue(t *testing.T) {
	p := loaded(t, "package p\n\nextern go \"strings\" { type Replacer; pure Replacer NewReplacer(vector<string> oldnew); pure string Replacer.Replace(string s); }\n")
	c, err := gocall.Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name string, result *serve.Shape, args ...string) string {
		t.Helper()
		req := serve.Request{Func: name, Shapes: make([]*serve.Shape, len(args)), Result: result}
		for i, a := range args {
			req.Args = append(req.Args, json.RawMessage(a))
			if result == nil && i == 0 {
				req.Shapes[0] = &serve.Shape{Go: "strings.Replacer", Handle: true}
			}
		}
		raw, err := c.Call(req)
		var reply serve.Reply
		if err == nil {
			err = json.Unmarshal(raw, &reply)
		}
		if err != nil || !reply.Ended {
			t.Fatal(err, string(raw))
		}
		return string(reply.Result)
	}
	kept := &serve.Shape{Go: "strings.Replacer", Handle: true}
	ab, again, bc := call("strings.NewReplacer", kept, `["YQ==","Yg=="]`), call("strings.NewReplacer", kept, `["YQ==","Yg=="]`), call("strings.NewReplacer", kept, `["Yg==","Yw=="]`)
	if ab != again || ab == bc {
		t.Errorf("the values of the calls are %s, %s and %s", ab, again, bc)
	}
	if one, other := call("strings.Replacer.Replace", nil, ab, `"YWI="`), call("strings.Replacer.Replace", nil, bc, `"YWI="`); one != `"YmI="` || other != `"YWM="` {
		t.Errorf("a and b become %s and %s", one, other)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A program without Go functions needs no process, and no Go.
func TestNoFunctionsNoProcess(t *testing.T) {
	t.Setenv("PATH", "")
	c, err := gocall.Start(t.Context(), loaded(t, "package p\n"))
	if c != nil || err != nil {
		t.Errorf("there is a process, or an error: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
