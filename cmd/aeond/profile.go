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
		Args:  "--data DIR [--seconds N] [--out FILE] [--store N] " + strings.Join(profileKinds, "|"),
		Short: "take a profile of a running program, which \"go tool pprof\" reads",
		Long: `
Profile writes a profile of the process that uses a data directory to a file: where its processors' time goes (cpu), what is on its
heap, where its goroutines are, where they wait (block), or for which mutexes (mutex). Those of cpu, block and mutex take
--seconds, and the program is a little slower meanwhile. Of a cluster it is the process of the node in the directory, or that of
another one if this one runs no actors; with --store N that of the leader of store N.

	aeond profile --data /var/lib/shop cpu
	aeond profile --data /var/lib/shop --seconds 30 --out slow.pprof mutex
	go tool pprof -top slow.pprof`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			seconds := fs.Uint("seconds", 10, "for how long cpu, block and mutex are profiled: `N` seconds")
			out := fs.String("out", "", "the `FILE`; KIND.pprof")
			narrow := storeFlag(fs)
			return func(env *cli.Env, args []string) error {
				query := url.Values{}
				if err := narrow(*dir, query); err != nil {
					return err
				}
				switch {
				case len(args) != 1 || !slices.Contains(profileKinds, args[0]):
					return cli.Usagef("name one profile: %s", strings.Join(profileKinds, ", "))
				case *out == "":
					*out = args[0] + ".pprof"
				}
				query.Set("kind", args[0])
				query.Set("seconds", strconv.FormatUint(uint64(*seconds), 10))
				return profile(env, *dir, query, *out)
			}
		},
	}
}

func profile(env *cli.Env, dir string, query url.Values, file string) (err error) {
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
