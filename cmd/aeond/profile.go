package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

var profileKinds = []string{"cpu", "heap", "goroutine", "block", "mutex"}

func profileCommand() *cli.Command {
	return &cli.Command{
		Name:  "profile",
		Args:  "--data DIR [--seconds N] [--out FILE] " + strings.Join(profileKinds, "|"),
		Short: "take a profile of a running program, which \"go tool pprof\" reads",
		Long: `
Profile writes a profile of the process that uses a data directory to a file: where its processors' time goes (cpu), what is on its
heap, where its goroutines are, where they wait (block), or for which mutexes (mutex). Those of cpu, block and mutex take
--seconds, and the program is a little slower meanwhile.

	aeond profile --data /var/lib/shop cpu
	aeond profile --data /var/lib/shop --seconds 30 --out slow.pprof mutex
	go tool pprof -top slow.pprof`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			seconds := fs.Uint("seconds", 10, "for how long cpu, block and mutex are profiled: `N` seconds")
			out := fs.String("out", "", "the `FILE`; KIND.pprof")
			return func(env *cli.Env, args []string) error {
				switch {
				case len(args) != 1 || !slices.Contains(profileKinds, args[0]):
					return cli.Usagef("name one profile: %s", strings.Join(profileKinds, ", "))
				case *out == "":
					*out = args[0] + ".pprof"
				}
				return profile(env, *dir, args[0], *seconds, *out)
			}
		},
	}
}

func profile(env *cli.Env, dir, kind string, seconds uint, file string) (err error) {
	query := url.Values{"kind": {kind}, "seconds": {strconv.FormatUint(uint64(seconds), 10)}}
	answer, err := askRunning(dir, httpdoor.ProfilePath, query, "there is nothing to profile")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, content, 0o666); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %d bytes; read it with: go tool pprof %[1]s\n", file, len(content))
	return err
}
