package testrun

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// frameLine is the line of a Go stack that names a file and a line.
var frameLine = regexp.MustCompile(`^\s+(\S.*\.aeon):(\d+)`)

// programStacks picks from Go's dump of all stacks what the program was doing: for
// every goroutine that runs code of the program the places in it, innermost
// first. A dump without any is returned as it is.
func programStacks(dump string, place func(string) string) string {
	var b strings.Builder
	for goroutine := range strings.SplitSeq(dump, "\n\n") {
		var places []string
		for line := range strings.Lines(goroutine) {
			if m := frameLine.FindStringSubmatch(line); m != nil {
				file := filepath.FromSlash(m[1])
				if place != nil {
					file = place(file)
				}
				places = append(places, fmt.Sprintf("\tat %s:%s\n", file, m[2]))
			}
		}
		if len(places) > 0 {
			fmt.Fprintf(&b, "it was here:\n%s", strings.Join(places, ""))
		}
	}
	if b.Len() == 0 {
		return dump
	}
	return b.String()
}
