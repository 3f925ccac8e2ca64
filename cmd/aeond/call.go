package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
)

func callCommand() *cli.Command {
	return &cli.Command{
		Name:  "call",
		Args:  "--data DIR [--key KEY] ACTOR.METHOD [ARGUMENTS]",
		Short: "call a method of an actor of a program that runs",
		Long: `
Call runs a method as an event, and writes its result as JSON. The arguments are a JSON object with their names, - to
read it from standard input, or nothing for a method without parameters. The program must run;
it need not listen. With --key the call happens once, however often it is made. The exit code is 1
if the program refuses it.

	aeond call --data /var/lib/shop Shop/main.total
	aeond call --data /var/lib/shop Shop/main.put '{"name": "pen", "cents": 120}'
	aeond call --data /var/lib/shop --key 5f1c Cart:12:7.add - < item.json`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the data directory `DIR`")
			key := fs.String("key", "", "`KEY` of the request, which happens once; a UUID for example")
			return func(env *cli.Env, args []string) error {
				if len(args) == 0 || len(args) > 2 {
					return cli.Usagef("name a method of an actor, as Shop/main.total, and give its arguments as one JSON object")
				}
				return call(env, *dir, *key, args[0], append(args, "")[1])
			}
		},
	}
}

func call(env *cli.Env, dir, key, what, args string) error {
	path, ok := callPath(what)
	switch {
	case !ok:
		return cli.Usagef("%q is no method of an actor; write CLASS/NAME.METHOD, or CLASS:ID.METHOD", what)
	case dir == "":
		return cli.Usagef("name the directory with --data")
	case args == "-":
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		args = string(text)
	}
	head := http.Header{}
	if args != "" {
		head.Set("Content-Type", "application/json")
	}
	if key != "" {
		head.Set("Idempotency-Key", key)
	}
	answer, err := ask(dir, http.MethodPost, path, nil, args, head)
	if refused := new(answerError); errors.As(err, &refused) {
		env.Say("call: %v", refused)
		return cli.Code(cli.ExitProblem)
	}
	if errors.Is(err, errNoProcess) {
		db, err := openUnused(dir)
		if err != nil {
			return err
		}
		return errors.Join(fmt.Errorf("no process uses %s, and a call needs the program; start it: aeond start --app PROGRAM --data %[1]s", dir), db.Close())
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(env.Stdout, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

// callPath returns the path of a call of CLASS/NAME.METHOD or CLASS:ID.METHOD.
func callPath(what string) (path string, ok bool) {
	dot := strings.LastIndexByte(what, '.')
	at := strings.IndexAny(what, "/:")
	if at <= 0 || dot < at {
		return "", false
	}
	key := what[at:dot]
	if what[at] == '/' {
		key = key[1:]
	}
	method := what[dot+1:]
	if key == "" || key == ":" || method == "" {
		return "", false
	}
	return "/v1/" + url.PathEscape(what[:at]) + "/" + url.PathEscape(key) + "/" + url.PathEscape(method), true
}
