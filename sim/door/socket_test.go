package door

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/door/gate"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
)

// ping asks the process that listens in a directory whether it lives.
func ping(dir string) error {
	client, err := httpdoor.ClientOf(dir)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://localhost/healthz")
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// listenIn listens in a directory as a process does that has locked it.
func listenIn(t *testing.T, dir string) (*httpdoor.Server, error) {
	return httpdoor.ListenIn(dir, httpdoor.Config{Config: gate.Config{Log: slog.New(slog.DiscardHandler)}, Control: true})
}

// A socket is for its owner alone, takes the place of one that a killed process has left, and goes with its process.
func TestTheSocketInADirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("d", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ping("d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is there: %v", err)
	}
	path := filepath.Join("d", httpdoor.SocketName)
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ping("d"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a dead socket is there: %v", err)
	}
	s, err := listenIn(t, "d")
	if err != nil {
		t.Fatal(err)
	}
	if at, err := os.Lstat(path); err != nil || at.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v (%v)", at.Mode(), err)
	}
	if err := ping("d"); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there (%v)", err)
	}
}

// What cannot be a socket is left as it is, and the error has the remedy.
func TestPlacesOfNoSocket(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile(httpdoor.SocketName, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := listenIn(t, "."); err == nil || !strings.HasSuffix(err.Error(), "is no socket; move it to another directory") {
		t.Error(err)
	}
	if text, err := os.ReadFile(httpdoor.SocketName); string(text) != "mine" {
		t.Errorf("the file is %q (%v)", text, err)
	}
	long := filepath.Join(strings.Repeat("a", 90), "d")
	if err := os.MkdirAll(long, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := listenIn(t, long); err == nil || !strings.HasSuffix(err.Error(), "name the directory by a symbolic link with a shorter path") {
		t.Error(err)
	}
	t.Chdir(filepath.Dir(long)) // from here the path is short, however the directory is named
	here, err := filepath.Abs("d")
	if err != nil {
		t.Fatal(err)
	}
	s, err := listenIn(t, here)
	if err != nil {
		t.Fatal(err)
	}
	if err := ping("d"); err != nil {
		t.Error(err)
	}
	if err := s.Close(t.Context()); err != nil && !errors.Is(err, http.ErrServerClosed) {
		t.Error(err)
	}
}

// A call over the socket has its line in the audit, too, and the program ends if that cannot be written.
func TestAuditOfTheSocketThatCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	p := start(t, build(t), dir, "--audit", "/dev/full")
	client, err := httpdoor.ClientOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	answer, err := client.Post("http://localhost/v1/Shop/main/add", "application/json", strings.NewReader(`{"n":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer.Body); answer.StatusCode != 503 || !strings.Contains(string(text), "the audit cannot be written") {
		t.Errorf("%d %s (%v)", answer.StatusCode, text, err)
	}
	_ = answer.Body.Close()
	select {
	case <-p.said:
	case <-time.After(20 * time.Second):
		t.Error("the program goes on")
		_ = p.cmd.Process.Kill()
		<-p.said
	}
	if code := new(exec.ExitError); !errors.As(p.cmd.Wait(), &code) || !strings.Contains(p.log.String(), "the file of --audit cannot be written") {
		t.Errorf("the program has ended with %v, and said\n%s", code, &p.log)
	}
}
