package exec

import (
	"testing"
	"unsafe"

	"github.com/aeon-lang/aeon/runtime/order"
)

// A handle takes three cache lines of its own, and no more.
func TestSizeOfAHandle(t *testing.T) {
	if size := unsafe.Sizeof(order.Handle{}); size != 192 {
		t.Errorf("a handle takes %d bytes", size)
	}
}
