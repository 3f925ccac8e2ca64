// Package node is what a program is compiled with to keep its state on disk and to take calls from outside: the store on
// pebble, the places where snapshots go, and the doors. The other packages of the runtime import
// only the standard library; this one imports the modules of the store and of S3.
package node

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/door/audit"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/snapshot/s3"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// Entry returns Keep for a main package, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return Keep }

// Keep is what main hands to the runtime.
var Keep = aeonrt.With(aeonrt.Parts{Store: pebbledb.Open, Snapshots: OpenTarget, Door: openDoor})

// openDoor serves a program by HTTP.
func openDoor(c aeonrt.DoorConfig) (aeonrt.Door, error) {
	d, err := door.Open(c.System, c.Classes)
	if err != nil {
		return nil, err
	}
	cfg := httpdoor.Config{Program: c.Program, Door: d, Log: c.Log}
	if c.Cert != "" {
		if cfg.TLS, err = httpdoor.Certificate(c.Cert, c.CertKey); err != nil {
			return nil, err
		}
	}
	if c.Tokens != "" {
		if cfg.Tokens, err = access.Read(c.Tokens, d, c.Log); err != nil {
			return nil, err
		}
	}
	if c.Audit != "" {
		if cfg.Audit, err = audit.Open(c.Audit); err != nil {
			return nil, err
		}
	}
	return httpdoor.Listen(c.Address, cfg)
}

// OpenTarget opens the place at an address, which is a directory or s3://BUCKET/PREFIX (package
// s3 has the parameters).
func OpenTarget(ctx context.Context, address string) (snapshot.Target, error) {
	switch {
	case strings.HasPrefix(address, s3.Scheme):
		return s3.Open(ctx, address)
	case address == "":
		return nil, errors.New("snapshots need a place: a directory, or s3://BUCKET/PREFIX")
	case strings.Contains(address, "://"):
		return nil, errors.New(address + ": snapshots go to a directory, or to s3://BUCKET/PREFIX")
	}
	dir, err := filepath.Abs(address)
	if err != nil {
		return nil, err
	}
	return snapshot.Dir(dir), nil
}
