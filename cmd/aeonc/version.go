package main

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/build"
)

func versionCommand() *command {
	return &command{
		name:  "version",
		short: "print the version of aeonc, of Go and of the runtime",
		long: `
Version prints the version of aeonc, the Go it was built with, the hash of the
runtime source that it carries, and the Go toolchain that would compile programs.
Programs with the same runtime hash behave the same.`,
		setup: func(*flag.FlagSet) action {
			return func(env *environment, args []string) error {
				if len(args) > 0 {
					return usagef("there are no arguments, but %q was given", args[0])
				}
				rt := aeon.RuntimeSource()
				fmt.Fprintf(env.stdout, "aeonc %s %s/%s, built with %s\n", version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
				fmt.Fprintf(env.stdout, "runtime %s, needs Go %s or newer\n", rt.Hash[:16], rt.GoVersion)
				fmt.Fprintf(env.stdout, "toolchain %s\n", build.DescribeToolchain(rt.GoVersion))
				return nil
			}
		},
	}
}

// version is what the module or version control knows of this build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
