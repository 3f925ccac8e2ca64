package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A cluster may begin with what is in a directory. From then on a file there says so: what is in both would go on twice.

const (
	adoptedFile = "ADOPTED"
	adoptedForm = "cluster %s\nnode %q\n"
)

// AdoptedError says that a cluster has begun with what is in a directory.
type AdoptedError struct {
	Dir     string
	Cluster string
	Node    string // the directory of the node that has adopted it
}

// Error implements error.
func (e *AdoptedError) Error() string {
	return fmt.Sprintf("%s was adopted by the node in %s, and its actors go on in cluster %.8s: start that node, and see that its disk is mounted; to use %[1]s all the same, as it was then, remove %[4]s",
		e.Dir, e.Node, e.Cluster, filepath.Join(e.Dir, adoptedFile))
}

// NotAdopted returns an *AdoptedError if a cluster has begun with what is in a directory.
func NotAdopted(dir string) error {
	name := filepath.Join(dir, adoptedFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	e := &AdoptedError{Dir: dir}
	if _, err := fmt.Sscanf(string(text), adoptedForm, &e.Cluster, &e.Node); err != nil {
		return fmt.Errorf("%s does not say which cluster has adopted %s: find that, or remove the file to begin with what is there", name, dir)
	}
	return e
}

// Adopt notes in a directory, durably, that a cluster begins with what is there. A crash leaves the file whole or not at all.
func Adopt(a AdoptedError) error {
	temporary := filepath.Join(a.Dir, adoptedFile+".new")
	f, err := os.Create(temporary)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, adoptedForm, a.Cluster, a.Node)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(a.Dir, adoptedFile)); err != nil {
		return err
	}
	d, err := os.Open(a.Dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
