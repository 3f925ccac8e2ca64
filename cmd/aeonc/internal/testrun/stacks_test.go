package testrun

import (
	"path/filepath"
	"testing"
)

func TestStacksShowTheProgram(t *testing.T) {
	const dump = `SIGQUIT: quit
PC=0x53d2c5 m=0 sigcode=0

goroutine 7 gp=0x1a [running]:
github.com/aeon-lang/aeon/runtime/undo.Field[...](0x1)
	/cache/aeon/runtime/undo/log.go:61 +0x245 fp=0x1 sp=0x2
aeon.invalid/p98/hangs.(*Stuck).forever(0x1)
	/src/hangs.aeon:12 +0x39
aeon.invalid/p98/hangs.aeonTest1(0x1)
	/src/hangs.aeon:18 +0x59

goroutine 1 gp=0x1a [chan receive]:
main.main()
	/cache/main.go:15 +0x50
`
	const want = "it was here:\n\tat hangs.aeon:12\n\tat hangs.aeon:18\n"
	if got := programStacks(dump, filepath.Base); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := programStacks("fatal error: x\n", nil); got != "fatal error: x\n" {
		t.Errorf("a dump without places of the program became %q", got)
	}
}
