// Package snapshot keeps consistent copies of a store, or of an actor with all its
// descendants, in a Target: a directory or a bucket.
//
// A snapshot is a manifest and the chunks that it lists: rows, in the order of their keys. A chunk ends at the key where a
// chunk of the snapshot before ended, or at a key whose hash has a fixed pattern. Files are named by their content. So a chunk in which
// nothing has changed is neither sent nor kept twice. Of a chunk in which something has, the rows that differ are sent,
// as an edit. Edits of many chunks are in one file, a pack. All files are written whole before the manifest that lists
// them, and the manifest is written last: a snapshot is there or it is not.
//
//	STORE/chunks/SHA256          chunks and packs
//	STORE/snapshots/NAME.json    manifests, each with its checksum behind it; names sort by time
//	STORE/snapshots/NAME.pending empty: the snapshots of the other stores, which belong to this one, may be missing
//
// One process at a time may write what belongs to one store.
package snapshot
