package httpdoor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/gate"
)

// indexPage is the file that is sent for its directory.
const indexPage = "index.html"

// pageHeads are the headers of each file. Scripts, styles and connections are of this origin alone, and scripts are in files:
// a text that a page shows by mistake as HTML runs nothing.
var pageHeads = map[string]string{
	"Content-Security-Policy":      "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
	"Cache-Control":                "no-cache", // browsers ask each time whether the file has changed, by its ETag
}

// pageTypes are the types of files by their extensions. The tables of the machine are not asked: they differ, and some have
// types with which browsers run no script.
var pageTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".ts": "text/plain; charset=utf-8",
	".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8", ".xml": "text/xml; charset=utf-8",
	".json": "application/json", ".map": "application/json", ".webmanifest": "application/manifest+json", ".wasm": "application/wasm", ".pdf": "application/pdf",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
	".avif": "image/avif", ".ico": "image/x-icon", ".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".mp4": "video/mp4", ".webm": "video/webm",
}

// OpenPages opens the directory of --static. It is open until the process ends.
func OpenPages(path string) (fs.FS, error) {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("the directory of --static cannot be served: %w", err)
	}
	return dir.FS(), nil
}

// pages serves files to browsers.
type pages struct {
	files   fs.FS
	sending chan struct{} // has one for each file that is being sent
	fail    func(http.ResponseWriter, error)
}

// Pages returns what serves files as a Server does with Config.Pages, within Guard, beside what serves calls otherwise. counts counts the requests that it
// refuses.
func Pages(files fs.FS, counts *gate.Counts) http.Handler {
	p := &pages{files, make(chan struct{}, pagesMax), func(w http.ResponseWriter, err error) { counts.HTTP(Fail(w, err)) }}
	return http.HandlerFunc(p.page)
}

// IsPage reports whether a request is for a file if there are any, and else for nothing.
func IsPage(r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics", "/openapi.json":
		return r.Method != http.MethodGet && r.Method != http.MethodHead
	}
	return !strings.HasPrefix(r.URL.Path, "/v1/")
}

// page sends a file to a browser. A client that is slow to take one takes the place of no call.
func (p *pages) page(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		p.fail(w, door.Refuse(codeMethod, "%s is not served; files are loaded by GET, and methods of actors are at /v1/CLASS/KEY/METHOD", r.Method))
		return
	}
	select {
	case p.sending <- struct{}{}:
		defer func() { <-p.sending }()
	default:
		p.fail(w, door.Refuse(door.Full, "%d files are being sent, which is the limit", cap(p.sending)))
		return
	}
	if err := p.sendPage(w, r); err != nil {
		p.fail(w, err)
	}
}

// sendPage sends the file that a path names, or says why there is none.
func (p *pages) sendPage(w http.ResponseWriter, r *http.Request) error {
	name, wantsDir := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name == "" {
		name, wantsDir = ".", true
	} else if hidden(name) {
		return noPage(r)
	}
	info, err := fs.Stat(p.files, name)
	switch {
	case err != nil:
		return unread(r, err)
	case info.IsDir() && !wantsDir: // else what the page refers to would be looked for beside the directory
		to := url.URL{Path: "./" + path.Base(name) + "/", RawQuery: r.URL.RawQuery}
		w.Header().Set("Location", to.String())
		w.WriteHeader(http.StatusTemporaryRedirect)
		return nil
	case info.IsDir():
		name = path.Join(name, indexPage)
		if info, err = fs.Stat(p.files, name); err != nil {
			return unread(r, err)
		}
	case wantsDir:
		return noPage(r)
	}
	if !info.Mode().IsRegular() { // to open a pipe would wait for what writes to it
		return noPage(r)
	}
	return p.sendFile(w, r, name)
}

// sendFile sends a regular file, or what a browser asks for of it.
func (p *pages) sendFile(w http.ResponseWriter, r *http.Request, name string) error {
	f, err := p.files.Open(name)
	if err != nil {
		return unread(r, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return unread(r, err)
	}
	content, seeks := f.(io.ReadSeeker)
	// Invariant: what Config.Pages opens can seek, as files of a directory do.
	assert.That(seeks, "files that are served can seek, but not %s", name)
	head := w.Header()
	for key, value := range pageHeads {
		head.Set(key, value)
	}
	kind, known := pageTypes[strings.ToLower(path.Ext(name))]
	if !known {
		kind = "application/octet-stream"
	}
	head.Set("Content-Type", kind)
	head.Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(w, r, "", info.ModTime(), content)
	return nil
}

// hidden reports whether a name is never served: it is none of a file below the directory, or has a part that begins with a dot.
func hidden(name string) bool {
	return !fs.ValidPath(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "/.")
}

func noPage(r *http.Request) error {
	return nothingAt(r)
}

// unread returns what a request is answered whose file cannot be read: that there is none, also if it leads out of the
// directory or may not be read, unless the process has no room for it now.
func unread(r *http.Request, err error) error {
	if passing := interface{ Temporary() bool }(nil); errors.As(err, &passing) && passing.Temporary() {
		return door.Refuse(door.Full, "too many files are open in the process: %v", err)
	}
	return noPage(r)
}
