package assert

import "testing"

func TestThatPanicsWithItsMessage(t *testing.T) {
	That(true, "never built %d", 1)
	defer func() {
		f, ok := recover().(Failure)
		if !ok || f.Error() != "assertion failed: queue of 7 is empty" {
			t.Fatalf("recovered %v", f)
		}
	}()
	That(false, "queue of %d is empty", 7)
}

func TestUnreachable(t *testing.T) {
	defer func() {
		if f, ok := recover().(Failure); !ok || f.Msg != "unreachable: mode 9" {
			t.Fatalf("recovered %v", f)
		}
	}()
	Unreachable("mode %d", 9)
}
