package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
)

// isNode reports whether a directory is of a node of a cluster.
func isNode(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, status.IdentityFile))
	return err == nil
}

// askMax is how long a node may take to answer.
const askMax = 5 * time.Second

// statusOf returns the status of a cluster, as a node says it: the one in a directory, or at an address.
func statusOf(dir, at string) (*status.Status, error) {
	var answer *http.Response
	var err error
	if at == "" {
		ctx, cancel := context.WithTimeout(context.Background(), askMax)
		defer cancel() // when the answer is read
		answer, err = askWithin(ctx, dir, http.MethodGet, status.Path, nil, "", nil)
		if errors.Is(err, errNoProcess) {
			return nil, fmt.Errorf("%s is of a node that does not run; ask another one, with --at HOST:PORT", dir)
		}
	} else {
		if at, err = nodeAddress(at); err != nil {
			return nil, err
		}
		answer, err = (&http.Client{Timeout: askMax}).Get("http://" + at + status.Path)
		if err == nil && answer.StatusCode != http.StatusOK {
			_ = answer.Body.Close()
			err = fmt.Errorf("%s answers with %s: it is no node of a cluster, or one that tells its status over its directory alone, as it asks for tokens", at, answer.Status)
		}
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	s := &status.Status{}
	return s, json.NewDecoder(answer.Body).Decode(s)
}

// nodeAddress returns HOST:PORT of what may be written as a URL.
func nodeAddress(at string) (string, error) {
	bare := strings.TrimSuffix(strings.TrimPrefix(at, "http://"), "/")
	if _, _, err := net.SplitHostPort(bare); err != nil {
		return "", cli.Usagef("--at %s: it is to be HOST:PORT, where a node serves clients by HTTP", at)
	}
	return bare, nil
}

func clusterStatus(env *cli.Env, dir, at string, asJSON, watch bool) error {
	for {
		s, err := statusOf(dir, at)
		switch {
		case err != nil && !watch:
			return err
		case err != nil:
			env.Say("%v", err) // the next answer may come; what reads the output is to find answers alone there
		case asJSON:
			if err := json.NewEncoder(env.Stdout).Encode(s); err != nil {
				return err
			}
		default:
			if watch {
				if _, err := fmt.Fprintf(env.Stdout, "\n%s\n", time.Now().Format(time.TimeOnly)); err != nil {
					return err
				}
			}
			if _, err := io.WriteString(env.Stdout, s.String()); err != nil {
				return err
			}
		}
		if !watch {
			if code := s.ExitCode(); code != 0 {
				return cli.Code(code)
			}
			return nil
		}
		time.Sleep(time.Second)
	}
}

// order sends an operator's order to the node in a directory, and writes the answer.
func order(to io.Writer, dir, path string, query url.Values) error {
	if dir == "" {
		return cli.Usagef("name the directory of a node on this machine with --data")
	}
	if !isNode(dir) {
		return fmt.Errorf("%s is of no node of a cluster", dir)
	}
	answer, err := ask(dir, http.MethodPost, path, query, "", nil)
	if errors.Is(err, errNoProcess) {
		return fmt.Errorf("the node of %s does not run; name the directory of one that does", dir)
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(to, answer.Body)
	return err
}

func joinTokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "join-token",
		Args:  "--data DIR",
		Short: "write a token by which a node may join a cluster, once",
		Long: `
Join-token writes what a new node is given with --join: a secret that is good once and for a day,
by which the new node also knows that it talks to this cluster, and the address of this node.
It lets any machine join that has it: send it as you would a password. Written to a file it is
given as --join @FILE, and does not stand in the list of processes of the new machine. Other users
must not read the file, as with umask 077; delete it when the node has joined.

	(umask 077; aeond join-token --data /var/lib/shop > token)`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the directory `DIR` of a node on this machine")
			return cli.NoArguments(func(env *cli.Env) error { return order(env.Stdout, *dir, status.TokenPath, nil) })
		},
	}
}

