package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// A snapshot of the stores of a cluster is restored to a directory with one for each, beside a file that is made last. A new cluster begins with these.

const storesFile = "STORES"

// StoreDir returns the directory of one of several stores.
func StoreDir(dir string, store int) string { return filepath.Join(dir, fmt.Sprint("store", store)) }

// Stores returns how many stores were restored to a directory, 0 if it is no such directory.
func Stores(dir string) (stores int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, storesFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscanf(string(text), "stores %d\n", &stores); err != nil || stores < 1 {
		return 0, fmt.Errorf("%s does not say how many stores there are: restore the snapshot anew, to another directory", filepath.Join(dir, storesFile))
	}
	return stores, nil
}

// StoresFile returns the file that says that all stores are in their directories. of is the snapshot.
func StoresFile(stores int, of string) (name, text string) {
	return storesFile, fmt.Sprintf("stores %d\nsnapshot %s\n", stores, of)
}

var storeDirs = regexp.MustCompile(`^store\d+$`)

// IsStoreDir reports whether StoreDir gives such a name.
func IsStoreDir(name string) bool { return storeDirs.MatchString(name) }

// StoresError says that a directory has the stores of a cluster, where that of a program alone is wanted.
type StoresError struct {
	Dir    string
	Stores int
}

// Error implements error.
func (e *StoresError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has the %d stores of a cluster, as a snapshot was restored: begin a cluster with them, by \"aeond start --adopt %[1]s\" with a new directory; ", e.Dir, e.Stores)
	fmt.Fprintf(&b, "each of them, such as %s, can be looked into by itself", StoreDir(e.Dir, 0))
	return b.String()
}
