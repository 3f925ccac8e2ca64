package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// The names in a data directory, and in the folder of the identity.
const (
	folder  = "identity"
	unready = "identity.new" // nothing in it was ever used
	joining = "joining"

	nodeFile    = "node.json"
	keyFile     = "node.key"
	certFile    = "node.crt"
	caFile      = "ca.crt"
	caKeyFile   = "ca.key"
	freshFile   = "fresh"
	formedHere  = "formed\n" // contents of freshFile; behind it stands what the cluster begins with, if anything
	joinedThere = "joined\n"
)

// content is a file to be written.
type content struct {
	name string
	data []byte
	mode fs.FileMode
}

// makeFolder makes a folder of files in dir, all of it or nothing: it is synced before it gets its name.
func makeFolder(dir, name string, files []content) error {
	temporary := filepath.Join(dir, unready)
	if err := os.RemoveAll(temporary); err != nil {
		return err
	}
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeSynced(filepath.Join(temporary, f.name), f.data, f.mode); err != nil {
			return err
		}
	}
	if err := syncFolder(temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncFolder(dir)
}

func writeSynced(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Counts reports whether an entry of a data directory makes it one that is not empty. What a node leaves that is ended while it begins does not.
func Counts(e os.DirEntry) bool { return e.Name() != unready && e.Name() != "lost+found" }

// prepareEmpty makes dir if there is none, and refuses one that has anything but what is allowed in it.
func prepareEmpty(dir string, allowed ...string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !Counts(e) || slices.Contains(allowed, e.Name()) {
			continue
		}
		switch e.Name() {
		case folder:
			return fmt.Errorf("%s has the identity of a node already: start it without forming or joining, or name an empty directory", dir)
		case joining:
			return fmt.Errorf("in %s a node has begun to join a cluster: join again, or name an empty directory", dir)
		}
		return fmt.Errorf("%s is not empty, it has %s: a node begins in an empty directory", dir, e.Name())
	}
	return nil
}
