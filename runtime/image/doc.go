// Package image turns the fields of actors into rows of the store, and rows into fields.
//
// Generated code drives it through the methods of Stored: one call per field, so that nothing is looked up by
// reflection. A scalar, a value class or bytes is one row. A map, a set or a vector is one row while it encodes
// to at most InlineBytesMax. Beyond that its row has the number of elements only, and each element has a row of
// its own. It becomes one row again below InlineBytesMin.
//
// # Writing
//
// The undo records of the event tell what of a container has changed (value.StoredMap, value.StoredVector), relative to
// the value.Version of the container's body. If that is the version of the rows (mapRows.at, in the actor's Large),
// only what has changed is written. If the field got its content from elsewhere, the versions differ and the field is written
// whole; so it is where a record restores all of a body. Cloning a shared body keeps the
// version, so that an event that writes a map of which there is a copy writes one row all the same.
//
// The Writer changes nothing in memory before Finish: a batch may still be dropped.
//
// # Reading
//
// A container with more elements than eagerElems is not read with its actor. Its body gets a source
// (value.MapSource, value.VectorSource), which reads single elements, or all in order; what events write lies
// over it. A source shows the present state of the store, and a copy of the container may be older. So each commit keeps
// the elements that it replaces with the versions that such copies have. Nothing that was read
// is kept but the last block of a vector that was read element by element; what was written is kept up to a
// bound. A container of which as many rows have been read as it has elements comes into memory, if the budget of
// its reader allows it (value.Tally).
//
// Readers of one body may run at the same time. Where anything cannot be read, the
// source calls Fail of the store and panics with *value.Unreadable.
//
// # Other containers
//
// A package with a container of its own (package table) uses the same parts. Writer.Inline and ByElement write
// the field's row. SetElement and DeleteElement write rows of elements, in as many spaces behind the field's key
// as the container has kinds of rows. Large remembers across commits what the rows are, and Elements is a source.
// The functions for keys of package codec write keys so that they sort, also several of them one behind the
// other.
package image