func transferCommand() *cli.Command {
	return &cli.Command{
		Name:  "transfer",
		Args:  "STORE NODE --data DIR",
		Short: "have another node of a cluster run the actors of a store",
		Long: `
Transfer gives the actors of a store to a node that has a replica of it. Calls wait meanwhile, for
less than a second; none fails. Stores have numbers, from 0 on; "aeond status" lists the nodes.
The store stays there until that node ends or is lost, or the store is transferred again. Then, of
several stores, each goes back by itself to the node that is to lead it, so that all nodes lead
equally many.

	aeond transfer 0 node2 --data /var/lib/shop`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the directory `DIR` of a node on this machine")
			return func(env *cli.Env, args []string) error {
				if len(args) != 2 {
					return cli.Usagef("name the store and the node, as in transfer 0 node2")
				}
				return order(env.Stdout, *dir, status.TransferPath, url.Values{"store": {args[0]}, "node": {args[1]}})
			}
		},
	}
}

func removeCommand() *cli.Command {
	return &cli.Command{
		Name:  "remove",
		Args:  "NODE --data DIR [--lost]",
		Short: "take a node out of a cluster",
		Long: `
Remove has a node give its replicas to others, and then takes it out of the cluster; the node goes
on until then, and no call fails. The command waits for that; if it is ended before, the removal
goes on. With --lost the node is taken out at once, as it will never come back: its disk is gone.
That is refused while another node hears it, and while a store that it keeps has no leader without
it. A node that was removed cannot come back under its name's old identity; to have the machine
back, start it with a new directory and a token.

	aeond remove node3 --data /var/lib/shop
	aeond remove node3 --lost --data /var/lib/shop`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the directory `DIR` of a node on this machine, but not of the one that is removed")
			lost := fs.Bool("lost", false, "the node will never come back")
			return func(env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("name the node, as in remove node3")
				}
				if err := order(env.Stdout, *dir, status.RemovePath, url.Values{"node": {args[0]}, "lost": {fmt.Sprint(*lost)}}); err != nil || *lost {
					return err
				}
				return awaitRemoved(env, *dir, args[0])
			}
		},
	}
}

// removedPause is how long awaitRemoved waits before it asks again.
const removedPause = 100 * time.Millisecond

// awaitRemoved waits until a node is out of the cluster.
func awaitRemoved(env *cli.Env, dir, name string) error {
	for {
		s, err := statusOf(dir, "")
		if err != nil {
			return fmt.Errorf("whether %s is removed is not known: %w", name, err)
		}
		if !slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.Name == name }) {
			_, err := fmt.Fprintln(env.Stdout, "it is removed")
			return err
		}
		doing := name + " gives its stores away"
		if i := slices.IndexFunc(s.Why, func(why string) bool { return strings.HasPrefix(why, status.LeavesPrefix(name)) }); i >= 0 {
			doing = s.Why[i]
		}
		env.Doing("%s", doing)
		time.Sleep(removedPause)
	}
}

func replaceCommand() *cli.Command {
	return &cli.Command{
		Name:  "replace",
		Args:  "NODE --data DIR",
		Short: "take out a node that is lost, and write a token for another one",
		Long: `
Replace takes a node out of the cluster that will never come back, as "aeond remove --lost" does,
and writes a token by which another one joins: it gets the replicas that the lost one had. If there
is no token to be had, the node is not taken out. Standard output has the token alone.

	aeond replace node3 --data /var/lib/shop`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			dir := fs.String("data", "", "the directory `DIR` of a node on this machine")
			return func(env *cli.Env, args []string) error {
				if len(args) != 1 {
					return cli.Usagef("name the node that is lost, as in replace node3")
				}
				return replace(env, *dir, args[0])
			}
		},
	}
}

// replace asks for the token first: without it the node would be gone, and nothing could take its place.
func replace(env *cli.Env, dir, name string) error {
	var token bytes.Buffer
	if err := order(&token, dir, status.TokenPath, nil); err != nil {
		return err
	}
	if err := order(io.Discard, dir, status.RemovePath, url.Values{"node": {name}, "lost": {"true"}}); err != nil {
		return err
	}
	env.Say("%s is removed", name)
	_, err := token.WriteTo(env.Stdout)
	return err
}
