package main

import "flag"

// traceFlags are the flags with which a program writes a trace.
type traceFlags struct {
	file   string
	states bool
}

func (t *traceFlags) flags(fs *flag.FlagSet) {
	fs.StringVar(&t.file, "trace", "", "write a record of every event to `FILE`")
	fs.BoolVar(&t.states, "trace-states", false, "with --trace: add hashes of the actors' fields, which takes time")
}

// arguments returns the flags for an executable that aeonc has made.
func (t *traceFlags) arguments() []string {
	if t.file == "" {
		return nil
	}
	args := []string{"-trace", t.file}
	if t.states {
		args = append(args, "-trace-states")
	}
	return args
}
