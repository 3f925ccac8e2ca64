package value_test

import (
	"net/netip"
	"testing"

	"github.com/aeon-lang/aeon/runtime/value"
)

// A map whose keys are texts of one Go value has no counterpart in Go: an entry would be lost.
func TestKeysAreOneInGo(t *testing.T) {
	var m value.Map[string, int64]
	value.SetEntry(&m, "::1", 1)
	value.SetEntry(&m, "::2", 2)
	toGo := func() map[netip.Addr]int64 {
		return value.GoMap(m, netip.MustParseAddr, func(n int64) int64 { return n })
	}
	if got := toGo(); len(got) != 2 {
		t.Errorf("Go gets %v", got)
	}
	value.SetEntry(&m, "0:0:0:0:0:0:0:1", 3)
	if got := fault(func() { toGo() }); got != "two keys of a map are one in Go" {
		t.Errorf("the fault is %q", got)
	}
}
