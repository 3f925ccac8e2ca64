//go:build !race

package pebbledb_test

const slower = 1
