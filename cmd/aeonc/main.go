// Command aeonc compiles, runs, tests and formats aeon programs. `aeonc help`
// tells how.
package main

import "github.com/aeon-lang/aeon/internal/cli"

func main() { tool().Main() }

func tool() *cli.Tool {
	return &cli.Tool{
		Name:  "aeonc",
		About: "aeonc compiles, runs, tests and formats aeon programs.",
		Usage: "COMMAND [flags] [arguments]",
		Commands: []*cli.Command{
			initCommand(), checkCommand(), runCommand(), testCommand(), exploreCommand(), fmtCommand(),
			buildCommand(), genCommand(), compatCommand(), graphCommand(), traceCommand(), explainCommand(), cli.VersionCommand(), cleanCommand(),
		},
		Epilogue: epilogue,
		Topics:   topics,
	}
}
