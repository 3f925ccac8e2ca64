package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestService kills the service and sends a transfer again that it had answered.
func TestService(t *testing.T) {
	text, err := os.ReadFile("main.go")
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines > 60 {
		t.Errorf("the service has %d lines, and should show that it needs few (%v)", lines, err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "goservice")
	for _, args := range [][]string{{"run", "../../cmd/aeonc", "gen", "--check", "../bank"}, {"build", "-ldflags=-s -w", "-o", program, "."}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	url, kill := start(t, program, dir)
	ask := func(method, path string, status int, want string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status || !strings.Contains(string(body), want) {
			t.Errorf("%s %s: %s %s%v; it should be %d with %s", method, path, resp.Status, body, err, status, want)
		}
	}
	for _, owner := range []string{"ann", "bob", "ann"} {
		ask("PUT", "/accounts/"+owner, 200, `"open"`)
	}
	ask("PUT", "/transfers/1?from=ann&to=bob&amount=40", 200, `"done"`)
	ask("PUT", "/transfers/2?from=ann&to=bob&amount=400", 422, `"Msg":"ann has 60, not 400","Happened":"no","At":"bank.aeon:`)
	kill()
	url, kill = start(t, program, dir)
	defer kill()
	ask("PUT", "/transfers/1?from=ann&to=bob&amount=40", 200, `"done"`)
	ask("PUT", "/transfers/1?from=ann&to=bob&amount=41", 422, `"key-reused"`)
	ask("GET", "/accounts/ann", 200, "60\n")
	ask("GET", "/accounts/bob", 200, "140\n")
	ask("GET", "/accounts/zoe", 422, "zoe")
}

// start starts the service, and returns its address when it listens.
func start(t *testing.T, program, dir string) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(program, "-listen", "127.0.0.1:0", "-data", filepath.Join(dir, "data"))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _, _ = cmd.Process.Kill(), cmd.Wait() } // it was killed
	line, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(line), "serving http://")
	if !ok {
		kill()
		t.Fatalf("the service says %q (%v)", line, err)
	}
	return "http://" + address, kill
}
