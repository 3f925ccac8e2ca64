package main

import (
	"flag"
	"fmt"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/access"
)

func tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Args:  "NAME RIGHT...",
		Short: "make a token for a caller of a program that listens",
		Long: `
Token makes a random token of 256 bits for the caller NAME. It prints the token, which goes to
the caller, and then the line for the file that a program is given with --tokens. The line has
the hash of the token only: what is printed here is the only copy of the token.

RIGHT is what the caller may call: CLASS.METHOD, CLASS.* for all methods of a class, or * for
everything. What no right names is denied (docs/http.md).

	aeond token ann Shop.order Shop.left 'Ledger.*'
	aeond token ops '*'`,
		Setup: func(*flag.FlagSet) cli.Action {
			return func(env *cli.Env, args []string) error {
				if len(args) < 2 {
					return cli.Usagef("name the caller, and behind it what it may call")
				}
				token := access.New()
				line, err := access.Line(args[0], token, args[1:])
				if err != nil {
					return cli.Usagef("%v", err)
				}
				fmt.Fprintf(env.Stdout, "%s\n%s\n", token, line)
				return nil
			}
		},
	}
}
