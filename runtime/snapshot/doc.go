// Package snapshot keeps consistent copies of a store, or of an actor with all its
// descendants, in a Target: a directory or a bucket.
//
// A snapshot is a manifest and the chunks that it lists: rows, in the order of their keys. Where
// one chunk ends and the next begins depends on keys alone, and chunks are named by their
// content. So what lies between two changes is the same chunk as in the last snapshot, and is neither
// sent nor kept twice. A chunk is written whole before the manifest that lists it, and a
// manifest is written last: a snapshot is there or it is not.
//
//	STORE/chunks/SHA256          content
//	STORE/snapshots/NAME.json    manifests, each with its checksum behind it; names sort by time
//
// One process at a time may write what belongs to one store.
package snapshot
