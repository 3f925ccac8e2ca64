package settings

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/internal/cmdline"
)

// Listen says where a program takes calls from outside, and from whom. The zero value takes none.
type Listen struct {
	Address string // HOST:PORT, or a port as :8080, which is of loopback; "": it does not listen
	Cert    string // the file of the certificate of TLS; "": no TLS
	CertKey string // and that of its key
	Tokens  string // the file of tokens; "": it asks for none
	Audit   string // the file of the audit; "": it keeps none
	Static  string // the directory of files for browsers; "": it serves none

	flags *flag.FlagSet
}

// listenNames are the names that Listen.Flags declares.
var listenNames = []string{"listen", "tls-cert", "tls-key", "tokens", "audit", "static"}

// Flags declares the flags.
func (l *Listen) Flags(fs *flag.FlagSet) {
	l.flags = fs
	fs.StringVar(&l.Address, "listen", "", "serve the methods of the actors by HTTP at `ADDRESS`, as in :8080, which is 127.0.0.1:8080; :0 takes a free port")
	fs.StringVar(&l.Cert, "tls-cert", "", "with --listen: by HTTPS, with the certificate in `FILE`, in PEM")
	fs.StringVar(&l.CertKey, "tls-key", "", "with --tls-cert: the `FILE` of its private key, in PEM")
	fs.StringVar(&l.Tokens, "tokens", "", "with --listen: only for the tokens in `FILE`, each with its rights (docs/http.md)")
	fs.StringVar(&l.Audit, "audit", "", "with --listen: append a line to `FILE` for each call that may change something or was refused")
	fs.StringVar(&l.Static, "static", "", "with --listen: also serve the files in `DIR` to browsers, to all that reach the address")
}

// values are the values of the flags, in the order of their names.
func (l *Listen) values() []string {
	return []string{l.Address, l.Cert, l.CertKey, l.Tokens, l.Audit, l.Static}
}

// Scheme is how addresses of what is served begin.
func (l *Listen) Scheme() string {
	if l.Cert != "" {
		return "https"
	}
	return "http"
}

// Check completes the fields from the flags that were parsed. Its error is one of usage.
func (l *Listen) Check() error {
	if l.flags != nil {
		if err := cmdline.NotEmpty(l.flags, listenNames...); err != nil {
			return err
		}
	}
	if l.Address == "" {
		for i, v := range l.values() {
			if v != "" {
				return fmt.Errorf("--%s is about calls from outside; say with --listen where they are taken", listenNames[i])
			}
		}
		return nil
	}
	switch {
	case l.Cert != "" && l.CertKey == "":
		return errors.New("--tls-cert needs the private key of the certificate; name its file with --tls-key")
	case l.Cert == "" && l.CertKey != "":
		return errors.New("--tls-key is of a certificate; name its file with --tls-cert")
	}
	for i, file := range []string{l.CertKey, l.Tokens, l.Audit} {
		if file != "" && l.Shows(file) {
			return fmt.Errorf("--%s: %s is below %s, and --static would serve it to all; move it elsewhere", []string{"tls-key", "tokens", "audit"}[i], file, l.Static)
		}
	}
	return l.checkAddress()
}

// Shows reports whether a file or directory is where browsers can load it.
func (l *Listen) Shows(path string) bool { return l.Static != "" && Within(path, l.Static) }

func (l *Listen) checkAddress() error {
	i := strings.LastIndexByte(l.Address, ':')
	if i < 0 {
		return fmt.Errorf("--listen: %q has no port; write :8080, or 127.0.0.1:8080", l.Address)
	}
	host, port := strings.Trim(l.Address[:i], "[]"), l.Address[i+1:]
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("--listen: %q is no port; that is a number from 0 to 65535", port)
	}
	if host == "" {
		host, l.Address = "localhost", "127.0.0.1:"+port
	}
	a, err := netip.ParseAddr(host)
	if host != "localhost" && err != nil {
		return fmt.Errorf("--listen: %q is no address of a host; write localhost, 127.0.0.1 or [::1], or another address of this machine", host)
	}
	if host == "localhost" || a.IsLoopback() {
		return nil
	}
	var missing []string
	if l.Cert == "" {
		missing = append(missing, "--tls-cert FILE --tls-key FILE")
	}
	if l.Tokens == "" {
		missing = append(missing, "--tokens FILE")
	}
	if missing != nil {
		return fmt.Errorf("--listen: other machines reach %s; add %s, or listen on 127.0.0.1", l.Address, strings.Join(missing, " and "))
	}
	return nil
}

// Arguments returns the flags as they are to be passed on.
func (l *Listen) Arguments() []string {
	var args []string
	for i, v := range l.values() {
		if v != "" {
			args = append(args, "--"+listenNames[i], v)
		}
	}
	return args
}
