package join

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aeon-lang/aeon/membership/identity"
	"github.com/aeon-lang/aeon/membership/port"
	"github.com/aeon-lang/aeon/placement"
	"github.com/aeon-lang/aeon/runtime/event"
)

// Config is what a node that joins needs to be known.
type Config struct {
	Dir     string   // its data directory: empty, or of a join that has not ended
	Token   string   // as an operator has it
	Members []string // addresses; one is enough
	Name    string   // of the node, as people call it
	Address string   // where other nodes will reach it
	Program string   // its name
	Clock   func() time.Time
	Logger  *slog.Logger // nil: nothing is logged
}

// RefusedError says why the cluster does not admit the node. Asking again does not help.
type RefusedError struct{ Address, Reason string }

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("the member at %s does not admit this node: %s", e.Address, e.Reason)
}

// The pauses between two rounds of questions.
const (
	pauseMin = 100 * time.Millisecond
	pauseMax = 2 * time.Second
)

// Join makes the node a member, and returns its identity and the members that it has then. It asks one address after the other, until it is answered
// or ctx ends. The error is a *RefusedError if the cluster has refused. After any other the node may be a member: Join with the same directory then goes on.
func Join(ctx context.Context, cfg Config) (*identity.Identity, map[event.NodeID]placement.Member, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	token, err := identity.ParseToken(cfg.Token)
	if err != nil {
		return nil, nil, err
	}
	if len(cfg.Members) == 0 {
		return nil, nil, fmt.Errorf("no address of a member is given")
	}
	c, err := identity.Prepare(cfg.Dir)
	if err != nil {
		return nil, nil, err
	}
	asked := false // a member may have the request
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		var failed []error
		strangers := 0
		for _, address := range cfg.Members {
			r, sent, err := ask(ctx, &cfg, address, token, c)
			asked = asked || sent
			switch {
			case err == nil && r.Admission != nil:
				id, err := c.Complete(*r.Admission)
				return id, r.Members, err
			case err == nil && r.Refusal != "":
				return nil, nil, &RefusedError{address, r.Refusal}
			case err == nil:
				err = fmt.Errorf("the member at %s: %s", address, r.Retry)
			}
			if stranger := (*port.StrangerError)(nil); errors.As(err, &stranger) {
				strangers++
			}
			failed = append(failed, err)
			cfg.Logger.Info("a member does not answer the join", "address", address, "error", err)
		}
		if strangers == len(cfg.Members) {
			return nil, nil, errors.Join(failed...)
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			if !asked {
				return nil, nil, fmt.Errorf("no member was reached: %w; is each address right, and does a member run there? Then join again with the same directory and token (%w)", errors.Join(failed...), ctx.Err())
			}
			return nil, nil, fmt.Errorf("no member has answered: %w; this node may have joined: join again with the same directory and token, and it goes on where it was (%w)", errors.Join(failed...), ctx.Err())
		}
	}
}

// ask asks one member. It reports whether that may have got the request.
func ask(ctx context.Context, cfg *Config, address string, token identity.Token, candidate *identity.Candidate) (r reply, sent bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerMax)
	defer cancel()
	c, err := port.DialJoin(ctx, address, token)
	if err != nil {
		return r, false, err
	}
	defer during(ctx, c)()
	b, err := challenge(c)
	if err != nil {
		return r, false, err
	}
	q := request{format, token.Text(), cfg.Program, cfg.Name, cfg.Address, candidate.Public(), candidate.Sign(b), cfg.Clock()}
	if err = send(c, &q); err == nil {
		err = receive(c, replyMax, &r)
	}
	if err != nil {
		err = fmt.Errorf("the member at %s: %w", address, errors.Join(err, ctx.Err()))
	}
	return r, true, err
}
