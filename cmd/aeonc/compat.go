package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/runtime/state"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/aeon-lang/aeon/typecheck"
)

func compatCommand() *cli.Command {
	return &cli.Command{
		Name:  "compat",
		Args:  "[--format F] OLD NEW",
		Short: "tell whether a new version reads what an old one has stored",
		Long: `
Compat compares two versions of a program before the new one is let loose on the
data of the old. NEW names sources; OLD names sources, too, or a data directory, which
is only read, and may not be in use meanwhile.

	aeonc compat old/ new/              two versions of the sources
	aeonc compat /var/lib/shop .        the data of a program, and the package here
	git worktree add ../before v1.2 && aeonc compat ../before .

The node of a cluster alone can read its directory. Compare the sources, or each store of a snapshot that
"aeond restore" has brought to another directory.

Fields are known by their names. New ones get what their initialiser says; their zero value
if there is none, and if it takes an event to compute it (random(), now(), new, calls), which
is a warning. So is another initialiser of a field that both versions have, if OLD names sources: what was stored before
the field was there has no value of it, and gets the new one. What is stored in a field of an actor that is gone is kept, and found again by a
version that has the field: a warning, too. A field of a value class that is gone would be lost
with the next write: a program refuses to open a store with such values unless it is told
--drop-fields, so with a data directory that is an error, and with sources a warning. Integers may become wider,
enums may get more values at the end, and classes more fields. T may become T? if it is the type of a reference,
or of an actor's field and no container. Every other change is an error, with what to do about it: a
program that has one refuses to open such a store. So does a program whose package has another name.

Sub-events, timers and tail calls that wait in a store keep their arguments. A method whose
parameters get other types, or that is gone, could not read them: a program refuses to open a
store in which calls of it wait. With a data directory as OLD that is an error if some do;
with sources it is a warning. Parameters are known by their places, so that their names do not
matter. What may change in their types is what may change in those of fields, but a T that is
no reference may not become T?.

If there is nothing to say the format human says so in one line. The formats human and short go to standard error; json and sarif go to standard
output. The exit code is 0 if NEW reads what OLD has stored, and 1 if not.`,
		Setup: func(fs *flag.FlagSet) cli.Action {
			format := formatFlag(fs)
			return func(env *cli.Env, args []string) error {
				if len(args) != 2 {
					return cli.Usagef("compat takes two arguments, the old version and the new one, not %d", len(args))
				}
				return compat(env, args[0], args[1], *format)
			}
		},
	}
}

// compat compares what has been stored with the classes of a program.
func compat(env *cli.Env, old, now, format string) error {
	if format != "human" {
		env.Quiet()
	}
	if err := notCluster(old); err != nil {
		return err
	}
	newer, err := loadVersion(env, now, format)
	if err != nil {
		return err
	}
	var before former
	if isDataDir(old) {
		env.Doing("reading %s", old)
		before, err = storedBefore(old)
	} else {
		var older *edition
		if older, err = loadVersion(env, old, format); err == nil {
			before, err = older.former()
		}
	}
	if err != nil {
		return err
	}
	if name := newer.named.Name(); before.program != name {
		other := diag.New(diag.CompatClass, newer.start(), "%s holds the data of program %q, and this is %q, which refuses it", old, before.program, name)
		if before.sources != nil {
			other.Message = fmt.Sprintf("%s is program %q, and this is %q, which refuses the data of another", old, before.program, name)
		}
		other = other.WithHelp("keep the name of the package: a program opens only data that it has written")
		return env.ShowDiagnostics([]diag.Diagnostic{other}, format)
	}
	found := newer.compare(before)
	if err := env.ShowDiagnostics(found, format); err != nil || len(found) > 0 || format != "human" {
		return err
	}
	_, err = fmt.Fprintf(env.Stderr, "%s: %s reads all that is stored\n", old, newer.named.Name())
	return err
}

// former is what a version succeeds: a store, or the store that an older version would have made.
type former struct {
	program string
	schema  *store.Schema
	waiting map[uint32]int // calls, by the numbers of their signatures; nil if there is no store
	actors  map[uint32]int // by the numbers of their layouts; nil if there is no store
	sources *edition       // nil if there is one
}

