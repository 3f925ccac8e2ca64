package exec

import (
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
	"go.uber.org/goleak"
)

// TestMain runs the tests, after which nothing may still run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The classes below are written as codegen would: Account, and Bank, which owns
// accounts by name.

type account struct {
	order.Self
	balance int64
	owner   string
}

func (a *account) setBalance(cx *Cx, v int64) {
	undo.Field(cx.UndoLog(), &a.Self, 0, &a.balance)
	a.balance = v
}

func (a *account) setOwner(cx *Cx, v string) {
	undo.Field(cx.UndoLog(), &a.Self, 1, &a.owner)
	a.owner = v
}

func (a *account) deposit(cx *Cx, n int64) int64 {
	a.setBalance(cx, a.balance+n)
	Require(cx, a.balance >= 0, "not enough money")
	return a.balance
}

type accountRef struct{ order.Ref }

func (r accountRef) callDeposit(cx *Cx, n int64) (ret int64) {
	a, ok := Enter[*account](cx, r.Ref, &methodDeposit)
	if !ok {
		args := depositArgs{amount: n}
		CallRemote(cx, r.Ref, &methodDeposit, &args)
		return args.ret
	}
	ret = a.deposit(cx, n)
	cx.Leave()
	return ret
}

func (r accountRef) callBalance(cx *Cx) (ret int64) {
	a, _ := Enter[*account](cx, r.Ref, &methodBalance)
	ret = a.balance
	cx.Leave()
	return ret
}

func (r accountRef) Deposit(cl *Client, n int64) (int64, error) {
	args := &depositArgs{amount: n}
	err := cl.Await(r.Ref, &methodDeposit, args)
	return args.ret, err
}

func (r accountRef) Balance(cl *Client) (int64, error) {
	args := &depositArgs{}
	err := cl.Await(r.Ref, &methodBalance, args)
	return args.ret, err
}

type depositArgs struct{ amount, ret int64 }

type payArgs struct {
	to     accountRef
	amount int64
}

type bank struct {
	order.Self
	accounts value.Map[string, accountRef]
	made     int64
}

type bankRef struct{ order.Ref }

type openArgs struct {
	name string
	ret  accountRef
}

type transferArgs struct {
	from, to string
	amount   int64
}

func (b *bank) open(cx *Cx, name string) accountRef {
	a := New[*account](cx, &classAccount)
	a.setOwner(cx, name)
	Constructed(cx)
	r := accountRef{a.Self.Ref()}
	undo.MapSetOwned(cx.UndoLog(), &b.Self, 0, &b.accounts, name, r)
	undo.Field(cx.UndoLog(), &b.Self, 1, &b.made)
	b.made++
	return r
}

func (b *bank) transfer(cx *Cx, x *transferArgs) {
	from, to := b.accounts.Lookup(x.from), b.accounts.Lookup(x.to)
	Require(cx, !from.IsNull() && !to.IsNull(), "no such account")
	to.callDeposit(cx, x.amount)
	from.callDeposit(cx, -x.amount)
}

func (b *bank) audit(cx *Cx) (sum int64) {
	for _, k := range b.accounts.Keys().Items() {
		sum += b.accounts.Lookup(k).callBalance(cx)
	}
	return sum
}

func (r bankRef) Open(cl *Client, name string) (accountRef, error) {
	args := &openArgs{name: name}
	err := cl.Await(r.Ref, &methodOpen, args)
	return args.ret, err
}

func (r bankRef) Transfer(cl *Client, from, to string, n int64) error {
	return cl.Await(r.Ref, &methodTransfer, &transferArgs{from, to, n})
}

func (r bankRef) Audit(cl *Client) (int64, error) {
	args := &depositArgs{}
	err := cl.Await(r.Ref, &methodAudit, args)
	return args.ret, err
}

