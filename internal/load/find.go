package load

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Extension is that of source files.
const Extension = ".aeon"

// Unit is a directory of sources, or some files of one, that form a package.
type Unit struct {
	Dir   string   // as the user named it
	Files []string // paths that begin with Dir, sorted; never empty
}

// NotFoundError says that an argument names no sources.
type NotFoundError struct {
	Arg string
	Msg string // what is wrong, with the remedy where there is one
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.Msg }

// Find returns the units that the arguments of a command name: directories,
// .aeon files (those of one directory form one package), and DIR/... for
// everything below DIR. No argument means the current directory. An argument
// that names nothing is a *NotFoundError.
func Find(args []string) ([]Unit, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	found := &units{at: map[string]int{}}
	for _, arg := range args {
		if err := found.add(arg); err != nil {
			return nil, err
		}
	}
	return found.list, nil
}

// units collects units without repeating a directory or a file.
type units struct {
	list []Unit
	at   map[string]int // where in list a directory is, by its canonical path: it may have several names
}

func (u *units) add(arg string) error {
	if root, ok := strings.CutSuffix(filepath.ToSlash(arg), "/..."); ok || arg == "..." {
		if arg == "..." {
			root = "."
		}
		if root == "" {
			root = "/"
		}
		return u.addTree(arg, filepath.Clean(filepath.FromSlash(root)))
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NotFoundError{arg, fmt.Sprintf("%s does not exist", arg)}
	case err != nil:
		return &NotFoundError{arg, err.Error()}
	case info.IsDir():
		files, err := sourcesIn(arg)
		if err != nil {
			return &NotFoundError{arg, err.Error()}
		}
		if len(files) == 0 {
			return &NotFoundError{arg, noSources(arg)}
		}
		return u.merge(filepath.Clean(arg), files)
	case filepath.Ext(arg) != Extension:
		return &NotFoundError{arg, fmt.Sprintf("%s is not an %s file", arg, Extension)}
	case !info.Mode().IsRegular():
		return &NotFoundError{arg, fmt.Sprintf("%s is not a regular file", arg)}
	}
	return u.merge(filepath.Dir(arg), []string{arg})
}

func noSources(dir string) string {
	where := "the current directory"
	if filepath.Clean(dir) != "." {
		where = dir
	}
	return fmt.Sprintf("there are no %s files in %s\n\t`aeonc init` writes a first program; DIR/... names everything below a directory", Extension, where)
}

// addTree adds all directories below root that hold sources, except those that
// the go command skips, too. Symbolic links to directories are not followed:
// they could lead back.
func (u *units) addTree(arg, root string) error {
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return &NotFoundError{arg, fmt.Sprintf("%s is not a directory", root)}
	}
	matched := false
	err := filepath.WalkDir(root+string(filepath.Separator), func(dir string, d fs.DirEntry, err error) error { // the user may name a link
		if err != nil {
			return err
		}
		dir = filepath.Clean(dir)
		if !d.IsDir() {
			return nil
		}
		if name := d.Name(); dir != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules") {
			return fs.SkipDir
		}
		files, err := sourcesIn(dir)
		if err == nil && len(files) > 0 {
			matched, err = true, u.merge(dir, files)
		}
		return err
	})
	if err != nil {
		return &NotFoundError{arg, err.Error()}
	}
	if !matched {
		return &NotFoundError{arg, fmt.Sprintf("%s matches no packages: there are no %s files below %s", arg, Extension, root)}
	}
	return nil
}

// merge adds files of a directory, which has the name by which it was added first.
func (u *units) merge(dir string, files []string) error {
	real, err := canonical(dir)
	if err != nil {
		return err
	}
	i, known := u.at[real]
	if !known {
		i = len(u.list)
		u.list, u.at[real] = append(u.list, Unit{Dir: dir}), i
	}
	all := u.list[i].Files
	for _, f := range files {
		all = append(all, filepath.Join(u.list[i].Dir, filepath.Base(f)))
	}
	slices.Sort(all)
	u.list[i].Files = slices.Compact(all)
	return nil
}

// sourcesIn returns the source files of a directory, sorted. Links to files
// count as files; names that begin with . or _ are left out, as in Go.
func sourcesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if filepath.Ext(name) != Extension || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err // a link that leads nowhere: better said than passed over
		}
		if info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	return files, nil
}

// canonical returns the absolute path of a directory without symbolic links.
func canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
