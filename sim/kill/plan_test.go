package kill

import (
	"fmt"
	"math/rand/v2"

	"github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/sim/kill/ledger"
)

const (
	accounts = 24
	each     = 1000 // what an account begins with
)

// kindOf is what a request does.
type kindOf uint8

const (
	pay kindOf = iota
	later
	relay
	spin
	put
	closeVault
)

// plan is one request. It follows from the seed, the session and the number of the request, so
// that a process that is started again repeats the same one.
type plan struct {
	kind         kindOf
	session, seq int64
	from         int   // the account that takes note of it
	path         []int // of money: other accounts, all different
	amount       int64
	spins        int64
}

func draw(seed uint64, session int, seq int64) plan {
	r := rand.New(rand.NewPCG(seed, uint64(session)<<32|uint64(seq)))
	order := r.Perm(accounts)
	p := plan{session: int64(session), seq: seq, from: order[0], path: order[1:2], amount: 1 + r.Int64N(300)}
	switch k := r.IntN(100); {
	case k < 40:
		p.kind = pay
	case k < 55:
		p.kind = later
	case k < 70:
		p.kind, p.path = relay, order[1:2+r.IntN(5)]
	case k < 80:
		p.kind, p.spins = spin, r.Int64N(5)
	case k < 92:
		p.kind = put
	default:
		p.kind = closeVault
	}
	return p
}

// steps returns how often which account performs a step of the request later on.
func (p *plan) steps() map[int]int64 {
	m := make(map[int]int64)
	switch p.kind {
	case later:
		m[p.from] = 1
	case relay:
		for _, a := range p.path {
			m[a] = 1
		}
	case spin:
		m[p.from] = p.spins + 1
	}
	return m
}

// key is the request in the receipts and steps of accounts.
func (p *plan) key() int64 { return p.session*1_000_000 + p.seq }

// await sends the request, of every other session with a key, and returns the outcome as text.
func (p *plan) await(b *book, s *runtime.Session, ack uint64) (string, error) {
	from, to, n := b.accounts[p.from], b.accounts[p.path[0]], uint64(p.seq)
	send := func(r runtime.Ref, m *runtime.Method, args interface{ AeonResult() any }) (string, error) {
		if p.session%2 == 1 {
			_, err := b.sys.Perform(&runtime.Call{Target: r, Method: m, Args: args, Key: fmt.Sprintf("%s/%d", s.Name(), n)})
			return fmt.Sprint(args.AeonResult()), err
		}
		err := s.Await(n, ack, r, m, args)
		return fmt.Sprint(args.AeonResult()), err
	}
	switch p.kind {
	case pay:
		return send(from.Ref, &ledger.AeonMethodAccountPay, &ledger.AeonArgsAccountPay{To: to, Amount: p.amount, Session: p.session, Seq: p.seq})
	case later:
		return send(from.Ref, &ledger.AeonMethodAccountLater, &ledger.AeonArgsAccountLater{To: to, Amount: p.amount, Session: p.session, Seq: p.seq})
	case relay:
		var path runtime.Vector[ledger.AccountRef]
		for _, i := range p.path {
			runtime.Push(&path, b.accounts[i])
		}
		return send(from.Ref, &ledger.AeonMethodAccountRelay, &ledger.AeonArgsAccountRelay{Path: path, Amount: p.amount, Session: p.session, Seq: p.seq})
	case spin:
		return send(from.Ref, &ledger.AeonMethodAccountSpin, &ledger.AeonArgsAccountSpin{N: p.spins, Session: p.session, Seq: p.seq})
	case put:
		return send(b.vault(p.session).Ref, &ledger.AeonMethodVaultPut, &ledger.AeonArgsVaultPut{From: from, Amount: p.amount, Session: p.session, Seq: p.seq})
	default:
		return send(b.vault(p.session).Ref, &ledger.AeonMethodVaultClose, &ledger.AeonArgsVaultClose{To: from, Session: p.session, Seq: p.seq})
	}
}
