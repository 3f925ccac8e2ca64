package main

import (
	"flag"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/gobuild"
)

func cleanCommand() *cli.Command {
	return &cli.Command{
		Name:  "clean",
		Short: "delete the cache",
		Long: `
Clean deletes the directory in which aeonc keeps generated Go and finished
programs. Nothing is lost: the next run makes again what it needs. Other files in
that directory stay, and so does Go's own build cache; "go clean -cache" deletes that.`,
		Setup: func(*flag.FlagSet) cli.Action {
			return cli.NoArguments(func(env *cli.Env) error {
				cache, err := gobuild.DefaultCache()
				if err != nil {
					return err
				}
				freed, err := cache.Clean()
				if err != nil {
					return err
				}
				env.Say("deleted %s (%.1f MB)", cache.Dir(), float64(freed)/1e6)
				return nil
			})
		},
	}
}
