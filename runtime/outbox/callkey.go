package outbox

import (
	"context"
	"errors"

	"github.com/aeon-lang/aeon/runtime/event"
)

// errInvented is the failure of tries that are not made.
var errInvented = errors.New("failed")

// Invented is how a try of a call ends that is not made: success or failure, drawn from a seed. tried tells how many have failed.
func Invented(call event.EventID, tried int, seed uint64) error {
	x := (call.Seed() ^ seed) + uint64(tried)*0x9e3779b97f4a7c15
	if event.Mix(x)>>63 == 0 {
		return nil
	}
	return errInvented
}

// callKey is the key of contexts under which a try finds the key of its call.
type callKey struct{}

// WithCallKey returns the context of a try of the call with a key.
func WithCallKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, callKey{}, key)
}

// CallKey returns the key of the call whose try has got ctx; "" if ctx is none of a try. It is the same at each try of
// a call, after a restart, too, and no other call has it.
func CallKey(ctx context.Context) string {
	key, _ := ctx.Value(callKey{}).(string)
	return key
}
