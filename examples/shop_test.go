package examples

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed" // of the client
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	tsc    = flag.String("tsc", "", "the TypeScript compiler, with which TestPageIsMadeOfItsSources compiles the page of the shop")
	update = flag.Bool("update", false, "with -tsc: write what it makes")
)

// startShop starts the shop with its page, until stop is called.
func startShop(t *testing.T, shop, data string) (url string, stop func()) {
	t.Helper()
	cmd := exec.Command(shop, "--listen", "127.0.0.1:0", "--static", filepath.Join("shop", "page"), "--data", data)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // which says that it was killed
	}
	t.Cleanup(stop)
	var log bytes.Buffer
	lines := bufio.NewScanner(io.TeeReader(said, &log))
	for lines.Scan() {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return url, stop
		}
	}
	t.Fatalf("the shop has ended before it listened:\n%s", log.String())
	return "", nil
}

// The shop serves its page beside its methods, and what its script tries holds, after a kill too.
func TestShop(t *testing.T) {
	shop, data := filepath.Join(t.TempDir(), "shopd"), filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command(aeonc, "build", "-o", shop, "shop").CombinedOutput(); err != nil {
		t.Fatalf("building the shop: %v\n%s", err, out)
	}
	for range 2 { // the second one goes on with what the first has left
		url, stop := startShop(t, shop, data)
		if out, err := exec.Command("sh", filepath.Join("shop", "try.sh"), url).CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("\ndone\n")) {
			t.Errorf("try.sh: %v\n%s", err, out)
		}
		for path, kind := range map[string]string{
			"/": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/shop.js": "text/javascript; charset=utf-8",
			"/style.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml",
		} {
			a, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(a.Body)
			a.Body.Close()
			file := strings.TrimPrefix(path, "/")
			if file == "" {
				file = "index.html"
			}
			want, rerr := os.ReadFile(filepath.Join("shop", "page", file))
			if err != nil || rerr != nil || a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != kind || !bytes.Equal(got, want) {
				t.Errorf("GET %s: %s %s, errors %v and %v", path, a.Status, a.Header.Get("Content-Type"), err, rerr)
			}
		}
		stop()
	}
}

// sums is the file with the hashes of the page's sources and of what tsc has made of them, so that a source which has
// changed since is found where there is no tsc.
const sums = "made.sum"

// The client of the page is what aeonc makes of the shop, and its JavaScript is what tsc makes of its sources.
func TestPageIsMadeOfItsSources(t *testing.T) {
	page, made := filepath.Join("shop", "page"), t.TempDir()
	if out, err := exec.Command(aeonc, "gen", "--ts", "-o", filepath.Join(made, "shop.ts"), "shop").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	same := func(name string) {
		t.Helper()
		want := read(t, made, name)
		if *update {
			if err := os.WriteFile(filepath.Join(page, name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(read(t, page, name), want) {
			t.Errorf("%s is not what is made of its source; examples/shop/README.md says how it is", name)
		}
	}
	same("shop.ts") // before tsc reads it
	if *tsc != "" {
		if out, err := exec.Command(*tsc, "-p", page, "--outDir", made).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		same("page.js")
		same("shop.js")
	}
	var want bytes.Buffer
	for _, name := range []string{"page.ts", "shop.ts", "page.js", "shop.js"} {
		fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(read(t, page, name)), name)
	}
	if *update && *tsc != "" {
		if err := os.WriteFile(filepath.Join(page, sums), want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(read(t, page, sums), want.Bytes()) {
		t.Error("the JavaScript of the page was not made of these sources; examples/shop/README.md says how it is")
	}
}

// client is the client in TypeScript, as tsc has made it. An overlay of the Go command may plant a bug into it.
//
//go:embed shop/page/shop.js
var client []byte

// The client in TypeScript holds what docs/http.md says of calls that are not answered, or cannot be sent.
func TestClientOfThePage(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Log("install node, which runs the client")
		return
	}
	dir := t.TempDir()
	check := read(t, "testdata", "client.mjs")
	for name, text := range map[string][]byte{"package.json": []byte(`{"type":"module"}`), "shop.js": client, "client.mjs": check} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := regexp.MustCompile(`(?m)^\tasync (\w+)\(\) \{$`).FindAllStringSubmatch(string(check), -1)
	if len(cases) == 0 {
		t.Error("client.mjs has no cases")
	}
	for _, c := range cases {
		t.Run(c[1], func(t *testing.T) {
			if out, err := exec.Command("node", filepath.Join(dir, "client.mjs"), c[1]).CombinedOutput(); err != nil || !bytes.HasSuffix(out, []byte("done\n")) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
