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

// Listen says where a program takes calls from outside. The zero value takes none.
type Listen struct {
	Address string // HOST:PORT on loopback, or a port as :8080; "": it does not listen

	flags *flag.FlagSet
}

// listenNames are the names that Listen.Flags declares.
var listenNames = []string{"listen"}

// Flags declares the flags.
func (l *Listen) Flags(fs *flag.FlagSet) {
	l.flags = fs
	fs.StringVar(&l.Address, "listen", "", "serve the methods of the actors by HTTP at `ADDRESS`, as in :8080, which is 127.0.0.1:8080; :0 takes a free port")
}

// Check completes the fields from the flags that were parsed. Its error is one of usage.
func (l *Listen) Check() error {
	if l.flags != nil {
		if err := cmdline.NotEmpty(l.flags, listenNames...); err != nil {
			return err
		}
	}
	if l.Address == "" {
		return nil
	}
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
		return fmt.Errorf("--listen: %q is no address of a host; write localhost, 127.0.0.1 or [::1]", host)
	}
	if host != "localhost" && !a.IsLoopback() {
		return errors.New("--listen: every machine that reaches " + l.Address + " could call every method; listen on 127.0.0.1, behind a server that knows its clients")
	}
	return nil
}

// Arguments returns the flags as they are to be passed on.
func (l *Listen) Arguments() []string {
	if l.Address == "" {
		return nil
	}
	return []string{"--listen", l.Address}
}
