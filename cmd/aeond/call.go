package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/aeon-lang/aeon/client"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

func callCommand() *cli.Command {
	return &cli.Command{
		Name:  "call",
		Args:  "--data DIR | --at ADDRESS,… [--key KEY] ACTOR.METHOD [ARGUMENTS]",
		Short: "call a method of an actor of a program that runs",
		Long: `
Call runs a method as an event, and writes its result as JSON. The arguments are a JSON object with their names, - to
read it from standard input, or nothing for a method without parameters. The program must run;
with --data it need not listen. With --key the call happens once, however often it is made. The
exit code is 1 if the program refuses it.

A call to a cluster goes to one node after the other until one answers, for two minutes, and
happens once. If none does, it says that the call has not happened (unavailable), or that this is not
known (unknown): then make it again, with the same key. With --data it asks the
node in DIR first, and then those that this node knows, unless they ask for TLS or tokens; --at
names addresses, as HOST:PORT, and --token the file with the token of the caller. On other machines
they are called by https; http://HOST:PORT, without a token, is for what stands before a program there.

	aeond call --data /var/lib/shop Shop/main.total
	aeond call --data /var/lib/shop Shop/main.put '{"name": "pen", "cents": 120}'
	aeond call --data /var/lib/shop --key 5f1c Cart:12:7.add - < item.json
	aeond call --at https://a.example:8443,https://b.example:8443 --token ann.token Shop/main.total`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			var c calling
			fs.StringVar(&c.dir, "data", "", "the data directory `DIR`")
			fs.StringVar(&c.at, "at", "", "the `ADDRESS` at which the program listens; of a cluster those of several nodes, with commas between")
			fs.StringVar(&c.token, "token", "", "with --at: the `FILE` with the token of the caller")
			fs.StringVar(&c.key, "key", "", "`KEY` of the request, which happens once; a UUID for example")
			return func(env *cli.Env, args []string) error {
				if len(args) == 0 || len(args) > 2 {
					return cli.Usagef("name a method of an actor, as Shop/main.total, and give its arguments as one JSON object")
				}
				return c.call(env, args[0], append(args, "")[1])
			}
		},
	}
}

// calling says how a call is made.
type calling struct{ dir, at, token, key string }

func (c *calling) call(env *cli.Env, what, args string) error {
	actor, method, ok := splitCall(what)
	switch {
	case !ok:
		return cli.Usagef("%q is no method of an actor; write CLASS/NAME.METHOD, or CLASS:ID.METHOD", what)
	case c.dir == "" && c.at == "":
		return cli.Usagef("name the directory with --data, or an address with --at")
	case c.token != "" && c.at == "":
		return cli.Usagef("--token is for the addresses of --at")
	case args == "-":
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		args = string(text)
	}
	cfg, err := c.places()
	if err != nil {
		return err
	}
	program, err := client.New(cfg)
	if err != nil {
		return cli.Usagef("--at: %v", err)
	}
	var given any
	if args != "" {
		given = json.RawMessage(args) // the program finds what is wrong with it
	}
	var opts []client.Option
	if c.key != "" {
		opts = append(opts, client.Key(c.key))
	}
	var result json.RawMessage
	err = program.Call(context.Background(), actor, method, given, &result, opts...)
	if failed, is := errors.AsType[*client.Error](err); is {
		said := failed.Error()
		for _, p := range failed.Path {
			said += "\n\tat " + p
		}
		env.Say("call: %s", said)
		return cli.Code(cli.ExitProblem)
	}
	if err != nil {
		return err
	}
	_, err = env.Stdout.Write(result)
	return err
}

// places returns where the program is called: over the socket in its directory first.
func (c *calling) places() (client.Config, error) {
	var cfg client.Config
	if c.dir != "" {
		runs, err := c.running()
		if err != nil {
			return cfg, err
		}
		if runs {
			socket, err := httpdoor.ClientOf(c.dir)
			if err != nil {
				return cfg, err
			}
			cfg.URLs = append(cfg.URLs, "http://"+socketHost)
			cfg.HTTP = &http.Client{Transport: bySocket{socket.Transport, http.DefaultTransport}}
		}
	}
	for _, a := range strings.Split(c.at, ",") {
		u, err := c.url(a)
		if err != nil {
			return cfg, err
		}
		if c.at != "" {
			cfg.URLs = append(cfg.URLs, u)
		}
	}
	if c.at == "" && isNode(c.dir) {
		for _, a := range membersBy(c.dir) {
			cfg.URLs = append(cfg.URLs, "http://"+a)
		}
	}
	if c.token != "" {
		b, err := os.ReadFile(c.token)
		if err != nil {
			return cfg, err
		}
		cfg.Token = strings.TrimSpace(string(b))
	}
	return cfg, nil
}

// url returns the URL of an address of --at. A program listens without TLS on its own machine alone.
func (c *calling) url(at string) (string, error) {
	scheme, host, given := strings.Cut(at, "://")
	local := httpdoor.IsLocal(host) || httpdoor.IsLocal(at) || strings.HasPrefix(at, ":")
	switch {
	case !given && local:
		return "http://" + at, nil
	case !given:
		return "https://" + at, nil
	case scheme == "http" && !local && c.token != "":
		return "", cli.Usagef("--at: %s would be sent the token unencrypted; write https://%s", at, host)
	}
	return at, nil
}

// running reports whether a process uses the directory. That none does is an error if there is no other place to call.
func (c *calling) running() (bool, error) {
	answer, err := ask(c.dir, http.MethodGet, "/healthz", nil, "", nil)
	switch {
	case err == nil:
		return true, answer.Body.Close()
	case !errors.Is(err, errNoProcess):
		return false, err
	case c.at != "":
		return false, nil
	case isNode(c.dir):
		return false, fmt.Errorf("the node of %s does not run; call others with --at HOST:PORT", c.dir)
	}
	db, err := openUnused(c.dir)
	if err != nil {
		return false, err
	}
	return false, errors.Join(fmt.Errorf("no process uses %s, and a call needs the program; start it: aeond start --app PROGRAM --data %[1]s", c.dir), db.Close())
}

// membersBy returns where clients reach the other nodes without TLS and tokens, as the one of a directory says.
func membersBy(dir string) (list []string) {
	s, err := statusOf(dir, "")
	if err != nil {
		return nil // the call itself says what is wrong
	}
	for _, n := range s.Nodes {
		if _, port, err := net.SplitHostPort(n.Listen); err == nil && port != "0" && n.Open && n.ID != s.By {
			list = append(list, n.Listen)
		}
	}
	return list
}

// socketHost is the host of requests that go over the socket, as the process that serves it has it.
const socketHost = "localhost"

// bySocket sends requests over the socket of a process, or to where they are addressed.
type bySocket struct{ socket, others http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t bySocket) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == socketHost {
		return t.socket.RoundTrip(r)
	}
	return t.others.RoundTrip(r)
}

// splitCall splits CLASS/NAME.METHOD, or CLASS:ID.METHOD.
func splitCall(what string) (actor, method string, ok bool) {
	dot := strings.LastIndexByte(what, '.')
	at := strings.IndexAny(what, "/:")
	if at <= 0 || dot < at+2 || dot == len(what)-1 {
		return "", "", false
	}
	return what[:dot], what[dot+1:], true
}
