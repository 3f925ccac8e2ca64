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
	tl := &tally{out: &out, output: map[string][]string{}, failedIn: map[string]bool{}}
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
