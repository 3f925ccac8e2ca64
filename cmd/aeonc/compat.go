package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/program"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
	"github.com/aeon-lang/aeon/typecheck"
)

func compatCommand() *command {
	return &command{
		name:  "compat",
		args:  "[--format F] OLD NEW",
		short: "tell whether a new version reads what an old one has stored",
		long: `
Compat compares two versions of a program before the new one is let loose on the
data of the old. NEW names sources; OLD names sources, too, or a data directory, which
is only read, and may not be in use meanwhile.

	aeonc compat old/ new/              two versions of the sources
	aeonc compat /var/lib/shop .        the data of a program, and the package here
	git worktree add ../before v1.2 && aeonc compat ../before .

Fields are known by their names. New ones get their zero value; what is gone is no
longer read, which is a warning; integers may become wider, T may become T?, enums may
get more values at the end, and classes other fields. Every other change is an error,
with what to do about it: a program that has one refuses to open such a store.

The formats human and short go to standard error; json and sarif go to standard
output. The exit code is 0 if NEW reads what OLD has stored, and 1 if not.`,
		setup: func(fs *flag.FlagSet) action {
			format := formatFlag(fs)
			return func(env *environment, args []string) error {
				if len(args) != 2 {
					return usagef("compat takes two arguments, the old version and the new one, not %d", len(args))
				}
				return compat(env, args[0], args[1], *format)
			}
		},
	}
}

// compat compares what has been stored with the classes of a program.
func compat(env *environment, old, now, format string) error {
	newer, err := loadVersion(env, now, format)
	if err != nil {
		return err
	}
	var schema *store.Schema
	if isDataDir(old) {
		schema, err = storedSchema(old, newer.named.Name())
	} else {
		var older *edition
		if older, err = loadVersion(env, old, format); err == nil {
			schema, err = older.schema()
		}
	}
	if err != nil {
		return err
	}
	return env.showDiagnostics(newer.compare(schema), format)
}

// isDataDir reports whether path is a directory that a program keeps its state in.
func isDataDir(path string) bool {
	info, err := os.Stat(filepath.Join(path, "AEON"))
	return err == nil && info.Mode().IsRegular()
}

// storedSchema reads the schema of the store in a directory, which must be that of the program.
func storedSchema(dir, name string) (*store.Schema, error) {
	engine, err := pebbledb.OpenReadOnly(dir, store.EngineOptions{})
	if err != nil {
		return nil, err
	}
	if of := engine.Identity().Program; of != name {
		return nil, errors.Join(fmt.Errorf("%s holds the data of program %q, and this is %q", dir, of, name), engine.Close())
	}
	schema, err := store.ReadSchema(engine)
	if closed := engine.Close(); err == nil {
		err = closed
	}
	return schema, err
}

// edition is one version of a program.
type edition struct {
	named   *program.Package
	classes []store.Class
	places  map[string]*typecheck.Class
}

// loadVersion loads the sources that one argument names, which must be right.
func loadVersion(env *environment, arg, format string) (*edition, error) {
	loader, named, err := load([]string{arg})
	if err != nil {
		return nil, err
	}
	if len(named) != 1 {
		return nil, usagef("%s names %d packages; a program is one, with what it imports", arg, len(named))
	}
	var all []diag.Diagnostic
	for _, p := range loader.Packages() {
		all = append(all, p.Diagnostics...)
	}
	if diag.HasErrors(all) { // warnings are no matter here
		return nil, env.showDiagnostics(all, format)
	}
	v := &edition{named: named[0], places: map[string]*typecheck.Class{}}
	for _, p := range loader.Packages() {
		for _, c := range p.Info.Package.Classes {
			if c.Kind != ast.ActorClass {
				continue
			}
			class := store.Class{Name: p.Name() + "." + c.Name()}
			for _, f := range c.Fields {
				class.Fields = append(class.Fields, store.ClassField{Name: f.Name(), Type: codegen.FieldType(f)})
			}
			v.classes = append(v.classes, class)
			v.places[class.Name] = c
		}
	}
	return v, nil
}

// schema returns what the schema of a store is that this version has made.
func (v *edition) schema() (*store.Schema, error) {
	s := store.NewSchema()
	return s, s.Adopt(v.classes)
}

// compare returns what the matter is with this version on a store of that schema.
func (v *edition) compare(schema *store.Schema) (found []diag.Diagnostic) {
	for _, err := range store.SchemaErrors(schema.Check(v.classes)) {
		found = append(found, v.wrong(err))
	}
	for _, old := range schema.Classes() {
		now := v.places[old.Name]
		if now == nil {
			found = append(found, diag.New(diag.CompatClass, v.start(), "there is no actor class %s any more: stored actors of it could not be read", old.Name).
				WithHelp("keep the class, without methods if you like"))
			continue
		}
		for _, f := range old.Fields {
			if !slices.ContainsFunc(now.Fields, func(n *typecheck.Var) bool { return n.Name() == f.Name }) {
				found = append(found, diag.Warn(diag.CompatField, now.Decl.Name.Span(), "field %s of class %s is gone: its stored values are not read any more",
					f.Name, old.Name))
			}
		}
	}
	diag.Sort(found)
	return found
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
	if e.Old == "" {
		return diag.New(diag.CompatZero, span, "field %s of class %s is new: %s", e.Field, e.Class, e.Reason).WithHelp("%s", e.Remedy)
	}
	change := ", was " + e.Old + " and is " + e.New
	if e.Old == e.New {
		change = ", of type " + e.New
	}
	return diag.New(diag.CompatType, span, "field %s of class %s%s: %s", e.Field, e.Class, change, e.Reason).WithHelp("%s", e.Remedy)
}

// start is where what has no place of its own is reported: the package clause.
func (v *edition) start() ast.Span { return v.named.Files[0].Package.Name.Span() }
