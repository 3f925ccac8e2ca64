// Command aeond runs programs as servers that keep their state, and looks into the
// directories in which they keep it. `aeond help` tells how.
package main

import (
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/store"
)

func main() { tool().Main() }

func tool() *cli.Tool {
	return &cli.Tool{
		Name:     "aeond",
		About:    "aeond runs aeon programs as servers that keep their state, and looks into the directories\nin which they keep it.",
		Usage:    "COMMAND [flags]",
		Commands: []*cli.Command{startCommand(), statusCommand(), actorsCommand(), showCommand(), callCommand(), whyCommand(), timersCommand(), deadCommand(), eventsCommand(), profileCommand(), devCommand(), joinTokenCommand(), transferCommand(), removeCommand(), replaceCommand(), checkCommand(), snapshotCommand(), snapshotsCommand(), restoreCommand(), upgradeCommand(), tokenCommand(), cli.VersionCommand()},
		Epilogue: epilogue,

		UsageCode: store.ExitUsage,
	}
}

const epilogue = `
"aeond help COMMAND" tells more about a command. A flag may have one dash or two.

Exit codes: 0 all is well; 1 damage was found, or the program has errors; 3 the directory or the
snapshots cannot be used, or there is no Go toolchain; 4 a bug of aeond; 64 the command line is
wrong, and nothing was done. A program that was started decides its own: 0 it was told to end, by
Ctrl-C or SIGTERM; 2 a bug, or no memory is left; 74 its disk has failed; 128+N by a second signal N.
`
