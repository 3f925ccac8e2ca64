package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/state/inspection"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// errNoProcess says that no process answers for a data directory.
var errNoProcess = errors.New("no process uses the directory")

// ask sends a request to the process that uses a data directory. The error wraps errNoProcess if there is none, and is an
// *answerError if the process refuses.
func ask(dir, method, path string, query url.Values, body string, head http.Header) (*http.Response, error) {
	return askWithin(context.Background(), dir, method, path, query, body, head)
}

// askWithin is ask for an answer that is to come, and to be read, before ctx is done.
func askWithin(ctx context.Context, dir, method, path string, query url.Values, body string, head http.Header) (*http.Response, error) {
	client, err := httpdoor.ClientOf(dir)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery = query.Encode()
	for name, values := range head {
		r.Header[name] = values
	}
	answer, err := client.Do(r)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil, errNoProcess
	case err != nil:
		return nil, fmt.Errorf("the process that uses %s cannot be asked: %w", dir, err)
	case answer.StatusCode < http.StatusBadRequest:
		return answer, nil
	}
	defer answer.Body.Close()
	refused := &answerError{}
	if err := json.NewDecoder(answer.Body).Decode(refused); err != nil {
		return nil, fmt.Errorf("the process that uses %s answers with %s", dir, answer.Status)
	}
	return nil, refused
}

// askRunning is ask for what only a process has; without tells what it means that there is none.
func askRunning(dir, path string, query url.Values, without string) (*http.Response, error) {
	if dir == "" {
		return nil, cli.Usagef("name the directory with --data")
	}
	answer, err := ask(dir, http.MethodGet, path, query, "", nil)
	if errors.Is(err, errNoProcess) {
		err = fmt.Errorf("no process uses %s, so %s", dir, without)
	}
	return answer, err
}

// answerError is what the process has answered instead of a result.
type answerError struct {
	Detail, Code, Happened string
	Path                   []string
}

// Error implements error.
func (e *answerError) Error() string {
	text := e.Detail
	switch e.Happened {
	case "yes":
		text += "; the call has happened"
	case "begun":
		text += "; the call has begun, and goes on"
	case "partly":
		text += "; the first steps of the call have happened"
	case "unknown":
		text += "; whether the call has happened is not known"
	}
	for _, p := range e.Path {
		text += "\n\tat " + p
	}
	return text
}

// inspect writes what is asked for at path, or, if no process uses the directory, what look finds in it. asJSON: lines that say what is missing are
// written, too.
func inspect(dir, path string, query url.Values, asJSON bool, to io.Writer, look func(*inspection.Inspection, io.Writer) error) error {
	if dir == "" {
		return cli.Usagef("name the directory with --data")
	}
	answer, err := ask(dir, http.MethodGet, path, query, "", nil)
	if err == nil {
		_, err = io.Copy(to, newPartial(answer.Body, asJSON))
		return errors.Join(err, answer.Body.Close())
	}
	if !errors.Is(err, errNoProcess) {
		return err
	}
	db, err := openUnused(dir)
	if err != nil {
		return err
	}
	in, err := inspection.Open(db, db.Identity().Program)
	if err == nil {
		err = look(in, to)
	}
	if closed := db.Close(); err == nil {
		err = closed
	}
	return store.In(dir, err)
}

// list writes the lines of JSON that path answers, or, in a directory that no process uses, those that look emits; by asText it writes
// what they say.
func list(env *cli.Env, dir, path string, query url.Values, asJSON bool, look func(*inspection.Inspection, func([]byte) error) error,
	asText func(io.Writer, io.Reader) error) error {
	lines := func(to io.Writer) error {
		return inspect(dir, path, query, asJSON, to, func(in *inspection.Inspection, to io.Writer) error {
			out := bufio.NewWriter(to)
			err := look(in, func(line []byte) error {
				_, err := out.Write(line)
				return err
			})
			return errors.Join(err, out.Flush())
		})
	}
	if asJSON {
		return missed(env, lines(env.Stdout))
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(lines(w)) }() // ends when the pipe is read to its end, or closed
	defer r.Close()
	out := bufio.NewWriter(env.Stdout)
	err := asText(out, r)
	return missed(env, errors.Join(err, out.Flush()))
}

// eachLine calls f for each line of JSON, and writes none if there is no line.
func eachLine[T any](to io.Writer, lines io.Reader, none string, f func(*T) error) error {
	for d, n := json.NewDecoder(lines), 0; ; n++ {
		var line T
		switch err := d.Decode(&line); {
		case err == io.EOF && n == 0:
			_, err := io.WriteString(to, none)
			return err
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		if err := f(&line); err != nil {
			return err
		}
	}
}

// openUnused is openToLook for a directory in which no process can be asked.
func openUnused(dir string) (*pebbledb.DB, error) {
	db, err := openToLook(dir)
	if inUse := new(pebbledb.InUseError); errors.As(err, &inUse) {
		err = fmt.Errorf("%w; it does not answer over %s there: it is starting or ending, its log says what has kept it from making the socket, or it is a program in Go that has opened the directory, which makes none", err, httpdoor.SocketName)
	}
	return db, err
}

// openToChange opens a directory that a command is to change. Where a cluster has adopted it nothing would come of a change.
func openToChange(dir, program string) (store.Engine, error) {
	if err := archive.NotAdopted(dir); err != nil {
		return nil, err
	}
	return pebbledb.Open(dir, store.EngineOptions{Program: program})
}
