package door

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate makes a certificate of this machine that signs itself, and returns the files of both its halves, and what
// trusts it.
func certificate(t *testing.T) (cert, key string, trust *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	inPEM := func(kind string, b []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	cert, key = writeFile(t, "cert.pem", inPEM("CERTIFICATE", signed), 0o644), writeFile(t, "key.pem", inPEM("PRIVATE KEY", bytes), 0o600)
	trust = x509.NewCertPool()
	trust.AppendCertsFromPEM([]byte(inPEM("CERTIFICATE", signed)))
	return cert, key, trust
}

// A program serves callers by TLS and for tokens; and whatever is sent, what it says, its audit and its answers have no token.
func TestNoTokenIsWritten(t *testing.T) {
	t.Parallel()
	exe, dir := build(t), t.TempDir()
	cert, key, trust := certificate(t)
	file, tokens := tokenFile(t)
	log := filepath.Join(dir, "audit")
	p := start(t, exe, filepath.Join(dir, "data"), "--tls-cert", cert, "--tls-key", key, "--tokens", file, "--audit", log)
	address, secure := strings.CutPrefix(p.url, "https://")
	if !secure {
		t.Fatalf("it listens on %s", p.url)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	var answers strings.Builder
	send := func(url, token string) (status int, proto string) {
		r, err := http.NewRequest("POST", url, strings.NewReader(`{"n":1}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", token)
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if err := a.Header.Write(&answers); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&answers, a.Body); err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, a.Proto
	}
	url := "https://" + address + "/v1/Shop/main/"
	for path, want := range map[string]int{"add": 200, "put": 403, "nothing": 403, "": 405, "add?n=2": 200} {
		if status, proto := send(url+path, "Bearer "+tokens["ann"]); status != want || proto != "HTTP/2.0" {
			t.Errorf("%s: %d by %s, expected %d", path, status, proto, want)
		}
	}
	for _, token := range []string{"Basic " + tokens["ann"], "Bearer " + tokens["ann"] + "x", tokens["ann"], "Bearer " + tokens["ann"] + " " + tokens["ops"]} {
		if status, _ := send(url+"add", token); status != 401 {
			t.Errorf("%.7s…: %d", token, status)
		}
	}
	if status, _ := send("http://"+address+"/v1/Shop/main/add", "Bearer "+tokens["ann"]); status != 400 { // net/http itself refuses it
		t.Errorf("without TLS: %d", status)
	}
	old := &tls.Config{RootCAs: trust, MaxVersion: tls.VersionTLS12}
	if c, err := tls.Dial("tcp", address, old); err == nil {
		c.Close()
		t.Error("it speaks TLS 1.2")
	}
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.said
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the program has ended with %v", err)
	}
	if n := len(lines(t, log)); n != 8 {
		t.Errorf("the audit has %d lines", n)
	}
	audited, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.log.String(), "TLS handshake error") {
		t.Errorf("the log says nothing of the old client:\n%s", &p.log)
	}
	for where, text := range map[string]string{"log": p.log.String(), "audit": string(audited), "answers": answers.String()} {
		for name, token := range tokens {
			if strings.Contains(text, token) || strings.Contains(text, token[len(token)-20:]) {
				t.Errorf("the %s has the token of %s:\n%s", where, name, text)
			}
		}
	}
}

// A program whose files cannot be used does not begin.
func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	exe := build(t)
	cert, key, _ := certificate(t)
	_, other, _ := certificate(t)
	file, tokens := tokenFile(t)
	shared := writeFile(t, "tokens", "", 0o606)
	for _, c := range []struct{ flags, want string }{
		{"--tls-cert " + cert + " --tls-key " + other, "the certificate " + cert + " and the key " + other + " cannot be used: tls: private key does not match"},
		{"--tls-cert " + cert + "x --tls-key " + key, "cert.pemx: no such file"},
		{"--tokens " + file + "x", "the file of tokens cannot be read: open " + file + "x: no such file"},
		{"--tokens " + shared, "run chmod o= " + shared},
		{"--tokens " + cert, "cert.pem:1: there is no hash of a token"},
		{"--tokens " + file + " --audit " + t.TempDir(), "the file of --audit cannot be opened: open "},
	} {
		cmd := exec.Command(exe, append([]string{"--serve", "--listen", "127.0.0.1:0"}, strings.Fields(c.flags)...)...)
		said, err := cmd.CombinedOutput()
		if code := new(exec.ExitError); !errors.As(err, &code) || code.ExitCode() != 3 || !strings.Contains(string(said), c.want) || strings.Contains(string(said), tokens["ann"]) {
			t.Errorf("%s: %v, %s\nexpected %s", c.flags, err, said, c.want)
		}
	}
}
