package trace

import (
	"time"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Version is the version of the format that Writer writes.
const Version = 4

// Header tells what the records after it come from.
type Header struct {
	Program string        `json:"program"`        // name of the package
	Test    bytejson.Text `json:"test,omitempty"` // of a test: its name
	Seed    uint64        `json:"seed,omitempty"`
	// States says that reads and writes carry hashes of the fields.
	States bool `json:"states,omitempty"`
	// Store is the id of the store of a durable system, Run counts its openings, from 1 on.
	Store string `json:"store,omitempty"`
	Run   uint64 `json:"run,omitempty"`
	// Recovered is the order of the last commit of the run before that this one has
	// found; nil if that run was not recorded.
	Recovered *int64 `json:"recovered,omitempty"`
	// Node is the node of a cluster on which the system runs. Its recorder is Clocked then.
	Node event.NodeID `json:"node,omitempty"`
	// Cluster is the id of a cluster of several stores, Stores how many there are, Number that of the store, from 0 on.
	Cluster string        `json:"cluster,omitempty"`
	Number  event.StoreID `json:"number,omitempty"`
	Stores  int           `json:"stores,omitempty"`
	Started time.Time     `json:"-"` // when the section begins; zero: now. Begin writes it
}
