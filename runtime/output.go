package runtime

import (
	"flag"
	"fmt"
	"io"
	"sync"

	"github.com/aeon-lang/aeon/internal/cmdline"
)

// output is where print writes. It keeps the first error, as an event cannot get it: the
// event has committed when its lines are written.
type output struct {
	to  io.Writer
	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.err == nil {
			o.err = err
		}
	}
	return n, err
}

func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// usageLine tells in a line how to call a program.
func usageLine(p *Package) string { return "usage: " + p.Name + " [flags]" }

// writeUsage tells how to call a program.
func writeUsage(w io.Writer, p *Package, own, fs *flag.FlagSet) {
	fmt.Fprintf(w, "%s\n\nAn aeon program. It ends when its main has returned and no event or one-shot timer is\nleft; the exit code is 1 if main failed.\n", usageLine(p))
	heading := "Flags"
	if len(p.Config) > 0 {
		cmdline.WriteFlags(w, "Flags of "+p.Name, own)
		heading = "Flags of every program"
	}
	cmdline.WriteFlags(w, heading, fs)
}
