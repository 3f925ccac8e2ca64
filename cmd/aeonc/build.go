package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/gobuild"
	"github.com/aeon-lang/aeon/internal/load"
)

func buildCommand() *cli.Command {
	return &cli.Command{
		Name:  "build",
		Args:  "[-q] [-o FILE] [--memory-only | [--grpc] [--cluster]] [PROGRAM]",
		Short: "compile a program to an executable",
		Long: `
Build compiles a program to one static executable that needs nothing else. It is
named after the package and put into the current directory, or where -o says. A file
there that is no executable is not overwritten.

	aeonc build
	aeonc build -o bin/shop ./shop
	GOOS=linux GOARCH=arm64 aeonc build

With --data DIR the executable keeps its state on disk, and goes on with it when it is
started again. The store that this takes is compiled once on a machine, in about a minute,
and makes the executable 20 MB larger. Its modules come from Go's module cache, where
installing aeonc has put them, or else from the network. --memory-only leaves it out.

With --grpc the executable takes calls by gRPC, too, where it listens (docs/grpc.md). Its
modules make it another 12 MB larger.

With --cluster the executable can be a node of a cluster (docs/cluster.md): it has
--cluster-listen and what belongs to it, and makes itself 17 MB larger.

The executable keeps what a debugger needs, with positions in the .aeon files.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			quiet := fs.Bool("q", false, "say nothing unless something is wrong")
			memoryOnly := fs.Bool("memory-only", false, "leave out the store: the executable has no --data, and needs no module")
			grpc := fs.Bool("grpc", false, "with --listen, the executable takes calls by gRPC, too")
			cluster := fs.Bool("cluster", false, "the executable can be a node of a cluster")
			out := fs.String("o", "", "write the executable to `file`, or into it if it is a directory")
			return func(env *cli.Env, args []string) error {
				switch {
				case *memoryOnly && *grpc:
					return cli.Usagef("--memory-only leaves out what --grpc needs")
				case *memoryOnly && *cluster:
					return cli.Usagef("--memory-only leaves out what --cluster needs")
				}
				return buildProgram(env, args, *out, gobuild.Options{Store: !*memoryOnly, GRPC: *grpc, Cluster: *cluster}, *quiet)
			}
		},
	}
}

func buildProgram(env *cli.Env, args []string, out string, opts gobuild.Options, quiet bool) error {
	if quiet {
		env.Quiet()
	}
	p, err := env.LoadProgram(args)
	if err != nil {
		return err
	}
	opts.Name, opts.Debug = p.Name(), true
	made, err := env.Compile([]*load.Package{p}, opts)
	if err != nil {
		return err
	}
	name := filepath.Base(made.Path)
	switch info, err := os.Stat(out); {
	case out == "":
		out = name
		if info, err := os.Stat(out); err == nil && info.IsDir() {
			return cli.Usagef("%s is a directory; name the executable with -o", out)
		}
	case err == nil && info.IsDir():
		out = filepath.Join(out, name)
	}
	if err := replaceable(out); err != nil {
		return err
	}
	if err := made.CopyTo(out); err != nil {
		return err
	}
	env.Inform("wrote %s", out)
	return nil
}

// executables are what executables begin with: ELF, PE, and Mach-O in both orders of bytes, for one processor or several.
var executables = []string{"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"}

// replaceable returns an error of usage if an executable must not take the place of a file: it could be the only copy of something.
func replaceable(name string) error {
	if isSource(name) {
		return cli.Usagef("%s has the extension of sources; name the executable with -o", name)
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // what cannot be written fails when it is
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if !slices.ContainsFunc(executables, func(e string) bool { return strings.HasPrefix(string(head[:n]), e) }) {
		return cli.Usagef("%s is no executable, so it is not overwritten; remove it, or name another file with -o", name)
	}
	return nil
}