// isDataDir reports whether path is a directory that a program keeps its state in.
func isDataDir(path string) bool {
	info, err := os.Stat(filepath.Join(path, "AEON"))
	return err == nil && info.Mode().IsRegular()
}

// notCluster refuses the directory of a node, and one with the stores of a cluster.
func notCluster(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, status.IdentityFile)); err == nil {
		return fmt.Errorf("%s is the directory of a node of a cluster, which the node alone can read: compare the sources of the two versions, "+
			"or each store of a snapshot that `aeond restore` has brought to another directory", dir)
	}
	n, err := archive.Stores(dir)
	if err == nil && n > 0 {
		err = fmt.Errorf("%s has the %d stores of a cluster: compare with each of them, the first one by `aeonc compat %s NEW`", dir, n, cli.Path(archive.StoreDir(dir, 0)))
	}
	return err
}

// storedBefore reads the schema of the store in a directory, and counts the calls that wait there.
func storedBefore(dir string) (before former, err error) {
	engine, err := pebbledb.OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		return before, err
	}
	before.program = engine.Identity().Program
	if err = store.RequireFormat(engine, dir); err == nil {
		before.schema, err = store.ReadSchema(engine)
	}
	if err == nil {
		before.waiting, err = store.WaitingCalls(engine)
	}
	if err == nil {
		before.actors, err = state.CountActors(engine)
	}
	if err == nil {
		before.schema.Count(before.actors)
	}
	if closed := engine.Close(); err == nil {
		err = closed
	}
	return before, err
}

// edition is one version of a program.
type edition struct {
	named   *load.Package
	classes []store.Class
	places  map[string]*typecheck.Class
	parts   map[store.Part]ast.Span // enums, value classes and their fields
	starts  map[string]ast.Span     // the package clauses, by package
	fields  map[store.Part]field
}

// field is what a version says of a field of an actor class or a value class.
type field struct {
	typ     string
	initial codegen.Initial
	span    ast.Span
}

// loadVersion loads the sources that one argument names, which must be right.
func loadVersion(env *cli.Env, arg, format string) (*edition, error) {
	loader, named, err := env.Load([]string{arg})
	if err != nil {
		return nil, err
	}
	if len(named) != 1 {
		return nil, cli.Usagef("%s names %d packages; a program is one, with what it imports", arg, len(named))
	}
	var all []diag.Diagnostic
	for _, p := range loader.Packages() {
		all = append(all, p.Diagnostics...)
	}
	if diag.HasErrors(all) { // warnings are no matter here
		return nil, env.ShowDiagnostics(all, format)
	}
	v := &edition{named: named[0], places: map[string]*typecheck.Class{}, parts: map[store.Part]ast.Span{}, starts: map[string]ast.Span{}, fields: map[store.Part]field{}}
	var imports []codegen.Import
	for _, p := range loader.Packages() {
		v.starts[p.Name()] = p.Files[0].Package.Name.Span()
		initials := codegen.Initials(p.Info, imports)
		imports = append(imports, codegen.Import{Info: p.Info, Path: p.Name()})
		for _, e := range p.Info.Package.Enums {
			v.parts[store.Part{Type: p.Name() + "." + e.Name()}] = e.Span()
		}
		for _, c := range p.Info.Package.Classes {
			for _, f := range c.Fields {
				v.fields[store.Part{Type: p.Name() + "." + c.Name(), Field: f.Name()}] = field{codegen.FieldType(f), initials[f], f.Span()}
			}
			if c.Kind != ast.ActorClass {
				v.addParts(c)
				continue
			}
			class := store.Class{Name: p.Name() + "." + c.Name()}
			for _, f := range c.Fields {
				class.Fields = append(class.Fields, store.ClassField{Name: f.Name(), Type: codegen.FieldType(f)})
			}
			for _, m := range c.Methods {
				class.Methods = append(class.Methods, store.ClassMethod{Name: m.Name(), Signature: codegen.Signature(m)})
			}
			for _, g := range c.GoCalls {
				class.Methods = append(class.Methods, store.ClassMethod{Name: g.Call.Name(), Signature: codegen.Signature(g.Call)})
			}
			v.classes = append(v.classes, class)
			v.places[class.Name] = c
		}
	}
	return v, nil
}

