package main

import (
	"flag"
	"fmt"
	"slices"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/settings"
)

func startCommand() *cli.Command {
	return &cli.Command{
		Name:  "start",
		Args:  "--app PROGRAM --data DIR [--create] [--listen ADDRESS [--grpc]] [--cluster-listen HOST:PORT [--join @FILE | --adopt OLD] [--stores N]] [--spans PLACE] [--durability MODE] [--memory SIZE]",
		Short: "serve what a data directory holds",
		Long: `
Start goes on with the actors, sub-events and timers in a data directory, and runs until it is
told to end, by Ctrl-C or SIGTERM. It does not run main. A directory that holds nothing is
refused, since its name may be mistyped; with --create it becomes a new store.

With --listen the methods of the actors can be called by HTTP (docs/http.md). An address that
other machines reach needs TLS (--tls-cert, --tls-key) and callers with rights (--tokens, see
"aeond help token"). With --static DIR it serves the files in DIR, for a page that calls them.
With --grpc sources are compiled so that they take calls by gRPC there, too (docs/grpc.md); an
executable does so if "aeonc build --grpc" has made it.

With --spans what events do and wait for goes to a collector of OpenTelemetry, or to a file
(docs/spans.md).

With --cluster-listen it is a node of a cluster, which keeps the actors on several machines
(docs/cluster.md): with --create a new directory begins a cluster; with --join it joins one, by what
"aeond join-token" has written, in a file, or TOKEN@HOST:PORT itself. A new cluster
divides its actors among 8 stores, each led by a node, or among N with --stores N. With --adopt OLD the
cluster begins with the actors in OLD, the directory of a program that ran alone, or a snapshot of a
cluster that "aeond restore" has brought back, in as many stores as that had. A file ADOPTED there says
so from then on: neither a program nor a second cluster begins with OLD until it is removed.

PROGRAM is an executable made by "aeonc build", or sources: a directory, or an .aeon file. It
takes the place of aeond: signals, exit code and process id are the program's.

	aeond start --app ./shop --data /var/lib/shop
	aeond start --app ./shop --data /var/lib/shop --listen :8080
	aeond start --app ./shop --data /var/lib/shop --listen :8080 --grpc
	aeond start --app ./shop --data /var/lib/shop --create --listen :8080 --cluster-listen 10.0.0.1:7000
	aeond start --app bin/shop --data /var/lib/shop --durability relaxed=10ms`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			app := fs.String("app", "", "the `PROGRAM`, an executable or sources")
			grpc := fs.Bool("grpc", false, "with --listen, take calls by gRPC, too; PROGRAM is sources")
			create := fs.Bool("create", false, "make a new store if DIR does not exist or is empty")
			var state settings.State
			state.Flags(fs)
			var listen settings.Listen
			listen.Flags(fs)
			var spans settings.Spans
			spans.Flags(fs)
			var cluster settings.Cluster
			cluster.Flags(fs)
			return cli.NoArguments(func(env *cli.Env) error { return start(env, *app, *create, *grpc, state, listen, spans, cluster) })
		},
	}
}

func start(env *cli.Env, app string, create, grpc bool, state settings.State, listen settings.Listen, spans settings.Spans, cluster settings.Cluster) error {
	switch err := state.Check(); {
	case app == "":
		return cli.Usagef("name the program with --app")
	case err != nil:
		return cli.Usagef("%v", err)
	case state.Dir == "":
		return cli.Usagef("name the directory with --data")
	}
	if err := listen.Check(); err != nil {
		return cli.Usagef("%v", err)
	}
	if err := spans.Check(); err != nil {
		return cli.Usagef("%v", err)
	}
	if grpc && listen.Address == "" {
		return cli.Usagef("--grpc needs --listen, which says where calls are taken")
	}
	if err := cluster.Check(&state, &listen); err != nil {
		return cli.Usagef("%v", err)
	}
	if cluster.Listen == "" && isNode(state.Dir) {
		return fmt.Errorf("%s is the directory of a node of a cluster: start it with --listen, and with --cluster-listen HOST:PORT, where the other nodes reach it", state.Dir)
	}
	if err := notStores(state.Dir); err != nil {
		return err
	}
	path, err := executable(env, app, cli.Making{GRPC: grpc, Cluster: cluster.Listen != ""})
	if err != nil {
		return err
	}
	args := slices.Concat([]string{"--serve"}, state.Arguments(), listen.Arguments(), spans.Arguments(), cluster.Arguments())
	if create {
		args = append(args, "--create")
	}
	return env.Start(path, args...)
}

// executable returns the path of a program, which is compiled if sources are named; it needs no main.
func executable(env *cli.Env, app string, m cli.Making) (path string, err error) {
	m.Load, m.Store = env.LoadPackage, true
	return env.Executable([]string{app}, m)
}
