package settings_test

import (
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
)

func parseListen(t *testing.T, args ...string) (settings.Listen, error) {
	t.Helper()
	var l settings.Listen
	fs := flag.NewFlagSet("program", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	l.Flags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	return l, l.Check()
}

func TestAPortAloneIsOfThisMachine(t *testing.T) {
	for address, want := range map[string]string{
		":8080": "127.0.0.1:8080", "localhost:0": "localhost:0", "127.0.0.1:1": "127.0.0.1:1", "[::1]:65535": "[::1]:65535",
	} {
		l, err := parseListen(t, "--listen", address)
		if err != nil || l.Address != want {
			t.Errorf("%s: %q, error %v", address, l.Address, err)
		}
		if again, err := parseListen(t, l.Arguments()...); err != nil || again.Address != want {
			t.Errorf("%s passed on as %q: %q, error %v", address, l.Arguments(), again.Address, err)
		}
	}
	if l, err := parseListen(t); err != nil || l.Address != "" || l.Arguments() != nil {
		t.Errorf("without the flag: %+v, %v", l, err)
	}
	if !settings.IsFlag("listen") || !settings.Among([]string{"--listen=:1"}) {
		t.Error("the flag is not one of those of programs with a store")
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	for address, want := range map[string]string{
		"8080":            "has no port; write :8080",
		":":               `"" is no port`,
		":http":           `"http" is no port`,
		":65536":          `"65536" is no port`,
		":080":            `"080" is no port`,
		"example.org:80":  `"example.org" is no address of a host`,
		"0.0.0.0:80":      "every machine that reaches 0.0.0.0:80 could call every method",
		"[::]:80":         "every machine",
		"192.168.1.2:443": "every machine",
		"":                "its value is empty",
	} {
		if _, err := parseListen(t, "--listen="+address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}
