package pebbledb

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

const tableSuffix = ".sst"

// ownerProperty is the property of a table that names its store.
const ownerProperty = "aeon.store"

// tableOwner has pebble write the property.
type tableOwner struct{ id storeID }

// Name implements pebble.BlockPropertyCollector.
func (tableOwner) Name() string { return ownerProperty }

// FinishTable implements pebble.BlockPropertyCollector.
func (o tableOwner) FinishTable(buf []byte) ([]byte, error) { return append(buf, o.id[:]...), nil }

// The rest of pebble.BlockPropertyCollector is about blocks and rows, of which nothing is collected.

// AddPointKey implements pebble.BlockPropertyCollector.
func (tableOwner) AddPointKey(pebble.InternalKey, []byte) error { return nil }

// AddRangeKeys implements pebble.BlockPropertyCollector.
func (tableOwner) AddRangeKeys(sstable.Span) error { return nil }

// AddCollectedWithSuffixReplacement implements pebble.BlockPropertyCollector.
func (tableOwner) AddCollectedWithSuffixReplacement(_, _, _ []byte) error { return nil }

// SupportsSuffixReplacement implements pebble.BlockPropertyCollector.
func (tableOwner) SupportsSuffixReplacement() bool { return false }

// FinishDataBlock implements pebble.BlockPropertyCollector.
func (tableOwner) FinishDataBlock(buf []byte) ([]byte, error) { return buf, nil }

// AddPrevDataBlockToIndexBlock implements pebble.BlockPropertyCollector.
func (tableOwner) AddPrevDataBlockToIndexBlock() {}

// FinishIndexBlock implements pebble.BlockPropertyCollector.
func (tableOwner) FinishIndexBlock(buf []byte) ([]byte, error) { return buf, nil }

// ownedFrom is the number from which on files name their store.
func (f aeonFile) ownedFrom() uint64 {
	if f.format <= aeonFormatUnowned {
		return math.MaxUint64
	}
	return f.owned
}

// checkTable returns a *DamagedError if a table is another store's. It is called before pebble opens a table for the
// first time. Pebble finds what else is wrong with the table.
func (d *DB) checkTable(name string) error {
	f, err := d.fs.Open(name)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		f.Close()
		return err
	}
	o := &pebble.Options{}
	o.EnsureDefaults()
	r, err := sstable.NewReader(context.Background(), readable, o.MakeReaderOptions()) // closes readable if it fails
	if ofSystem(err) {
		return err
	}
	if err != nil {
		return nil
	}
	defer r.Close() // nothing was written
	property, owned := r.UserProperties[ownerProperty]
	var owner storeID
	if len(property) > len(owner) {
		copy(owner[:], property[1:]) // pebble puts the number of the property in front
	}
	base := d.fs.PathBase(name)
	switch number, _ := strconv.ParseUint(strings.TrimSuffix(base, tableSuffix), 10, 64); { // pebble has made the name
	case owned && owner != d.id:
		return &DamagedError{d.dir, pebbleDir + "/" + base, ofAnother(owner), nil}
	case !owned && number >= d.ownedFrom:
		return &DamagedError{d.dir, pebbleDir + "/" + base, unowned, nil}
	}
	return nil
}

// numberOf returns the number in the name of a file of pebble's, 0 if there is none.
func numberOf(name string) uint64 {
	name = name[strings.LastIndexByte(name, '-')+1:]
	name, _, _ = strings.Cut(name, ".")
	n, _ := strconv.ParseUint(name, 10, 64)
	return n
}