var (
	classAccount = Class{Shape: order.Shape{Package: "bank", Name: "Account", Fields: []order.Field{{Name: "balance", Type: "int"}, {Name: "owner", Type: "string"}}}}
	classBank    = Class{Shape: order.Shape{Package: "bank", Name: "Bank", Fields: []order.Field{{Name: "accounts", Owning: true, Type: "map<string,actor bank.Account?>"}, {Name: "made", Type: "int"}}}}

	methodDeposit  = Method{Class: &classAccount, Name: "deposit", Signature: "(int):int", Effects: order.Effects{Self: order.Write}}
	methodBalance  = Method{Class: &classAccount, Name: "balance", Signature: "(int):int", Effects: order.Effects{Self: order.Read, ReadOnly: true}}
	methodPay      = Method{Class: &classAccount, Name: "pay", Signature: "(actor bank.Account,int)", Effects: order.Effects{Self: order.Write}}
	methodOpen     = Method{Class: &classBank, Name: "open", Signature: "(string):actor bank.Account", Effects: order.Effects{Self: order.Write}}
	methodTransfer = Method{Class: &classBank, Name: "transfer", Signature: "(string,string,int)", Effects: order.Effects{
		Self:      order.Read,
		Below:     order.Exact,
		BelowMode: order.Write,
		Touches:   []order.ClassMode{{Shape: &classAccount.Shape, Mode: order.Write}},
	}}
	methodAudit = Method{Class: &classBank, Name: "audit", Signature: "(int):int", Effects: order.Effects{
		Self:      order.Read,
		Below:     order.Exact,
		BelowMode: order.Read,
		ReadOnly:  true,
		Touches:   []order.ClassMode{{Shape: &classAccount.Shape, Mode: order.Read}},
	}}
	methodBank = Method{Class: &classBank, Name: "Bank", Effects: order.Effects{Self: order.Write}}
)

func init() {
	classAccount.New = func() order.Object { return &account{} }
	classBank.New = func() order.Object { return &bank{} }
	classBank.Construct = &methodBank
	methodBank.NewArgs = func() order.Args { return nil }
	methodBank.Run = func(*Cx, any, order.Args) {}
	methodDeposit.Run = func(cx *Cx, self any, args order.Args) {
		x := args.(*depositArgs)
		x.ret = self.(*account).deposit(cx, x.amount)
	}
	methodBalance.Run = func(_ *Cx, self any, args order.Args) { args.(*depositArgs).ret = self.(*account).balance }
	methodPay.ArgRefs = func(args order.Args, f *order.Footprint) { f.Add(args.(*payArgs).to.Ref, order.Write) }
	methodPay.Run = func(cx *Cx, self any, args order.Args) {
		x := args.(*payArgs)
		self.(*account).deposit(cx, -x.amount)
		x.to.callDeposit(cx, x.amount)
	}
	methodOpen.Run = func(cx *Cx, self any, args order.Args) {
		x := args.(*openArgs)
		x.ret = self.(*bank).open(cx, x.name)
	}
	methodTransfer.Narrow = func(self any, args order.Args, f *order.Footprint) {
		b, x := self.(*bank), args.(*transferArgs)
		f.Add(b.accounts.Lookup(x.from).Ref, order.Write)
		f.Add(b.accounts.Lookup(x.to).Ref, order.Write)
	}
	methodTransfer.Run = func(cx *Cx, self any, args order.Args) { self.(*bank).transfer(cx, args.(*transferArgs)) }
	methodAudit.Narrow = func(self any, _ order.Args, f *order.Footprint) {
		for _, a := range value.ValuesOf(self.(*bank).accounts).Items() {
			f.Add(a.Ref, order.Read)
		}
	}
	methodAudit.Run = func(cx *Cx, self any, args order.Args) { args.(*depositArgs).ret = self.(*bank).audit(cx) }
}

// mustNot fails the test on an error.
func mustNot(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openBank returns a bank with accounts a0, a1, … of 1000 each.
func openBank(t testing.TB, s *System, name string, n int) (bankRef, []accountRef) {
	t.Helper()
	cl := s.Client()
	b := bankRef{Named(cl, &classBank, name)}
	var list []accountRef
	for i := range n {
		a, err := b.Open(cl, "a"+itoa(i))
		mustNot(t, err)
		_, err = a.Deposit(cl, 1000)
		mustNot(t, err)
		list = append(list, a)
	}
	return b, list
}

// again calls f with 0, 1 and so on in a goroutine until stop is called. stop returns when the goroutine has ended.
func again(f func(i int)) (stop func()) {
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !over.Load(); i++ {
			f(i)
			runtime.Gosched()
		}
	})
	return func() {
		over.Store(true)
		wg.Wait()
	}
}

// until lets other goroutines run until cond holds.
func until(cond func() bool) {
	for !cond() {
		runtime.Gosched()
	}
}

func itoa(i int) string { return value.StrInt(int64(i)) }

// quiet drops log lines.
var quiet = slog.New(slog.DiscardHandler)

// lessIfShort returns n, or less in a short run: for loops that the race detector makes ten times as slow and learns little from.
func lessIfShort(n int) int {
	if testing.Short() {
		return (n + 9) / 10
	}
	return n
}
