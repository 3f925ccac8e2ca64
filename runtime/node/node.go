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
	"github.com/aeon-lang/aeon/runtime/snapshot"
	"github.com/aeon-lang/aeon/runtime/snapshot/s3"
	"github.com/aeon-lang/aeon/runtime/store/pebbledb"
)

// Entry returns Keep for a main package, see aeonrt.MainOf.
//
//go:noinline
func Entry() any { return Keep }

// Keep is what main hands to the runtime.
var Keep = KeepWith(nil)

// KeepWith is Keep for a program that takes calls by gRPC, too; grpc makes what serves them.
func KeepWith(grpc GRPC) aeonrt.Option { return aeonrt.With(PartsWith(grpc)) }

// PartsWith are the parts of a program that keeps its state on disk.
func PartsWith(grpc GRPC) aeonrt.Parts {
	return aeonrt.Parts{Store: pebbledb.Open, Snapshots: OpenTarget, Door: grpc.openDoors, Spans: openSpans}
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
