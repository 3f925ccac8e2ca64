// Package lang is the front end's facade: it parses and formats .aeon files.
// Other packages use it together with lang/ast and lang/diag, and nothing
// below it.
package lang
