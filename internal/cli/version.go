package cli

import (
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

// VersionCommand returns the command that says what a tool is made of.
func VersionCommand() *Command {
	return &Command{
		Name:  "version",
		Short: "print the version, and those of Go and of the runtime",
		Long: `
Version prints the version of this tool, the Go it was built with, the hash of the
runtime source that it carries, and the Go toolchain that would compile programs.
Programs with the same runtime hash behave the same.`,
		Setup: func(*flag.FlagSet) Action {
			return NoArguments(func(env *Env) error {
				rt := aeon.RuntimeSource()
				fmt.Fprintf(env.Stdout, "%s %s %s/%s, built with %s\n", env.Tool, version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
				fmt.Fprintf(env.Stdout, "runtime %s, needs Go %s or newer\n", rt.Hash[:16], rt.GoVersion)
				fmt.Fprintf(env.Stdout, "toolchain %s\n", gobuild.DescribeToolchain(rt.GoVersion))
				return nil
			})
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
