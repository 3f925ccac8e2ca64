package main

// topics are help texts that belong to no command.
var topics = map[string]string{
	"exit-codes": `The exit codes of aeonc:

	0  clean: nothing to complain about
	1  errors in the program, failed tests, orders that aeonc explore did not
	   cover, files that are not formatted, a trace that is not strictly
	   serialisable, a version that cannot read what is stored; also a program that aeonc run has started, if its
	   main failed or what it printed could not be written
	2  the command line is wrong, or an argument names no sources
	3  the surroundings are wrong: no Go toolchain, a cache or an output that
	   cannot be written (a full disk, too), a file that cannot be read; also a
	   program that aeonc run has started, if its data directory or the file of its
	   trace is refused
	4  a bug in aeonc: an internal error, or generated Go that does not compile
	74 a program that aeonc run has started: its store has failed, on a full disk
	   for example; what was not answered is unknown until it is started again
	128+N  ended by signal N; 130 after Ctrl-C; a program that serves, by --serve
	   or --listen, ends with 0 then

Standard output belongs to the program, and to what was asked for, such as a
graph. Progress and diagnostics go to standard error. A command that has said nothing for
5 s says what it does, but not with -q, with --json, or with a format for programs.
`,
	"environment": `Environment variables that aeonc obeys:

	AEONCACHE  where generated Go and finished programs are cached; default: aeon
	           in the user's cache directory
	NO_COLOR   if it is set and not empty, output has no colours
	PATH       leads to the go command that compiles the programs
	GOOS, GOARCH, GOEXPERIMENT, …  as for go build, also as written by go env -w
	GOMODCACHE, GOPROXY  where Go has, and gets, the modules of the store

A program is compiled with its store by aeonc build, and by aeonc run --data. The
store uses Go modules, which installing aeonc has left in Go's module cache; Go
fetches what is not there. Nothing is downloaded for other programs and for tests,
and no go.mod or workspace of yours is read or written.
`,
	"packages": `How sources are named:

	(nothing)    the current directory
	DIR          the package in the directory DIR: all its .aeon files
	FILE.aeon …  files of one directory, together one package
	DIR/...      every package in and below DIR; directories named testdata, and
	             those that begin with . or _, are left out

A program is one package with a main function and the packages it imports:

	import "./cook"            a directory, seen from that of the importing file
	import "../cook"
	import "example.com/shop/cook"
	                           inside the Go module example.com/shop: its
	                           directory cook; no other module is searched
	import c "./cook"          under another name in this file

What begins with a capital letter is exported: cook.Grill, cook.Heat(). Packages
import each other without cycles, and no two packages of a program have the same
name: an actor is known by the names of its package and class. A main of an
imported package is not run.
`,
}

const epilogue = `
A start:

	mkdir shop && cd shop
	aeonc init          # writes a first program
	aeonc run           # runs it
	aeonc test          # runs its tests

"aeonc help COMMAND" tells more about a command. Further topics: packages,
environment, exit-codes. A flag may have one dash or two.
`
