package main

import (
	"flag"

	"github.com/aeon-lang/aeon/build"
)

func cleanCommand() *command {
	return &command{
		name:  "clean",
		short: "delete the cache",
		long: `
Clean deletes the directory in which aeonc keeps generated Go and finished
programs. Nothing is lost: the next run makes again what it needs. Go's own build
cache stays; "go clean -cache" deletes that.`,
		setup: func(*flag.FlagSet) action {
			return func(env *environment, args []string) error {
				if len(args) > 0 {
					return usagef("there are no arguments, but %q was given", args[0])
				}
				cache, err := build.DefaultCache()
				if err != nil {
					return err
				}
				freed, err := cache.Clean()
				if err != nil {
					return err
				}
				env.say("deleted %s (%.1f MB)", cache.Dir(), float64(freed)/1e6)
				return nil
			}
		},
	}
}