// addParts notes where a value class and its fields are.
func (v *edition) addParts(c *typecheck.Class) {
	name := c.Pkg.Name + "." + c.Name()
	v.parts[store.Part{Type: name}] = c.Span()
	for _, f := range c.Fields {
		v.parts[store.Part{Type: name, Field: f.Name()}] = f.Span()
	}
}

// former returns a store that this version has made.
func (v *edition) former() (former, error) {
	s := store.NewSchema()
	return former{program: v.named.Name(), schema: s, sources: v}, s.Adopt(v.classes)
}

// compare returns the diagnostics of this version as the successor of before.
func (v *edition) compare(before former) (found []diag.Diagnostic) {
	for _, err := range store.SchemaErrors(before.schema.Check(v.classes)) {
		found = append(found, v.wrong(err))
	}
	for _, old := range before.schema.Classes() {
		now := v.places[old.Name]
		if now == nil {
			if n := before.schema.Actors(old.Name); n != 0 {
				found = append(found, v.gone(old.Name, n, before.sources))
			}
			continue
		}
		for _, f := range now.Fields {
			part := store.Part{Type: old.Name, Field: f.Name()}
			if v.fields[part].initial.Left && !slices.Contains(before.schema.Kept(), part) && !slices.ContainsFunc(old.Fields, func(o store.ClassField) bool { return o.Name == f.Name() }) {
				found = append(found, diag.Warn(diag.CompatInitial, f.Span(), "field %s of class %s is new: stored actors get its zero value, as it takes an event to compute another",
					f.Name(), old.Name).WithHelp("let it be null until an event sets it; or give it a value that needs no event"))
			}
		}
	}
	for _, part := range before.schema.NewParts(v.classes) {
		if v.fields[part].initial.Left {
			found = append(found, diag.Warn(diag.CompatInitial, v.parts[part], "field %s of class %s is new: values that are stored get its zero value, as it takes an event to compute another",
				part.Field, part.Type).WithHelp("let it be null; or give it a value that needs no event"))
		}
	}
	if before.sources != nil {
		found = append(found, v.initials(before.sources)...)
	}
	for _, change := range before.schema.FieldChanges(v.classes) {
		if d, ok := v.changed(change); ok {
			found = append(found, d)
		}
	}
	for _, call := range before.schema.Unreadable(v.classes) {
		if before.waiting == nil && v.places[call.Class] != nil || before.waiting[call.Number] > 0 { // of sources, a class that is gone is an error itself
			found = append(found, v.unreadable(call, before.waiting))
		}
	}
	diag.Sort(found)
	return found
}

// initials reports the fields that both versions have, with other initialisers: actors and values that are older than the field have no value of it, and get
// that of the version that reads them. A store does not know what an initialiser was.
func (v *edition) initials(older *edition) (found []diag.Diagnostic) {
	for part, now := range v.fields {
		if was, ok := older.fields[part]; ok && was.typ == now.typ && was.initial.Code != now.initial.Code {
			found = append(found, diag.Warn(diag.CompatOther, now.span, "field %s of class %s has another initial value: what was stored before the field was there gets it, too, unless an event has set the field since",
				part.Field, part.Type).WithHelp("set the value in the constructor if it is for new ones only"))
		}
	}
	return found
}

