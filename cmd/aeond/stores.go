package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/cluster/status"
	"github.com/aeon-lang/aeon/internal/cli"
)

// storesHelp stands in the help of commands that ask all stores.
const storesHelp = `
Of a cluster of several stores the leaders of all are asked, or that of store N with --store N; with --json each line has its store. A
store that has no leader now is named, in JSON by a line with missing and why, and the exit code is 1.`

// storeFlag declares the flag that narrows what is asked to one store of a cluster. What it returns adds that to a query.
func storeFlag(fs *flag.FlagSet) func(dir string, query url.Values) error {
	store := fs.String("store", "", "of a cluster of several stores: ask the leader of store `N` alone")
	return func(dir string, query url.Values) error {
		if *store == "" {
			return nil
		}
		if !isNode(dir) {
			return cli.Usagef("--store is for a cluster; name the directory of a node with --data")
		}
		query.Set("store", *store)
		return nil
	}
}

// partial reads the lines that a node has put together of several stores, and notes what it says is missing.
type partial struct {
	from    *bufio.Reader
	keep    bool   // those lines are read, too
	rest    []byte // of the buffer of from
	within  bool   // a line that does not fit into that
	said    []byte // the lines that say so
	missing []string
}

func newPartial(from io.Reader, keep bool) *partial {
	return &partial{from: bufio.NewReader(from), keep: keep}
}

// Read implements io.Reader. At the end the error is a *missingError if something is missing. Lines may be of any length.
func (p *partial) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		line, err := p.from.ReadSlice('\n')
		p.rest = line
		begins := !p.within
		if p.within = err == bufio.ErrBufferFull; p.within {
			err = nil
		}
		if begins && bytes.HasPrefix(line, []byte(status.MissingPrefix)) {
			var m status.Missing
			if json.Unmarshal(line, &m) == nil && !slices.Contains(p.missing, m.Why) {
				p.said, p.missing = append(p.said, line...), append(p.missing, m.Why)
			}
			if !p.keep {
				p.rest = nil
			}
		}
		switch {
		case err == nil || len(p.rest) > 0:
		case err == io.EOF && p.err() != nil:
			return 0, p.err()
		default:
			return 0, err
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// err returns a *missingError if something is missing up to now, else nil.
func (p *partial) err() error {
	if len(p.missing) == 0 {
		return nil
	}
	return &missingError{p.missing}
}

// missingError says what is missing in an answer that was written.
type missingError struct{ what []string }

// Error implements error.
func (e *missingError) Error() string { return strings.Join(e.what, "; ") }

// missed says what is missing in an answer, if that is what err says.
func missed(env *cli.Env, err error) error {
	of := new(missingError)
	if !errors.As(err, &of) {
		return err
	}
	for _, what := range of.what {
		env.Say("%s", what)
	}
	return cli.Code(cli.ExitProblem)
}
