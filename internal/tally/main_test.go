package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	const input = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"T1"}
{"Action":"output","Package":"a","Test":"T1","Output":"it says \"Action\":\"fail\" \n"}
{"Action":"pass","Package":"a","Test":"T1","Elapsed":0.1}
{"Action":"skip","Package":"a","Test":"T2"}
{"Action":"pass","Package":"a","Elapsed":0.2}
{"Action":"output","Package":"b","Test":"T3/sub","Output":"why\n"}
{"Action":"fail","Package":"b","Test":"T3/sub"}
{"Action":"fail","Package":"b","Test":"T3"}
{"Action":"fail","Package":"b"}
{"ImportPath":"c","Action":"build-output","Output":"c.go:1: broken\n"}
{"Action":"fail","Package":"c"}
go: something in plain text
`
	var out bytes.Buffer
	tl := newTally(&out)
	if err := tl.read(strings.NewReader(input)); err != nil {
		t.Fatal(err)
	}
	if tl.passed != 1 || tl.failed != 3 {
		t.Errorf("%d passed, %d failed; want 1 and 3", tl.passed, tl.failed)
	}
	for _, want := range []string{"--- FAIL: b T3/sub\nwhy\n", "c.go:1: broken", "--- FAIL: c", "something in plain text", "pass   a 0.20s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "it says") {
		t.Error("the output of a passed test is shown")
	}
}

// What was running when go test was killed is named: it is what a developer must look at.
func TestTallyNamesWhatHadNotEnded(t *testing.T) {
	const input = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"T1"}
{"Action":"pass","Package":"a","Test":"T1"}
{"Action":"pass","Package":"a"}
{"Action":"start","Package":"b"}
{"Action":"run","Package":"b","Test":"T2"}
{"Action":"output","Package":"b","Test":"T2","Output":"said before\n"}
{"Action":"start","Package":"c"}
`
	var out bytes.Buffer
	tl := newTally(&out)
	if err := tl.read(strings.NewReader(input)); err != nil {
		t.Fatal(err)
	}
	if tl.passed != 1 || tl.failed != 2 {
		t.Errorf("%d passed, %d failed; want 1 and 2", tl.passed, tl.failed)
	}
	for _, want := range []string{"--- FAIL: b T2\nsaid before\n    it had not ended\n", "--- FAIL: c\n    it had not ended\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not shown in\n%s", want, out.String())
		}
	}
}
