package runtime

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A program whose trace cannot be written any more says so while it runs, once, and when it ends.
func TestATraceThatCannotBeWrittenIsToldAtOnce(t *testing.T) {
	insist() // Go makes channels for signals, once, which must not be those of a bubble
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		var early string
		main := func(*Client) {
			<-time.After(time.Hour)
			synctest.Wait()
			early = said.String()
		}
		code := runMain(&Package{Name: "demo", Main: main}, []string{"--trace", "/dev/full"}, io.Discard, &said, nil)
		if strings.Count(early, "level=ERROR") != 1 || !strings.Contains(early, "/dev/full: no space left on device") {
			t.Errorf("while it ran it said %q", early)
		}
		if at := strings.TrimPrefix(said.String(), early); code != exitFailed || !strings.HasPrefix(at, "demo: the trace is not complete: ") {
			t.Errorf("at the end: code %d, stderr %q", code, at)
		}
	})
}
