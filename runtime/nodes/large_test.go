package nodes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/across"
)

// A call of another store, or its answer, that has too many bytes is a fault of the event: it ends no session, and the event is not run again.
func TestACallThatIsTooLarge(t *testing.T) {
	b := badgesOn(t, 0, 0)
	cl := b.System(0).Client()
	home, of := b.badge(0, b.name(0, 0)), b.badge(0, b.name(1, 0))
	fetch := func(n int) (string, error) {
		x := &badgeArgs{of: of, name: strings.Repeat("x", n)}
		err := cl.Await(home, &badgeFetch, x)
		return x.name, err
	}
	if got, err := fetch(across.CallMax / 2); err != nil || got != fmt.Sprint(across.CallMax/2+len(badgeMore)) {
		t.Errorf("%s bytes come back (%v)", got, err)
	}
	for what, n := range map[string]int{"the call of Badge.copy has": across.CallMax, "the answer of Badge.copy has": across.CallMax - len(badgeMore)} {
		before := b.Counts().Withdrawn
		_, err := fetch(n)
		if abort := new(aeonrt.AbortError); !errors.As(err, &abort) || !abort.Fault || !strings.Contains(abort.Msg, what) || !strings.Contains(abort.Msg, fmt.Sprint(across.CallMax)) {
			t.Errorf("%d bytes: %.300v", n, err)
		}
		if n := b.Counts().Withdrawn - before; n > 0 {
			t.Errorf("%d attempts are withdrawn", n)
		}
	}
	b.end()
}
