package embed_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon"
	"github.com/aeon-lang/aeon/sim/embed/hall"
)

// What handles embed is exported, so one can get into the type of another class. It is refused before the call, as are other
// calls that cannot be meant; and a handle that a method returns equals the one that was passed.
func TestCallsThatCannotBeMeant(t *testing.T) {
	db, err := hall.Open(t.Context(), aeon.InMemory())
	mustNot(t, err)
	defer db.Close()
	ctx, desk, main := t.Context(), db.Desk("d"), db.Hall("main")
	stranger := hall.Hall{Handle: desk.Handle}
	var none context.Context
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"an argument of another class": {desk.Serve(ctx, stranger), "Desk/d is no Hall"},
		"an actor of another class":    {stranger.Leave(ctx), "Desk/d is no Hall"},
		"no actor":                     {hall.Hall{}.Leave(ctx), "the handle is that of no actor"},
		"two keys":                     {main.Leave(ctx, aeon.Once("a"), aeon.Once("b")), "two keys"},
		"no context":                   {main.Leave(none), "the context of the call is nil"},
	} {
		if failed := new(aeon.Error); !errors.As(c.err, &failed) || !errors.Is(c.err, aeon.ErrArguments) || failed.Happened != aeon.No || !strings.Contains(failed.Msg, c.want) {
			t.Errorf("%s: %v, expected %q", what, c.err, c.want)
		}
	}
	mustNot(t, desk.Serve(ctx, main))
	found, err := db.FindHall("Hall/main")
	mustNot(t, err)
	_, err = db.FindHall("Hall:1:99")
	if failed := new(aeon.Error); !errors.As(err, &failed) || !errors.Is(err, aeon.ErrArguments) || failed.Code != "not-found" || failed.Msg != "there is no actor Hall:1:99" {
		t.Errorf("an actor that is not there: %+v", failed)
	}
	if got, err := desk.Serves(ctx); err != nil || got != main || got != found {
		t.Errorf("%v (%v), expected %v", got, err, main)
	}
}
