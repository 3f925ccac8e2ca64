// Package plants proves the suites of the semantics: it plants bugs into the compiler and the
// runtime, one at a time, and requires that a suite catches each.
//
//	go test ./spec/plants -plants -v -timeout 60m
//
// What caught which is written down in plants.md.
package plants

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	run  = flag.Bool("plants", false, "plant each bug and run the suites until one catches it; takes about half an hour")
	only = flag.String("plant", "", "plant those bugs alone whose names match")
)

// plant is a bug: in file, the text from, which occurs once, becomes to.
type plant struct{ name, file, from, to string }

var plants = []plant{
	{"swapped operands", "codegen/operator.go",
		`return fresh(t, checked[op]+"("+a.code+", "+b.code+")")`,
		`return fresh(t, checked[op]+"("+b.code+", "+a.code+")")`},
	{"early release", "runtime/exec/failure.go",
		"if planted.releaseEarly && cx ==",
		"if cx =="},
	{"missed undo", "runtime/exec/undo.go",
		"if planted.forgetUndo && len(log) > 0 {",
		"if len(log) > 0 {"},
	{"sub-event sent on abort", "runtime/exec/event.go",
		"\t\t\t\treturn ev.endCancelled()\n\t\t\t}\n\t\t\tev.undo()",
		"\t\t\t\treturn ev.endCancelled()\n\t\t\t}\n\t\t\tnext := follow{ev: ev}\n\t\t\tnext.add(ev.root.ops)\n\t\t\tdefer next.start()\n\t\t\tev.undo()"},
	{"ro hole", "typecheck/readonly.go",
		"if site.from.offence == nil {",
		"if false {"},
	{"yield leak", "typecheck/yield.go",
		"(info.Library == PushMethod || info.Library == InsertMethod || info.Library == PutMethod)",
		"info.Library == InsertMethod"},
	{"footprint too small", "typecheck/effects_describe.go",
		"for k, mode := range all {\n",
		"for k, mode := range all {\n\t\tif k.path.elem == ElemAt {\n\t\t\tmode = Read\n\t\t}\n"},
	{"timer of a helper", "typecheck/effects_call.go",
		"\tif s.issuer {\n",
		"\tif false {\n"},
	{"wrong revalidation", "runtime/exec/plant.go", // what a field leads to is looked up without a hold, and not again with it
		"// Plant plants the bug",
		"func init() { planted.narrowAtPass = true }\n\n// Plant plants the bug"},
	{"lost async branch", "runtime/exec/branch.go",
		"\tcx.branches = append(cx.branches, b)\n",
		""},
	{"wrong timer order", "runtime/exec/timer.go",
		"return t.generation < u.generation",
		"return t.generation > u.generation"},
	{"a step lets others in", "runtime/exec/tail.go", // the actor that a chain keeps is free before the step that it is kept for
		"ev.outSeq, ev.maxPos = next.seq, next.pos\n",
		"ev.outSeq, ev.maxPos = next.seq, next.pos\n\t\tch.leave()\n"},
	{"sub-event comes again", "runtime/exec/decide.go", // its row outlives its end
		"if ev.outSeq == 0 || planted.outboxKept {",
		"if ev.outSeq == 0 || ev.issuer != nil {"},
	{"constructor without locks", "runtime/exec/admit.go", // of a client's new: what it is given is not locked
		"if ev.gather(); !ev.members.touches() {",
		"if ev.gather(); true {"},
	{"issued events overtake", "runtime/exec/turn.go", // one another, of one client to one actor
		"placed()\n\treturn o.append(t)",
		"placed()\n\tt.state = outside\n\treturn true"},
	{"second field not stored", "runtime/exec/prepare.go", // of the fields that an event has assigned
		"w.fields.Field(obj, int(f.field), f.changes, f.whole)",
		"if i == 0 || len(f.changes) > 0 || !h.is(created) || h.is(fresh) {\n\t\t\tw.fields.Field(obj, int(f.field), f.changes, f.whole)\n\t\t}"},
	{"known states hide failures", "spec/explore/explore.go", // a state is looked up before the search asks whether the order has failed
		"if s.m.Failure() != nil && !s.cfg.KeepGoing {\n",
		"if s.m.Failure() != nil && !s.cfg.KeepGoing && s.seen[s.m.Digest()] == nil {\n"},
	{"an abort is no failure", "spec/machine.go", // of a test, where no client learns of it
		"if (m.entry.Test || f.Assert) &&",
		"if f.Assert &&"},
	{"a chain fails unheard", "spec/tail.go",
		"\t\tm.unheard(failure)\n",
		""},
	{"a callback fails unheard", "spec/machine.go",
		"\t\tm.unheard(t.failure)\n",
		""},
	{"a pending value fails unheard", "spec/step.go",
		"\tm.hearUnclaimed()\n",
		""},
}

// suites are tried in this order.
var suites = []struct{ name, pkg, test string }{
	{"explorer", "./spec/explore", "TestSearchAgreesWithEveryOrder"},
	{"golden", "./spec/golden", "TestGoldenPrograms"},
	{"ill-typed programs", "./spec/generate", "."},
	{"differ", "./spec/differ", "."},
	{"trace", "./spec/trace", "."},
}

// caught are the tests that failed: the names of the goldens, say.
var caught = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// TestPlantsFit checks that each bug can still be planted.
func TestPlantsFit(t *testing.T) {
	for _, p := range plants {
		if _, err := p.planted(); err != nil {
			t.Error(err)
		}
	}
}

// TestPlantedBugsAreCaught plants each bug, by an overlay that the Go command compiles instead of the file.
func TestPlantedBugsAreCaught(t *testing.T) {
	if !*run {
		t.Log("only with -plants")
		return
	}
	filter := regexp.MustCompile(*only)
	for _, p := range plants {
		if filter.MatchString(p.name) {
			t.Run(strings.ReplaceAll(p.name, " ", "-"), p.isCaught)
		}
	}
}

func (p plant) isCaught(t *testing.T) {
	overlay := p.overlay(t)
	for _, s := range suites {
		out, err := goTest(t, overlay, s.pkg, s.test)
		if err == nil {
			continue
		}
		names := caught.FindAllStringSubmatch(out, -1)
		if len(names) == 0 || strings.Contains(out, "[build failed]") || strings.Contains(out, "go refuses generated code") {
			t.Fatalf("%s: %s did not run:\n%s", p.name, s.name, out)
		}
		var list []string
		for _, n := range names {
			if strings.Contains(n[1], "/") { // a case, and not the test that it is part of
				list = append(list, n[1][strings.LastIndexByte(n[1], '/')+1:])
			}
		}
		t.Logf("%s: caught by %s: %s", p.name, s.name, strings.Join(list, ", "))
		return
	}
	t.Errorf("%s: no suite has caught it", p.name)
}

// planted returns the text of the file with the bug.
func (p plant) planted() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, p.file))
	if err != nil {
		return nil, err
	}
	if n := strings.Count(string(text), p.from); n != 1 {
		return nil, fmt.Errorf("%s: %q occurs %d times in %s, and has to occur once", p.name, p.from, n, p.file)
	}
	return []byte(strings.Replace(string(text), p.from, p.to, 1)), nil
}

var root = filepath.Join("..", "..")

// overlay writes the file with the bug and returns the path of the overlay.
func (p plant) overlay(t *testing.T) string {
	t.Helper()
	text, err := p.planted()
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(filepath.Join(root, p.file))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bug, overlay := filepath.Join(dir, "bug.go"), filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: bug}})
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{bug: text, overlay: list} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

func goTest(t *testing.T, overlay, pkg, test string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", test, pkg)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
