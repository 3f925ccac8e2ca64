package cli

import (
	"io"
	"os"
	"time"
)

// Env is what a command may use of the world.
type Env struct {
	Tool   string // the name under which progress is reported
	Stdin  io.Reader
	Stdout *Output
	Stderr io.Writer
	// SilenceMax is how long a command that runs says nothing; 0 is silenceMax.
	SilenceMax time.Duration

	mu      progress
	unwatch func() // ends what watch has begun; nil if it has not
}

// NewEnv returns the environment of this process.
func NewEnv(tool string) *Env {
	return &Env{Tool: tool, Stdin: os.Stdin, Stdout: NewOutput(os.Stdout), Stderr: os.Stderr}
}

// Output is standard output. It keeps the first error: a command whose output could not be
// written, on a full disk, must not end as if it had been.
type Output struct {
	to  io.Writer
	err error
}

// NewOutput returns an output that goes to w.
func NewOutput(w io.Writer) *Output { return &Output{to: w} }

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
