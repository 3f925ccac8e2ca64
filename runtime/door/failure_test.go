package door_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/jsoncodec"
	"github.com/aeon-lang/aeon/runtime/order"
)

// Each failure has its code, and says what is certain.
func TestFailuresAreExplained(t *testing.T) {
	path := []callpath.Frame{{Func: "aeon.invalid/p1/bank.(*Account).withdraw", File: "/src/bank/bank.aeon", Line: 62}}
	limit := &event.LimitError{Limit: "FuelMax"}
	for _, c := range []struct {
		err  error
		want string // code, what has happened, whether it may come again, where
	}{
		{&event.AbortError{Msg: "no", Path: path}, "aborted no false bank.aeon:62"},
		{&event.AbortError{Msg: "no"}, "aborted no false "},
		{&event.AbortError{Fault: true, Path: path}, "fault no false bank.aeon:62"},
		{&event.AbortError{Fault: true, Cause: limit, Path: path}, "limit no false bank.aeon:62"},
		{&event.AbortError{Cause: order.ErrCancelled}, "timeout no true "},
		{event.BehindFirst(&event.AbortError{Msg: "no", Path: path}), "aborted partly false bank.aeon:62"},
		{event.BehindFirst(&event.AbortError{Fault: true, Cause: limit}), "limit partly false "},
		{event.BehindFirst(&event.AbortError{Cause: order.ErrCancelled}), "timeout partly false "},
		{&event.LimitError{Limit: "QueueDepthMax"}, "full no true "},
		{&event.UnknownError{Cause: errors.New("EIO")}, "unknown unknown true "},
		{event.ErrUnderWay, "unknown unknown true "},
		{event.ErrPostponed, "unavailable begun true "},
		{event.ErrClosed, "unavailable no true "},
		{event.ErrKeyReused, "key-reused no false "},
		{&door.KeyError{"too long"}, "arguments no false "},
		{&event.ResultError{}, "result yes false "},
		{&door.ResultError{}, "result yes false "},
		{&door.NotFoundError{}, "not-found no false "},
		{&jsoncodec.Error{}, "arguments no false "},
		{errors.New("of which nothing is known"), "unknown unknown true "},
	} {
		f := door.Explain(fmt.Errorf("a call: %w", c.err))
		if got := fmt.Sprintf("%s %s %v %s", f.Code, f.Happened, f.Later, f.At); got != c.want {
			t.Errorf("%T %v: %s, and should be %s", c.err, c.err, got, c.want)
		}
	}
	if f := door.Explain(&event.AbortError{Path: path}); len(f.Path) != 1 || f.Path[0] != "bank.aeon:62 (Account.withdraw)" {
		t.Errorf("the path is %q", f.Path)
	}
}
