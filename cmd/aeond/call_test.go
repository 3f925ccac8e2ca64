package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Programs on other machines are called by https, so that a token is not sent unencrypted.
func TestWhereAProgramIsCalled(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("aeon_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ at, token, want string }{
		{"localhost:1,127.0.0.1:2,[::1]:3,:4", token, "http://localhost:1,http://127.0.0.1:2,http://[::1]:3,http://:4"},
		{"a.example:1,10.0.0.1:2", "", "https://a.example:1,https://10.0.0.1:2"},
		{"a.example:1,https://b.example,http://localhost:2", token, "https://a.example:1,https://b.example,http://localhost:2"},
		{"http://a.example:1", "", "http://a.example:1"},
		{"a.example:1,http://10.0.0.1:2", token, "--at: http://10.0.0.1:2 would be sent the token unencrypted; write https://10.0.0.1:2"},
	} {
		cfg, err := (&calling{at: c.at, token: c.token}).places()
		got := strings.Join(cfg.URLs, ",")
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("--at %s: %s, expected %s", c.at, got, c.want)
		}
		if err == nil && c.token != "" && cfg.Token != "aeon_x" {
			t.Errorf("--at %s: the token is %q", c.at, cfg.Token)
		}
	}
}
