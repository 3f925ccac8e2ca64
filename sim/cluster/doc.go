// Package cluster has tests that run clusters of real processes under load, and kill and pause them.
package cluster