// changed reports what happens to the values of a field, unless there are none, or it is an error of the schema. Which actors have a value takes reading all
// rows, as an event writes fields one by one.
func (v *edition) changed(c store.FieldChange) (d diag.Diagnostic, ok bool) {
	in := storedActors(c.Actors)
	place, ok := v.parts[store.Part{Type: c.Field.Type}]
	if !ok {
		place = v.places[c.Field.Type].Decl.Name.Span()
	}
	switch {
	case c.Actors == 0:
		return d, false
	case c.Fate == store.FieldKept:
		return diag.Warn(diag.CompatField, place, "field %s of class %s is gone: values that %s may have of it are kept for a version that has it", c.Field.Field, c.Field.Type, in), true
	case c.Fate == store.FieldBack:
		return diag.Warn(diag.CompatField, place, "field %s of class %s is back: where %s had it, they have the values that were kept", c.Field.Field, c.Field.Type, in).
			WithHelp("%s %s gives them up", store.DropFlag, c.Field), true
	case c.Actors > 0:
		return d, false
	}
	return diag.Warn(diag.CompatField, place, "field %s of class %s is gone: values of the class that are stored would lose it when they are written, which the program refuses", c.Field.Field, c.Field.Type).
		WithHelp("keep the field, or start the program with %s %s", store.DropFlag, c.Field), true
}

// storedActors says how many there are, if that is known.
func storedActors(n int) string {
	switch {
	case n < 0:
		return "stored actors"
	case n == 1:
		return "1 stored actor"
	}
	return fmt.Sprintf("%d stored actors", n)
}

// gone reports a class that is not there any more.
func (v *edition) gone(class string, actors int, older *edition) diag.Diagnostic {
	place, was := v.startOf(class), ""
	if older != nil {
		was = ", which was in " + older.places[class].Span().Pos().File()
	}
	return diag.New(diag.CompatClass, place, "there is no actor class %s any more%s: %s of it could not be read", class, was, storedActors(actors)).
		WithHelp("keep the class, without methods if you like")
}

// unreadable reports a method that could not read calls of it: those that may wait, or, in a store,
// those that do.
func (v *edition) unreadable(call *store.CallError, waiting map[uint32]int) diag.Diagnostic {
	place := v.startOf(call.Class)
	if c := v.places[call.Class]; c != nil {
		place = c.Span()
		for _, m := range c.Methods {
			if m.Name() == call.Method {
				place = m.Span()
			}
		}
	}
	if waiting == nil {
		return diag.Warn(diag.CompatCall, place, "method %v %s; calls of it that wait in a store could not be read", call.Signature, call.Change()).
			WithHelp("%s", store.CallRemedy)
	}
	return diag.New(diag.CompatCall, place, "method %v, of which %s in the store, %s", call.Signature, store.CallsWait(waiting[call.Number]), call.Change()).
		WithHelp("%s", store.CallRemedy)
}

// wrong turns an error of the schema into a diagnostic at the field.
func (v *edition) wrong(err error) diag.Diagnostic {
	var e *store.SchemaError
	if !errors.As(err, &e) {
		return diag.New(diag.Internal, v.start(), "%v", err)
	}
	span := v.start()
	for _, f := range v.places[e.Class].Fields {
		if f.Name() == e.Field {
			span = f.Span()
		}
	}
	if part, ok := v.parts[e.Part]; ok {
		span = part
	}
	if e.Field == "" {
		return diag.New(diag.CompatField, span, "class %s: %s", e.Class, e.Reason).WithHelp("%s", e.Remedy)
	}
	if e.Old == "" {
		return diag.New(diag.CompatZero, span, "field %s of class %s is new: %s", e.Field, e.Class, e.Reason).WithHelp("%s", e.Remedy)
	}
	change := ", was " + e.Old + " and is " + e.New
	if e.Old == e.New {
		change = ", of type " + e.New
	}
	return diag.New(diag.CompatType, span, "field %s of class %s%s: %s", e.Field, e.Class, change, e.Reason).WithHelp("%s", e.Remedy)
}

// startOf is the place of errors of a class that is gone: the package clause of its package, if that is there.
func (v *edition) startOf(class string) ast.Span {
	pkg, _, _ := strings.Cut(class, ".")
	if start, ok := v.starts[pkg]; ok {
		return start
	}
	return v.start()
}

// start is the place of errors that have no place of their own: the package clause.
func (v *edition) start() ast.Span { return v.named.Files[0].Package.Name.Span() }
