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
	all := "--listen 0.0.0.0:443 --tls-cert c --tls-key k --tokens t --audit a --static s"
	l, err := parseListen(t, strings.Fields(all)...)
	if err != nil || strings.Join(l.Arguments(), " ") != all || l.Scheme() != "https" {
		t.Errorf("%s passed on as %q, error %v", all, l.Arguments(), err)
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
		"0.0.0.0:80":      "other machines reach 0.0.0.0:80; add --tls-cert FILE --tls-key FILE and --tokens FILE, or listen on 127.0.0.1",
		"[::]:80":         "other machines",
		"192.168.1.2:443": "other machines",
		"":                "its value is empty",
	} {
		if _, err := parseListen(t, "--listen="+address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
	}
}

func TestFlagsThatBelongTogether(t *testing.T) {
	for args, want := range map[string]string{
		"--listen 10.0.0.1:443 --tokens t":                             "reach 10.0.0.1:443; add --tls-cert FILE --tls-key FILE, or",
		"--listen 10.0.0.1:443 --tls-cert c --tls-key k":               "reach 10.0.0.1:443; add --tokens FILE, or",
		"--listen :1 --tls-cert c":                                     "name its file with --tls-key",
		"--listen :1 --tls-key k":                                      "name its file with --tls-cert",
		"--tls-cert c --tls-key k":                                     "--tls-cert is about calls from outside; say with --listen",
		"--tokens t":                                                   "--tokens is about calls from outside",
		"--audit a":                                                    "--audit is about calls from outside",
		"--static s":                                                   "--static is about calls from outside",
		"--listen :1 --static=":                                        "--static: its value is empty",
		"--listen :1 --static . --tokens t":                            "--tokens: t is below ., and --static would serve it to all",
		"--listen :1 --static . --audit a/b":                           "--audit: a/b is below .",
		"--listen :1 --static . --tls-cert c --tls-key k":              "--tls-key: k is below .",
		"--listen :1 --static s --tokens t --tls-cert s/c --tls-key k": "",
		"--listen :1 --audit=":                                         "--audit: its value is empty",
		"--listen 10.0.0.1:443 --tls-cert c --tls-key k --tokens=":     "--tokens: its value is empty",
		"--listen :1 --tokens t":                                       "",
		"--listen :1 --tls-cert c --tls-key k":                         "",
		"--listen :1 --audit a":                                        "",
	} {
		_, err := parseListen(t, strings.Fields(args)...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
