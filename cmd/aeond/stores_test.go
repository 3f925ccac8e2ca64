package main

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// What is missing is taken out of the lines, or handed on, and ends them; all else is handed on as it came, however long its lines are.
func TestPartial(t *testing.T) {
	const bufferBytes = 4096 // of a bufio.Reader: what follows begins there
	long := `{"text":"` + strings.Repeat("x", bufferBytes-len(`{"text":"`)) + `{"missing":1,"why":"a part of a line"}` + strings.Repeat("x", 2*bufferBytes) + `"}` + "\n"
	const line = `{"missing":2,"why":"store 2 has no leader"}` + "\n"
	for _, c := range []struct {
		what, text string
		keep       bool
		want, err  string
	}{
		{"nothing", "", false, "", ""},
		{"whole lines", "{}\n" + long + "{}\n", false, "{}\n" + long + "{}\n", ""},
		{"a store is missing", "{}\n" + long + line, false, "{}\n" + long, "store 2 has no leader"},
		{"a store is missing, and that is told", line + "{}\n", true, line + "{}\n", "store 2 has no leader"},
		{"a store is missing twice", line + "{}\n" + line, false, "{}\n", "store 2 has no leader"},
		{"all stores are", line + strings.ReplaceAll(line, "2", "0"), false, "", "store 2 has no leader; store 0 has no leader"},
		{"no line", `{"state":`, false, `{"state":`, ""},
	} {
		for _, from := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := io.ReadAll(newPartial(from, c.keep))
			text := ""
			if gone := new(missingError); errors.As(err, &gone) {
				text = gone.Error()
			} else if err != nil {
				t.Error(err)
			}
			if string(got) != c.want || text != c.err {
				t.Errorf("%s: %.100q (%s)", c.what, got, text)
			}
		}
	}
}
