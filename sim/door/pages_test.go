package door

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

const secret = "what lies beside the pages"

// public are the files that browsers may load; beside them the directory of pages has what they may not.
var public = map[string]string{
	"index.html": "<!doctype html><title>home</title>", "app.js": "import './a.js';", "style.css": "body {}", "photo.PNG": "png", "data.bin": "\x00\x01",
	"sub/index.html": "<!doctype html><title>sub</title>", "sub/a b.txt": "a b", "bare/..a.txt": "", "bare/x:y/index.html": "<p>", "bare/file": "no extension",
}

// pages makes a directory of files, with links, a pipe and hidden files.
func pages(t testing.TB) (dir string) {
	t.Helper()
	above := t.TempDir()
	dir = filepath.Join(above, "pages")
	files := map[string]string{"../secret": secret, ".env": secret, ".git/config": secret, "sub/.htpasswd": secret}
	for name, text := range public {
		files[name] = text
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"within.css": "style.css", "out": "../secret", "above": "..", "absolute": filepath.Join(above, "secret"), "sub/up": "../../secret", "round": "round", "gone": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func servePages(t testing.TB, cfg httpdoor.Config) (s *served, dir string) {
	t.Helper()
	dir = pages(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	cfg.Pages = root.FS()
	return serve(t, cfg), dir
}

// problemOf reads a problem as "CODE HAPPENED: DETAIL"; "" if it is none.
func problemOf(a *httptest.ResponseRecorder) string {
	var p struct{ Code, Happened, Detail string }
	if json.Unmarshal(a.Body.Bytes(), &p) != nil || a.Header().Get("Content-Type") != "application/problem+json" {
		return ""
	}
	return p.Code + " " + p.Happened + ": " + p.Detail
}

// Files are served beside the methods of actors, each with its type; what is hidden, and what is not below the directory, is not there.
func TestPages(t *testing.T) {
	s, dir := servePages(t, httpdoor.Config{})
	for _, c := range []struct {
		path, file, kind string
	}{
		{"/", "index.html", "text/html; charset=utf-8"},
		{"/index.html", "index.html", "text/html; charset=utf-8"},
		{"/app.js", "app.js", "text/javascript; charset=utf-8"},
		{"/style.css", "style.css", "text/css; charset=utf-8"},
		{"/within.css", "style.css", "text/css; charset=utf-8"},
		{"/photo.PNG", "photo.PNG", "image/png"},
		{"/data.bin", "data.bin", "application/octet-stream"},
		{"/bare/file", "bare/file", "application/octet-stream"},
		{"/sub/", "sub/index.html", "text/html; charset=utf-8"},
		{"/sub/a b.txt", "sub/a b.txt", "text/plain; charset=utf-8"},
		{"/bare/x:y/", "bare/x:y/index.html", "text/html; charset=utf-8"},
	} {
		for _, verb := range []string{"GET", "HEAD"} {
			a := do(s, verb, c.path, "", nil, "")
			want := public[c.file]
			if verb == "HEAD" {
				want = ""
			}
			head := a.Header()
			if a.Code != 200 || a.Body.String() != want || head.Get("Content-Type") != c.kind || head.Get("ETag") == "" || head.Get("Last-Modified") == "" ||
				head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Cache-Control") != "no-cache" ||
				!strings.Contains(head.Get("Content-Security-Policy"), "default-src 'self'; ") {
				t.Errorf("%s %s: %d %v %q", verb, c.path, a.Code, head, a.Body)
			}
		}
	}
	for _, path := range []string{
		"/.env", "/.git/config", "/.git/", "/sub/.htpasswd", "/secret", "/out", "/above/secret", "/above/", "/absolute", "/sub/up", "/round", "/gone", "/pipe",
		"/nothing", "/bare/", "/index.html/", "/index.html/x", "/app.js\x00", "/sub\\index.html", "/bare/..a.txt", "/" + strings.Repeat("x", 5000),
		"/v1/", "/v1/Shop", "/v1/../.env", "/control/actors",
	} {
		a := do(s, "GET", path, "", nil, "")
		moved := a.Code == http.StatusTemporaryRedirect || a.Code == http.StatusMovedPermanently // to what it means
		if p := problemOf(a); !moved && (a.Code != 404 || !strings.HasPrefix(p, "not-found no: there is nothing at /")) || strings.Contains(a.Body.String(), secret) {
			t.Errorf("GET %q: %d %s", path, a.Code, a.Body)
		}
	}
	for path, to := range map[string]string{"/sub": "./sub/?a=b", "/bare": "./bare/?a=b", "/bare/x:y": "./x:y/?a=b"} {
		if a := do(s, "GET", path, "a=b", nil, ""); a.Code != http.StatusTemporaryRedirect || a.Header().Get("Location") != to {
			t.Errorf("GET %s: %d to %q", path, a.Code, a.Header().Get("Location"))
		}
	}
	for _, verb := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		if a := do(s, verb, "/index.html", "", nil, ""); a.Code != 405 || a.Header().Get("Allow") != "GET, HEAD" || !strings.HasPrefix(problemOf(a), "method no: ") {
			t.Errorf("%s: %d %v %s", verb, a.Code, a.Header(), a.Body)
		}
	}
	if a := do(s, "POST", "/v1/Shop/main/count", "", nil, ""); a.Code != 200 || a.Body.String() != "1\n" {
		t.Errorf("a method beside the files: %d %s", a.Code, a.Body)
	}
	if a := do(s, "PUT", "/v1/Shop/main/count", "", nil, ""); a.Code != 405 || a.Header().Get("Allow") != "POST, GET" {
		t.Errorf("a method by PUT: %d %v", a.Code, a.Header())
	}
	if a := s.ask("GET", "/", "", "Host", "evil.example"); a.status != http.StatusMisdirectedRequest {
		t.Errorf("by a foreign name: %d", a.status)
	}

	// A browser that has the file gets it again only when it has changed.
	first := s.ask("GET", "/app.js", "")
	if a := s.ask("GET", "/app.js", "", "If-None-Match", first.head.Get("ETag")); a.status != 304 || a.body != "" {
		t.Errorf("it has not changed: %d %q", a.status, a.body)
	}
	changed := "import './b.js';"
	if err := os.WriteFile(filepath.Join(dir, "app.js"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Millisecond)
	if err := os.Chtimes(filepath.Join(dir, "app.js"), later, later); err != nil {
		t.Fatal(err)
	}
	if a := s.ask("GET", "/app.js", "", "If-None-Match", first.head.Get("ETag")); a.status != 200 || a.body != changed {
		t.Errorf("it has changed: %d %q", a.status, a.body)
	}
	if a := s.ask("GET", "/app.js", "", "Range", "bytes=7-8"); a.status != 206 || a.body != changed[7:9] {
		t.Errorf("a part of it: %d %q", a.status, a.body)
	}
}

// Without a directory there are no files, and with tokens they need none, but methods do.
func TestPagesAndTokens(t *testing.T) {
	if a := do(serve(t, httpdoor.Config{}), "GET", "/", "", nil, ""); a.Code != 404 || !strings.HasPrefix(problemOf(a), "not-found no: ") {
		t.Errorf("without files: %d %s", a.Code, a.Body)
	}
	s, _ := guarded(t, httpdoor.Config{Pages: fstest.MapFS{"index.html": {Data: []byte("home"), ModTime: time.Now()}}})
	for path, want := range map[string]int{"/": 200, "/nothing": 404, "/v1/Shop/main/total": 401, "/v1/nothing": 401, "/openapi.json": 401, "/metrics": 401} {
		if a := do(s, "GET", path, "", nil, ""); a.Code != want {
			t.Errorf("GET %s: %d, not %d", path, a.Code, want)
		}
	}
	if a := do(s, "POST", "/v1/Shop/main/count", "", nil, ""); a.Code != 401 {
		t.Errorf("a call without a token: %d", a.Code)
	}
}

// A program that is told to serves a directory, and no link leads out of it.
func TestPagesOfAProcess(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), pages(t)
	p := start(t, exe, filepath.Join(t.TempDir(), "data"), "--static", dir)
	for path, want := range map[string]int{"/": 200, "/within.css": 200, "/out": 404, "/above/secret": 404, "/absolute": 404, "/%2e%2e/secret": 404, "/v1/Shop/main/total": 200} {
		a, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil || a.StatusCode != want || strings.Contains(string(text), secret) {
			t.Errorf("GET %s: %d %s, error %v", path, a.StatusCode, text, err)
		}
	}
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // which says that it was killed
	if err := os.Symlink(dir, dir+".link"); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--static DIR.link --data DIR/data":             "--static DIR.link would serve the data directory to all",
		"--static DIR/nowhere":                          "the directory of --static cannot be served: open ",
		"--static DIR --data DIR/data":                  "--static DIR would serve the data directory to all",
		"--static DIR --data DIR":                       "--static DIR would serve the data directory to all",
		"--static DIR --data d --snapshots DIR/s":       "--static DIR would serve the snapshots to all",
		"--static DIR --trace DIR/sub/t":                "--static DIR would serve the trace to all",
		"--static DIR --tokens DIR/t":                   "--tokens: DIR/t is below DIR, and --static would serve it to all",
		"--static DIR --tls-cert DIR/c --tls-key DIR/k": "--tls-key: DIR/k is below DIR",
	} {
		args = strings.ReplaceAll("--serve --listen 127.0.0.1:0 "+args, "DIR", dir)
		cmd := exec.CommandContext(t.Context(), exe, strings.Fields(args)...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), strings.ReplaceAll(want, "DIR", dir)) {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}

// slowFS is a file system whose file is read when its reader may go on.
type slowFS struct {
	fs.FS
	reading chan struct{} // gets one when reading has begun
	open    chan struct{}
}

type slowFile struct {
	fs.File
	io.Seeker
	*slowFS
}

func (g *slowFS) Open(name string) (fs.File, error) {
	f, err := g.FS.Open(name)
	if err != nil || name != "slow" {
		return f, err
	}
	return &slowFile{f, f.(io.Seeker), g}, nil
}

func (f *slowFile) Read(p []byte) (int, error) {
	f.reading <- struct{}{}
	<-f.open
	return f.File.Read(p)
}

// Files that are slow to be sent take places of their own; a process that can open none says that it may later.
func TestPagesAreBounded(t *testing.T) {
	g := &slowFS{FS: fstest.MapFS{"slow": {Data: []byte("text")}}, reading: make(chan struct{}, 2), open: make(chan struct{})}
	s := serve(t, httpdoor.Config{Pages: g, PagesMax: 1})
	first := make(chan int, 1)
	go func() { first <- do(s, "GET", "/slow", "", nil, "").Code }() // ends when the file may be read
	<-g.reading
	if a := do(s, "GET", "/slow", "", nil, ""); a.Code != 503 || a.Header().Get("Retry-After") == "" || !strings.HasPrefix(problemOf(a), "full no: 1 files are being sent") {
		t.Errorf("beyond the limit: %d %s", a.Code, a.Body)
	}
	if a := do(s, "POST", "/v1/Shop/main/count", "", nil, ""); a.Code != 200 {
		t.Errorf("a call meanwhile: %d %s", a.Code, a.Body)
	}
	close(g.open)
	if code := <-first; code != 200 {
		t.Errorf("the first: %d", code)
	}
	if a := do(s, "GET", "/slow", "", nil, ""); a.Code != 200 {
		t.Errorf("after it: %d %s", a.Code, a.Body)
	}

	s = serve(t, httpdoor.Config{Pages: failingFS{syscall.EMFILE}})
	if a := do(s, "GET", "/index.html", "", nil, ""); a.Code != 503 || !strings.HasPrefix(problemOf(a), "full no: too many files are open") {
		t.Errorf("no file can be opened: %d %s", a.Code, a.Body)
	}
	s = serve(t, httpdoor.Config{Pages: failingFS{syscall.EACCES}})
	if a := do(s, "GET", "/index.html", "", nil, ""); a.Code != 404 || strings.Contains(a.Body.String(), "denied") {
		t.Errorf("the file may not be read: %d %s", a.Code, a.Body)
	}
}

// failingFS opens nothing.
type failingFS struct{ err error }

func (f failingFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: f.err}
}

// FuzzPages: whatever path is asked for, the answer is a public file, or a problem, or leads to another place of the same server.
func FuzzPages(f *testing.F) {
	s, _ := servePages(f, httpdoor.Config{})
	for _, path := range []string{
		"/", "/sub", "/sub/", "/../secret", "/sub/../../secret", "/%2e%2e/secret", "//example.org/", "/\\example.org", "/sub/..\\..\\secret", "/.env", "/sub/.htpasswd", "/out",
		"/above/secret", "/pipe", "/x:y", "/bare/x:y", "/index.html/", "/v1/Shop/main/total", "/C:/secret", "/sub//index.html", "/./index.html", "/sub/a b.txt",
	} {
		f.Add("GET", path, "", "")
	}
	f.Add("HEAD", "/app.js", "Range", "bytes=0-3,5-")
	f.Add("GET", "/app.js", "If-None-Match", "*")
	f.Add("POST", "/", "Content-Type", "application/json")
	texts := make([]string, 0, len(public))
	for _, text := range public {
		texts = append(texts, text)
	}
	f.Fuzz(func(t *testing.T, verb, path, key, value string) {
		r := &http.Request{Method: verb, URL: &url.URL{Path: path}, Host: "localhost", Header: http.Header{key: {value}}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
		a := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(a, r)
		body, api := a.Body.String(), strings.HasPrefix(path, "/v1/") || slices.Contains([]string{"/openapi.json", "/metrics", "/healthz", "/readyz"}, path)
		switch {
		case strings.Contains(body, secret):
			t.Fatal("it is answered what lies beside the pages")
		case a.Code >= 500:
			t.Fatalf("it is answered %d %s", a.Code, body)
		case a.Code == 301 || a.Code == 307:
			base := url.URL{Scheme: "http", Host: "localhost", Path: "/"}
			to, err := base.Parse(a.Header().Get("Location"))
			if err != nil || to.Host != "localhost" || to.Scheme != "http" {
				t.Fatalf("it leads to %q: %v", a.Header().Get("Location"), err)
			}
		case api || a.Code == 304 || a.Code == 412 || a.Code == 416:
		case a.Code == 200 && verb == "HEAD" && body == "":
		case a.Code == 200:
			if !slices.Contains(texts, body) {
				t.Fatalf("it is answered %q", body)
			}
		case a.Code == 206:
		case problemOf(a) == "":
			t.Fatalf("it is answered %d %s", a.Code, body)
		}
	})
}
