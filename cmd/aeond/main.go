// Command aeond runs programs as servers that keep their state, and looks into the
// directories in which they keep it. `aeond help` tells how.
package main

import "github.com/aeon-lang/aeon/internal/cli"

func main() { tool().Main() }

func tool() *cli.Tool {
	return &cli.Tool{
		Name:     "aeond",
		About:    "aeond runs aeon programs as servers that keep their state, and looks into the directories\nin which they keep it.",
		Usage:    "COMMAND [flags]",
		Commands: []*cli.Command{startCommand(), statusCommand(), checkCommand(), snapshotCommand(), snapshotsCommand(), restoreCommand(), cli.VersionCommand()},
		Epilogue: epilogue,
	}
}

const epilogue = `
"aeond help COMMAND" tells more about a command. A flag may have one dash or two.

Exit codes: 0 all is well; 1 damage was found, or the program has errors; 2 the command line
is wrong; 3 the directory or the snapshots cannot be used, or there is no Go toolchain; 4 a bug
of aeon. A program that was started decides its own: 74 if its disk has failed, 128+N after
signal N.
`
