package across

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/runtime/callpath"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/commit"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/span"
)

// What messages are made of, at random. Lists and bytes of length 0 are nil, as what is read.
var (
	flags    = rapid.Bool()
	stores   = rapid.Custom(func(t *rapid.T) event.StoreID { return event.StoreID(rapid.Uint32().Draw(t, "store")) })
	texts    = rapid.StringN(0, 20, 40)
	contents = rapid.Custom(func(t *rapid.T) []byte { return bytesOrNil(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")) })
	numbers  = rapid.OneOf(rapid.Uint64(), rapid.Custom(func(t *rapid.T) uint64 {
		return event.OfStore(event.StoreID(rapid.IntRange(0, event.StoresMax-1).Draw(t, "store")), rapid.Uint64Range(0, 1<<40).Draw(t, "count"))
	}))
	actors = rapid.Custom(func(t *rapid.T) event.ActorID {
		return event.ActorID{Birth: event.PartitionID(rapid.Uint32().Draw(t, "birth")), Serial: numbers.Draw(t, "serial")}
	})
	events = rapid.Custom(func(t *rapid.T) event.EventID {
		return event.EventID{Origin: numbers.Draw(t, "origin"), Seq: numbers.Draw(t, "seq")}
	})
	names = rapid.Custom(func(t *rapid.T) commit.Name {
		return commit.Name{Event: events.Draw(t, "event"), Number: numbers.Draw(t, "number")}
	})
	wanted = rapid.Custom(func(t *rapid.T) order.Wanted {
		return order.Wanted{Actor: actors.Draw(t, "actor"), Mode: order.Mode(rapid.IntRange(0, int(order.Write)).Draw(t, "mode")), Tree: flags.Draw(t, "tree")}
	})
	parts = rapid.Custom(func(t *rapid.T) order.Part {
		return order.Part{Store: stores.Draw(t, "store"), Wanted: several(t, wanted)}
	})
	chains = rapid.Custom(func(t *rapid.T) event.Chain {
		return event.Chain{First: events.Draw(t, "first"), Store: stores.Draw(t, "store"), Waits: event.Waiter(rapid.IntRange(0, int(event.RequestWaits)).Draw(t, "waits"))}
	})
	runs = rapid.Custom(func(t *rapid.T) Run {
		return Run{Depth: rapid.Int().Draw(t, "depth"), Fuel: rapid.Int64().Draw(t, "fuel"), Random: rapid.Uint64().Draw(t, "random"), Now: rapid.Int64().Draw(t, "now"),
			Reached: rapid.Int64().Draw(t, "reached")}
	})
	lineOf = rapid.Custom(func(t *rapid.T) Line {
		l := Line{Issuer: actors.Draw(t, "issuer")}
		if flags.Draw(t, "callback") {
			l.Object, l.Method, l.Args, l.Number = max(1, numbers.Draw(t, "object")), texts.Draw(t, "method"), contents.Draw(t, "args"), rapid.Int().Draw(t, "number")
			return l
		}
		l.Log, l.Text = flags.Draw(t, "log"), texts.Draw(t, "text")
		return l
	})
	calls = rapid.Custom(func(t *rapid.T) *Call {
		c := &Call{Target: actors.Draw(t, "target"), Method: texts.Draw(t, "method"), Args: contents.Draw(t, "args"), Run: runs.Draw(t, "run"),
			Strict: flags.Draw(t, "strict"), Last: flags.Draw(t, "last"), Votes: uint64(rapid.IntRange(0, 300).Draw(t, "votes")), Lines: several(t, lineOf), Grown: several(t, wanted), Order: several(t, numbers)}
		if flags.Draw(t, "recorded") {
			c.Span = &span.Place{Child: rapid.Uint64().Draw(t, "child"), State: texts.Draw(t, "state"), Async: flags.Draw(t, "async")}
			copy(c.Span.Trace[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "trace"))
			copy(c.Span.Parent[:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "parent"))
		}
		return c
	})
	frames = rapid.Custom(func(t *rapid.T) callpath.Frame {
		return callpath.Frame{Func: texts.Draw(t, "func"), File: texts.Draw(t, "file"), Line: rapid.Int().Draw(t, "line")}
	})
	causeOf = rapid.Custom(func(t *rapid.T) error {
		switch rapid.IntRange(0, 4).Draw(t, "cause") {
		case 1:
			return order.ErrCancelled
		case 2:
			return &event.LimitError{Limit: texts.Draw(t, "limit"), Max: rapid.Int64().Draw(t, "max"), What: texts.Draw(t, "what"), Remedy: texts.Draw(t, "remedy")}
		case 3:
			return assert.Failure{Msg: texts.Draw(t, "msg")}
		case 4:
			u := &event.UnknownError{Event: events.Draw(t, "event")}
			if why := texts.Draw(t, "why"); why != "" {
				u.Cause = errors.New(why)
			}
			return u
		}
		return nil
	})
	failures = rapid.Custom(func(t *rapid.T) *event.AbortError {
		return &event.AbortError{Msg: texts.Draw(t, "msg"), Event: events.Draw(t, "event"), Fault: flags.Draw(t, "fault"), Path: several(t, frames), Cause: causeOf.Draw(t, "cause")}
	})
	replies = rapid.Custom(func(t *rapid.T) *Reply {
		r := &Reply{Withdrawn: flags.Draw(t, "withdrawn"), Refused: flags.Draw(t, "refused"), Goes: flags.Draw(t, "goes"), Wrote: flags.Draw(t, "wrote"), Votes: rapid.Uint64().Draw(t, "votes"), Granted: flags.Draw(t, "granted"), Over: flags.Draw(t, "over"), InTurn: flags.Draw(t, "in turn"), Holds: flags.Draw(t, "holds"),
			Result: contents.Draw(t, "result"), Lines: several(t, lineOf), Grown: several(t, wanted)}
		if flags.Draw(t, "has run") {
			r.Run = runs.Draw(t, "run")
		}
		if flags.Draw(t, "has failed") {
			r.Failed = failures.Draw(t, "failed")
		}
		if flags.Draw(t, "has claim") {
			r.Claim = wanted.Draw(t, "claim")
		}
		if flags.Draw(t, "has kept") {
			r.Kept = actors.Draw(t, "kept")
		}
		if flags.Draw(t, "has made") {
			r.Made = actors.Draw(t, "made")
		}
		return r
	})
	commitOf = rapid.Custom(func(t *rapid.T) commit.Message {
		m := commit.Message{Kind: commit.Kind(rapid.IntRange(1, len(commits)-1).Draw(t, "kind")), Name: names.Draw(t, "name")}
		m.Yes = commits[m.Kind]&inCommitYes != 0 && flags.Draw(t, "yes")
		m.Writes = commits[m.Kind]&inCommitWrites != 0 && flags.Draw(t, "writes")
		if commits[m.Kind]&inCommitAt != 0 {
			m.At = rapid.Int64().Draw(t, "at")
		}
		return m
	})
	questionOf = rapid.Custom(func(t *rapid.T) *Question {
		switch rapid.IntRange(0, askForms-1).Draw(t, "form") {
		case askLines:
			return &Question{Lines: rapid.SliceOfN(lineOf, 1, 3).Draw(t, "lines"), Number: numbers.Draw(t, "number"), Event: events.Draw(t, "event")}
		case askKept:
			return &Question{Kept: actors.Draw(t, "kept")}
		case askActor:
			return &Question{Actor: actors.Draw(t, "actor")}
		case askEnd:
			end := &End{First: events.Draw(t, "first"), Client: flags.Draw(t, "client")}
			if flags.Draw(t, "fails") {
				end.Failed = failures.Draw(t, "failed")
			} else {
				end.Result, end.Class, end.Method, end.Text = contents.Draw(t, "result"), texts.Draw(t, "class"), texts.Draw(t, "method"), texts.Draw(t, "text")
			}
			return &Question{End: end}
		case askObject:
			return &Question{Object: max(numbers.Draw(t, "object"), 1), Class: texts.Draw(t, "class"), Name: texts.Draw(t, "name")}
		}
		return &Question{Class: texts.Draw(t, "class"), Name: texts.Draw(t, "name")}
	})
	answers = rapid.Custom(func(t *rapid.T) *Question {
		return &Question{Class: texts.Draw(t, "class"), Actor: actors.Draw(t, "actor"), Label: texts.Draw(t, "label"), First: actors.Draw(t, "first"),
			Gone: flags.Draw(t, "gone")}
	})
)

func bytesOrNil(b []byte) []byte { return append([]byte(nil), b...) }

func several[T any](t *rapid.T, of *rapid.Generator[T]) []T {
	return append([]T(nil), rapid.SliceOfN(of, 0, 3).Draw(t, "list")...)
}

// messageOf draws a message of a kind.
func messageOf(t *rapid.T, kind Kind) *Message {
	m, f := &Message{Kind: kind}, messages[kind]
	if f&inMessageYes != 0 {
		m.Yes = flags.Draw(t, "yes")
	}
	if f&inMessageName != 0 {
		m.Name = names.Draw(t, "name")
	}
	if f&inMessageHome != 0 {
		m.Home = stores.Draw(t, "home")
	}
	if f&inMessageMethod != 0 {
		m.Method = texts.Draw(t, "method")
	}
	if f&inMessageNumber != 0 {
		m.Number = numbers.Draw(t, "number")
	}
	if f&inMessagePlace != 0 {
		m.Place = numbers.Draw(t, "place")
	}
	if f&inMessageChain != 0 {
		m.Chain = chains.Draw(t, "chain")
	}
	if f&inMessageParts != 0 {
		m.Parts = several(t, parts)
	}
	if f&inMessageWanted != 0 {
		m.Wanted = several(t, wanted)
	}
	if f&inMessageCall != 0 {
		m.Call = calls.Draw(t, "call")
	}
	if f&inMessageReply != 0 {
		m.Reply = replies.Draw(t, "reply")
	}
	if f&inMessageCommit != 0 {
		m.Commit = commitOf.Draw(t, "commit")
	}
	if f&inMessageClaim != 0 && flags.Draw(t, "has claim") {
		m.Claim = wanted.Draw(t, "claim")
	}
	if f&inMessageTick != 0 {
		m.Tick = rapid.Int64().Draw(t, "tick")
	}
	if f&inMessageQuestion != 0 {
		if kind == Ask {
			m.Question = questionOf.Draw(t, "question")
		} else {
			m.Question = answers.Draw(t, "answer")
		}
	}
	return m
}

// one is a message with its name in golden.
type one struct {
	name string
	m    *Message
}

// samples has a message of each kind, and of each form.
func samples() []one {
	bank, account := event.NamedActor("bank.Bank", "main", 0, event.Partitions), event.SerialActor(3, event.OfStore(1, 5))
	name := commit.Name{Event: event.EventID{Origin: event.OfStore(1, 2), Seq: 7}, Number: event.OfStore(1, 1<<30+9)}
	chain := event.Chain{First: name.Event, Store: 1, Waits: event.ClientWaits}
	claim := order.Wanted{Actor: account, Mode: order.Read, Tree: true}
	run := Run{Depth: 2, Fuel: 1_000_000, Random: 1 << 63, Now: 1_000_000_000}
	lines := []Line{{Text: "hello", Issuer: account}, {Log: true, Text: "note", Issuer: account},
		{Issuer: account, Object: event.OfStore(2, 3), Method: "Screen.show", Args: []byte{1}, Number: 2}}
	path := []callpath.Frame{{Func: "bank.(*Account_).withdraw", File: "bank.aeon", Line: 17}}
	failed := func(cause error) *Reply {
		return &Reply{Failed: &event.AbortError{Msg: "no", Event: name.Event, Fault: true, Path: path, Cause: cause}}
	}
	voting := func(m commit.Message) *Message {
		m.Name = name
		return &Message{Kind: Commit, Commit: m}
	}
	dropped := voting(commit.Message{Kind: commit.Dropped})
	dropped.Claim = claim
	return []one{
		{"order", &Message{Kind: Order, Name: name, Home: 1, Method: "bank.Bank.transfer", Chain: chain,
			Parts: []order.Part{{Store: 0, Wanted: []order.Wanted{{Actor: bank, Mode: order.Write}}}, {Store: 2, Wanted: []order.Wanted{claim}}}}},
		{"turn", &Message{Kind: Turn, Name: name, Number: 300, Place: 700}},
		{"take", &Message{Kind: Take, Name: name, Home: 1, Method: "bank.Bank.transfer", Number: 300, Place: 700, Chain: chain, Wanted: []order.Wanted{claim}}},
		{"taken", &Message{Kind: Taken, Name: name}},
		{"called", &Message{Kind: Called, Name: name, Call: &Call{Target: account, Method: "bank.Account.deposit", Args: []byte{1, 2}, Run: run}}},
		{"called, with lines", &Message{Kind: Called, Name: name, Call: &Call{Target: event.WholePartition(3), Strict: true, Lines: lines}}},
		{"called, recorded", &Message{Kind: Called, Name: name, Call: &Call{Target: account, Method: "bank.Account.deposit", Run: Run{Reached: 1_700_000_000_000_000_000},
			Span: &span.Place{Trace: span.TraceID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, Parent: span.ID{0, 1, 2, 3, 4, 5, 6, 7}, Child: 2, State: "x=1", Async: true}}}},
		{"called, to vote", &Message{Kind: Called, Name: name, Call: &Call{Target: account, Method: "bank.Account.deposit", Votes: 2}}},
		{"called, by a branch", &Message{Kind: Called, Name: name, Number: 3, Call: &Call{Target: account, Method: "bank.Account.deposit", Order: []uint64{2, 300}}}},
		{"returned", &Message{Kind: Returned, Name: name, Reply: &Reply{Result: []byte{3}, Run: run, Wrote: true, Grown: []order.Wanted{claim}}}},
		{"returned, with lines", &Message{Kind: Returned, Name: name, Reply: &Reply{Made: account, Goes: true, Lines: lines}}},
		{"returned, voted", &Message{Kind: Returned, Name: name, Reply: &Reply{Wrote: true, Votes: 2}}},
		{"called, to be over", &Message{Kind: Called, Name: name, Call: &Call{Target: account, Method: "bank.Account.deposit", Votes: 2, Last: true}}},
		{"returned, over", &Message{Kind: Returned, Name: name, Reply: &Reply{Votes: 1, Over: true}}},
		{"returned, held", &Message{Kind: Returned, Name: name, Reply: &Reply{Votes: 1, Holds: true}}},
		{"returned, granted", &Message{Kind: Returned, Name: name, Reply: &Reply{Granted: true}}},
		{"returned, withdrawn", &Message{Kind: Returned, Name: name, Reply: &Reply{Withdrawn: true, Refused: true, Claim: claim, Kept: account}}},
		{"returned, to be made in turn", &Message{Kind: Returned, Name: name, Reply: &Reply{Withdrawn: true, InTurn: true}}},
		{"returned, lacking a method", &Message{Kind: Returned, Name: name, Reply: &Reply{Withdrawn: true, Lacks: "bank.Account.deposit#00c0ffee"}}},
		{"returned, failed", &Message{Kind: Returned, Name: name, Reply: failed(nil)}},
		{"returned, cancelled", &Message{Kind: Returned, Name: name, Reply: failed(order.ErrCancelled)}},
		{"returned, too much", &Message{Kind: Returned, Name: name, Reply: failed(&event.LimitError{Limit: "L", Max: 5, What: "w", Remedy: "r"})}},
		{"returned, a bug", &Message{Kind: Returned, Name: name, Reply: failed(assert.Failure{Msg: "bug"})}},
		{"returned, unknown", &Message{Kind: Returned, Name: name, Reply: failed(&event.UnknownError{Event: name.Event, Cause: errors.New("disk")})}},
		{"prepare", voting(commit.Message{Kind: commit.Prepare, Writes: true})},
		{"done, with others", &Message{Kind: Commit, Commit: commit.Message{Kind: commit.Done, Name: name}, Also: []commit.Name{{Event: name.Event, Number: 5}, name}}},
		{"vote of a store that is traced", &Message{Kind: Commit, Commit: commit.Message{Kind: commit.Vote, Yes: true, Name: name}, Tick: 1_700_000_000_000_000_000}},
		{"vote", voting(commit.Message{Kind: commit.Vote, Yes: true})},
		{"decision", voting(commit.Message{Kind: commit.Decision, Yes: true, At: 300})},
		{"done", voting(commit.Message{Kind: commit.Done})},
		{"ask of a decision", voting(commit.Message{Kind: commit.Ask})},
		{"dropped", dropped},
		{"ask, lines", &Message{Kind: Ask, Number: 300, Question: &Question{Lines: lines[2:], Number: event.OfStore(1, 4), Event: name.Event}}},
		{"ask, kept", &Message{Kind: Ask, Number: 300, Question: &Question{Kept: account}}},
		{"ask, name", &Message{Kind: Ask, Number: 300, Question: &Question{Class: "bank.Bank", Name: "main"}}},
		{"ask, actor", &Message{Kind: Ask, Number: 300, Question: &Question{Actor: account}}},
		{"ask, end", &Message{Kind: Ask, Number: 300, Question: &Question{End: &End{First: name.Event, Client: true, Result: []byte{3}, Class: "bank.Bank", Method: "transfer", Text: "(int):int"}}}},
		{"ask, failed end", &Message{Kind: Ask, Number: 300, Question: &Question{End: &End{First: name.Event, Failed: &event.AbortError{Msg: "no", Event: name.Event}}}}},
		{"ask, object", &Message{Kind: Ask, Number: 300, Question: &Question{Object: event.OfStore(1, 4), Class: "shop.Ear", Name: "ann"}}},
		{"answer", &Message{Kind: Answer, Number: 300, Question: &Question{Class: "bank.Account", Actor: account, Label: "Account 3:5", First: bank}}},
		{"answer, gone", &Message{Kind: Answer, Number: 300, Question: &Question{Gone: true}}},
		{"answer, lacking a class", &Message{Kind: Answer, Number: 300, Question: &Question{Lacks: true}}},
		{"let", &Message{Kind: Let, Number: 4, Yes: true}},
		{"missed", &Message{Kind: Missed, Home: 2}},
		{"cancelled", &Message{Kind: Cancelled, Chain: event.Chain{First: name.Event, Store: 2, Waits: event.ClientWaits}}},
		{"visited", &Message{Kind: Visited, Name: name, Home: 1, Method: "bank.Bank.transfer", Chain: chain,
			Call: &Call{Target: account, Method: "bank.Account.deposit", Args: []byte{1, 2}, Run: run}}},
	}
}

// golden has the bytes of samples. Where they change, stores of two versions do not understand each other: then wireVersion changes, too.
var golden = map[string]string{
	"order":                          "0b0181208070819081808040011262616e6b2e42616e6b2e7472616e73666572812080700101020001139abbd2d9bfaaa5d4180402010381500300",
	"turn":                           "0b0281208070819081808040ac02bc05",
	"take":                           "0b0381208070819081808040011262616e6b2e42616e6b2e7472616e73666572ac028120807001010103815003bc05",
	"taken":                          "0b048120807081908180804000",
	"called":                         "0b058120807081908180804000000381501462616e6b2e4163636f756e742e6465706f7369740201020480897a8080808080808080800180a8d6b90700",
	"called, with lines":             "0b0581208070819081808040000303fff7ffffffffffffff010000000000000003000381500568656c6c6f01038150046e6f74650203815082300b53637265656e2e73686f77010104",
	"called, recorded":               "0b058120807081908180804000100381501462616e6b2e4163636f756e742e6465706f73697400000000008080d0e2c6bfce972f10000102030405060708090a0b0c0d0e0f0800010203040506070203783d3101",
	"called, to be over":             "0b05812080708190818080400088010381501462616e6b2e4163636f756e742e6465706f73697400000000000002",
	"returned, over":                 "0b06812080708190818080400080a00201",
	"called, to vote":                "0b058120807081908180804000080381501462616e6b2e4163636f756e742e6465706f73697400000000000002",
	"called, by a branch":            "0b058120807081908180804003200381501462616e6b2e4163636f756e742e6465706f7369740000000000000202ac02",
	"returned":                       "0b06812080708190818080400087100480897a8080808080808080800180a8d6b9070001030103815003",
	"returned, with lines":           "0b068120807081908180804000880903815003000381500568656c6c6f01038150046e6f74650203815082300b53637265656e2e73686f77010104",
	"returned, voted":                "0b068120807081908180804000812002",
	"returned, held":                 "0b06812080708190818080400080a00101",
	"returned, granted":              "0b0681208070819081808040008040",
	"returned, withdrawn":            "0b068120807081908180804000b0060103815003038150",
	"returned, to be made in turn":   "0b068120807081908180804000908004",
	"returned, failed":               "0b06812080708190818080400040026e6f8120807001011962616e6b2e282a4163636f756e745f292e77697468647261770962616e6b2e61656f6e2200",
	"returned, cancelled":            "0b06812080708190818080400040026e6f8120807001011962616e6b2e282a4163636f756e745f292e77697468647261770962616e6b2e61656f6e2201",
	"returned, too much":             "0b06812080708190818080400040026e6f8120807001011962616e6b2e282a4163636f756e745f292e77697468647261770962616e6b2e61656f6e2202014c0a01770172",
	"returned, a bug":                "0b06812080708190818080400040026e6f8120807001011962616e6b2e282a4163636f756e745f292e77697468647261770962616e6b2e61656f6e220303627567",
	"returned, unknown":              "0b06812080708190818080400040026e6f8120807001011962616e6b2e282a4163636f756e745f292e77697468647261770962616e6b2e61656f6e220481208070046469736b",
	"prepare":                        "0b070181208070819081808040010000",
	"vote of a store that is traced": "0b07028120807081908180804001008080d0e2c6bfce972f",
	"vote":                           "0b070281208070819081808040010000",
	"decision":                       "0b07038120807081908180804001d8040000",
	"done":                           "0b070481208070819081808040000000",
	"done, with others":              "0b07048120807081908180804002812080708050812080708190818080400000",
	"ask of a decision":              "0b0705812080708190818080400000",
	"dropped":                        "0b070681208070819081808040010381500300",
	"ask, lines":                     "0b08ac0200010203815082300b53637265656e2e73686f77010104814081208070",
	"ask, kept":                      "0b08ac0201038150",
	"ask, name":                      "0b08ac02020962616e6b2e42616e6b046d61696e",
	"ask, actor":                     "0b08ac0203038150",
	"ask, end":                       "0b08ac020481208070010001030962616e6b2e42616e6b087472616e736665720928696e74293a696e74",
	"ask, failed end":                "0b08ac0204812080700001026e6f8120807000000000000000",
	"ask, object":                    "0b08ac02050873686f702e45617203616e6e8140",
	"answer":                         "0b09ac020c62616e6b2e4163636f756e740381500b4163636f756e7420333a35139abbd2d9bfaaa5d4180000",
	"answer, gone":                   "0b09ac020000000000000100",
	"answer, lacking a class":        "0b09ac020000000000000001",
	"let":                            "0b0a0104",
	"missed":                         "0b0b02",
	"cancelled":                      "0b0d812080700201",
	"visited":                        "0b0c81208070819081808040011262616e6b2e42616e6b2e7472616e7366657200812080700101000381501462616e6b2e4163636f756e742e6465706f7369740201020480897a8080808080808080800180a8d6b90700",
	"returned, lacking a method":     "0b0681208070819081808040009080081d62616e6b2e4163636f756e742e6465706f736974233030633066666565",
}

// crossed returns m as its addressee gets it.
func crossed(m *Message) (*Message, error) { return read(m.Append(nil)) }

// read reads a message.
func read(b []byte) (*Message, error) {
	m := &Message{}
	if err := m.Read(b); err != nil {
		return nil, err
	}
	return m, nil
}

func TestMessagesCross(t *testing.T) {
	for kind := Order; int(kind) < len(messages); kind++ {
		rapid.Check(t, func(t *rapid.T) {
			m := messageOf(t, kind)
			front := []byte("in front")
			b := m.Append(front)
			if !bytes.HasPrefix(b, front) {
				t.Fatalf("%q is overwritten", front)
			}
			b = b[len(front):]
			got, err := read(b)
			if err != nil || !reflect.DeepEqual(got, m) {
				t.Fatalf("read %s, %v\nwritten %s", text(got), err, text(m))
			}
			if again := got.Append(nil); !bytes.Equal(again, b) {
				t.Fatalf("%x is read as what is written %x", b, again)
			}
		})
	}
}

// text writes a message with what it points to.
func text(m *Message) string {
	if m == nil {
		return "nothing"
	}
	return fmt.Sprintf("%+v call %+v reply %+v question %+v", *m, m.Call, m.Reply, m.Question)
}

// TestBytesOfMessages pins the form on the wire.
func TestBytesOfMessages(t *testing.T) {
	kinds := map[Kind]bool{}
	for _, s := range samples() {
		kinds[s.m.Kind] = true
		got := hex.EncodeToString(s.m.Append(nil))
		if want := golden[s.name]; got != want {
			t.Errorf("%s: the bytes are\n\t%q: %q,\nand were\n\t%q", s.name, s.name, got, want)
		}
	}
	if len(golden) != len(samples()) || len(kinds) != len(messages)-1 {
		t.Errorf("%d messages of %d kinds are compared with %d, and there are %d kinds", len(samples()), len(kinds), len(golden), len(messages)-1)
	}
}

func TestMessagesThatAreCutAreRefused(t *testing.T) {
	for _, s := range samples() {
		b := s.m.Append(nil)
		for n := range b {
			m, err := read(b[:n])
			if m != nil || !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), "unexpected end") && !strings.Contains(err.Error(), "exceeds the input") {
				t.Errorf("%s, cut at %d of %d: %v", s.name, n, len(b), err)
			}
		}
	}
}

// Whatever field of whatever struct of a message is set: it crosses, or the sender is told that it does not belong there. So a field that is added to
// one of them is noticed here.
func TestEveryFieldCrosses(t *testing.T) {
	crossing := map[string]bool{}
	for _, s := range samples() {
		for i := 0; ; i++ {
			changed := clone(t, s.m)
			n := 0
			path, found := touch(reflect.ValueOf(changed).Elem(), "Message", i, &n)
			if !found {
				break
			}
			crossing[path] = crossing[path] || false
			if path == "Message.Kind" || path == "Commit.Kind" {
				continue // another kind has other fields
			}
			got, err, refused := tried(changed)
			switch {
			case refused:
			case err != nil || !reflect.DeepEqual(got, changed):
				t.Errorf("%s with another %s: read %s, %v\nwritten %s", s.name, path, text(got), err, text(changed))
			default:
				crossing[path] = true
			}
		}
	}
	for path, does := range crossing {
		notSent := false
		switch path {
		case "Message.Kind", "Commit.Kind", "Held":
			notSent = true
		case "Call", "Reply", "Question", "End": // of a message that has none
			notSent = true
		case "Failed.Partly": // of a chain
			notSent = true
		}
		if does == notSent {
			t.Errorf("%s: it crosses: %v", path, does)
		}
	}
	if len(crossing) < 60 {
		t.Errorf("only %d fields are tried", len(crossing))
	}
}

func tried(m *Message) (got *Message, err error, refused bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, refused = p.(assert.Failure); !refused {
				panic(p)
			}
		}
	}()
	got, err = crossed(m)
	return got, err, false
}

func clone(t *testing.T, m *Message) *Message {
	c, err := crossed(m)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// touch changes the i-th field of v that has no fields itself, and returns its name in its struct. n counts them.
func touch(v reflect.Value, name string, i int, n *int) (path string, found bool) {
	switch v.Kind() {
	case reflect.Struct:
		for k := range v.NumField() {
			f := v.Type().Field(k)
			inner := f.Name
			if leaf(f.Type) {
				inner = strings.TrimPrefix(name, "*") + "." + f.Name
			}
			if path, found = touch(v.Field(k), inner, i, n); found {
				return path, true
			}
		}
		return "", false
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		return touch(v.Elem(), name, i, n)
	case reflect.Interface:
		return "", false // a cause: see TestCauses
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		for k := range v.Len() {
			if path, found = touch(v.Index(k), name, i, n); found {
				return path, true
			}
		}
	}
	if *n++; *n-1 != i {
		return "", false
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Uint8: // a Mode
		v.SetUint(2 - v.Uint()/2)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Array: // an id of a span
		v.Index(0).SetUint(v.Index(0).Uint() + 1)
	default:
		panic("how is " + v.Type().String() + " changed?")
	}
	return name, true
}

// leaf reports whether touch changes a value of a type as a whole.
func leaf(t reflect.Type) bool {
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Pointer && (t.Kind() != reflect.Slice || t.Elem().Kind() == reflect.Uint8)
}

// What a failure carries for those that look for it by errors.Is and errors.As is there behind the wire, at whatever depth it was; what none looks for is
// not.
func TestCauses(t *testing.T) {
	deep := func(err error) error { return fmt.Errorf("somewhere: %w", err) }
	behind := func(cause error) error {
		m, err := crossed(&Message{Kind: Returned, Reply: &Reply{Failed: &event.AbortError{Msg: "no", Cause: cause}}})
		if err != nil {
			t.Fatal(err)
		}
		return m.Reply.Failed
	}
	if err := behind(deep(order.ErrCancelled)); !errors.Is(err, order.ErrCancelled) {
		t.Errorf("a cancellation is read as %#v", err)
	}
	limit := event.TooDeep(7)
	if got := new(event.LimitError); !errors.As(behind(deep(limit)), &got) || *got != *limit {
		t.Errorf("%#v is read as %#v", limit, got)
	}
	if got := new(assert.Failure); !errors.As(behind(deep(assert.Failure{Msg: "bug"})), got) || got.Msg != "bug" {
		t.Errorf("a bug is read as %#v", got)
	}
	lost := &event.UnknownError{Event: event.EventID{Origin: 1, Seq: 2}, Cause: errors.New("disk")}
	if got := new(event.UnknownError); !errors.As(behind(deep(lost)), &got) || got.Event != lost.Event || got.Error() != lost.Error() {
		t.Errorf("%v is read as %v", lost, got)
	}
	for _, other := range []error{nil, errors.New("from Go"), fmt.Errorf("two: %w", errors.ErrUnsupported)} {
		if err := behind(other).(*event.AbortError); err.Cause != nil || err.Msg != "no" {
			t.Errorf("%v is read as %#v", other, err)
		}
	}
}

func TestHostileMessagesAreRefused(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	mega := []byte{0x80, 0x80, 0x40} // 1 << 20
	head := func(kind Kind, rest ...[]byte) []byte {
		b := []byte{wireVersion, byte(kind)}
		if messages[kind]&inMessageName != 0 {
			b = append(b, 0, 0, 0)
		}
		if kind == Called || kind == Returned {
			b = append(b, 0) // the thread
		}
		return append(b, bytes.Join(rest, nil)...)
	}
	one := func(b ...byte) []byte { return b }
	failed := one(byte(inReplyFailed))
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":                      {nil, "unexpected end"},
		"another version":              {one(wireVersion+1, byte(Taken), 0, 0, 0), "version 12 of messages between stores, and this program reads 11"},
		"no kind":                      {one(wireVersion, 0), "unknown kind of message 0"},
		"unknown kind":                 {one(wireVersion, byte(len(messages))), "unknown kind of message 14"},
		"no kind at all":               {one(wireVersion), "unexpected end"},
		"trailing byte":                {head(Taken, one(0, 0)), "1 bytes too many"},
		"integer not the shortest":     {one(wireVersion, byte(Missed), 0x81, 0), "bad integer"},
		"integer too long":             {append(one(wireVersion, byte(Let), 0, 0xff), huge...), "bad integer"},
		"store too large":              {append(one(wireVersion, byte(Missed)), huge...), "does not fit"},
		"yes 2":                        {one(wireVersion, byte(Let), 2, 0), "bad bool"},
		"method too long":              {head(Order, one(0), huge), "exceeds the input"},
		"more parts than bytes":        {head(Order, one(0, 0, 0, 0, 0, 0), huge), "unexpected end"},
		"a million parts":              {head(Order, one(0, 0, 0, 0, 0, 0), mega), "unexpected end"},
		"more wanted than bytes":       {head(Take, one(0, 0, 0, 0, 0, 0, 0), huge), "unexpected end"},
		"mode beyond write":            {head(Take, one(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 6)), "enumeration constant 6 of 6"},
		"unknown field of a call":      {head(Called, one(0x80, 2)), "enumeration constant 256 of 256"},
		"call without its lines":       {head(Called, one(byte(inCallLines), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "no line, which is said to be there"},
		"call without its order":       {head(Called, one(byte(inCallOrder), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "no place in program order, which is said to be there"},
		"call with a vote behind none": {head(Called, one(byte(inCallVotes), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), "no number of calls, which is said to be there"},
		"more lines than bytes":        {head(Called, one(byte(inCallLines), 0, 0, 0, 0, 0, 0, 0, 0, 0), huge), "unexpected end"},
		"arguments too long":           {head(Called, one(0, 0, 0, 0), huge), "exceeds the input"},
		"unknown form of a line":       {head(Called, one(byte(inCallLines), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3)), "enumeration constant 3 of 3"},
		"callback of no object":        {head(Called, one(byte(inCallLines), 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0)), "no client object"},
		"trace of 15 bytes":            {head(Called, one(byte(inCallSpan), 0, 0, 0, 0, 0, 0, 0, 0, 0, 15), make([]byte, 40)), "an id of a span of 15 bytes, not 16"},
		"unknown field of a reply":     {head(Returned, one(0x80, 0x80, 16)), "enumeration constant 262144 of 262144"},
		"reply without its result":     {head(Returned, one(byte(inReplyResult), 0)), "no field of a reply"},
		"reply without what it lacks":  {head(Returned, append([]byte{0x80, 0x80, 8}, 0)), "no field of a reply"},
		"reply without its run":        {head(Returned, one(byte(inReplyRun), 0, 0, 0, 0, 0)), "no field of a reply"},
		"reply without its claim":      {head(Returned, one(byte(inReplyClaim), 0)), "no field of a reply"},
		"claim of nothing":             {head(Returned, one(byte(inReplyClaim), 1, 0, 0, 0)), "no claim"},
		"two claims":                   {head(Returned, one(byte(inReplyClaim), 2, 0, 1, 0, 0, 2, 0)), "2 claims"},
		"more frames than bytes":       {head(Returned, failed, one(0, 0, 0, 0), huge), "unexpected end"},
		"unknown cause":                {head(Returned, failed, one(0, 0, 0, 0, 0, causes)), "enumeration constant 5 of 5"},
		"commit without kind":          {head(Commit, one(0, 0, 0, 0, 0)), "unknown kind of message of the commit 0"},
		"commit of unknown kind":       {head(Commit, one(byte(len(commits)), 0, 0, 0, 0)), "unknown kind of message of the commit 7"},
		"unknown question":             {head(Ask, one(0, askForms)), "enumeration constant 6 of 6"},
		"waiter beyond a request":      {head(Take, one(0, 0, 0, 0, 0, 0, 3)), "enumeration constant 3 of 3"},
		"question about no actor":      {head(Ask, one(0, askActor, 0, 0)), "no field of a question"},
		"question without its lines":   {head(Ask, one(0, askLines, 0, 0, 0, 0)), "no field of a question"},
	} {
		m, err := read(c.data)
		if !errors.Is(err, codec.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: read as %s, %v; wanted: %s", what, text(m), err, c.want)
		}
		if n := allocated(func() { _, _ = read(c.data) }); n > most(c.data) {
			t.Errorf("%s: %d bytes are allocated for %d", what, n, len(c.data))
		}
	}
}

// most bounds what may be allocated for an input: a message, a call or reply, an error; and for each element of a list, which takes a byte or more, as much
// as it takes in memory, several times, as lists grow.
func most(data []byte) uint64 { return 4096 + 1024*uint64(len(data)) }

// allocated returns how many bytes do allocates: the least of several times, as others in the process may allocate meanwhile.
func allocated(do func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// A message with a field that its kind has not is a bug of the sender.
func TestFieldsOfOtherKindsAreRefused(t *testing.T) {
	for what, m := range map[string]*Message{
		"no kind":                    {},
		"unknown kind":               {Kind: Kind(len(messages))},
		"a turn with a home":         {Kind: Turn, Home: 1},
		"a vote of others":           {Kind: Commit, Commit: commit.Message{Kind: commit.Vote, Name: commit.Name{Number: 1}}, Also: []commit.Name{{Number: 2}}},
		"a vote that writes":         {Kind: Commit, Commit: commit.Message{Kind: commit.Vote, Writes: true}},
		"a prepare that says yes":    {Kind: Commit, Commit: commit.Message{Kind: commit.Prepare, Yes: true}},
		"a commit of no kind":        {Kind: Commit},
		"a question with its Held":   {Kind: Ask, Question: &Question{Kept: event.SerialActor(1, 1), Held: &Held{}}},
		"two questions":              {Kind: Ask, Question: &Question{Kept: event.SerialActor(1, 1), Class: "C"}},
		"an answer that asks":        {Kind: Answer, Question: &Question{Name: "n"}},
		"a callback with a text":     {Kind: Called, Call: &Call{Lines: []Line{{Object: 1, Text: "x"}}}},
		"a line with a method":       {Kind: Called, Call: &Call{Lines: []Line{{Method: "x"}}}},
		"a note of a client object":  {Kind: Called, Call: &Call{Lines: []Line{{Log: true, Object: 1}}}},
		"a claim of another message": {Kind: Taken, Claim: order.Wanted{Mode: order.Read}},
	} {
		if _, err, refused := tried(m); !refused {
			t.Errorf("%s crosses (%v)", what, err)
		}
	}
}

// FuzzMessage: no input makes Message.Read panic or allocate what the input does not pay for, and what it reads is written as it was.
func FuzzMessage(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := read(data)
		if err != nil {
			if m != nil || !errors.Is(err, codec.ErrCorrupt) {
				t.Errorf("%s is read, and %v", text(m), err)
			}
			return
		}
		if n := room(m); n > 8*(8+2*len(data)) {
			t.Errorf("room for %d elements is made for %d bytes", n, len(data))
		}
		if again := m.Append(nil); !bytes.Equal(again, data) {
			t.Errorf("%x is read as %s, which is written %x", data, text(m), again)
		}
	})
}

// room returns for how many elements of lists a message has room.
func room(m *Message) int {
	n := cap(m.Wanted) + cap(m.Parts)
	for i := range m.Parts {
		n += cap(m.Parts[i].Wanted)
	}
	if c := m.Call; c != nil {
		n += cap(c.Lines) + cap(c.Args)
	}
	if r := m.Reply; r != nil {
		if n += cap(r.Lines) + cap(r.Result); r.Failed != nil {
			n += cap(r.Failed.Path)
		}
	}
	if q := m.Question; q != nil {
		n += cap(q.Lines)
	}
	return n
}

// What a call of a transfer costs on its way to another store, and its answer: written into a buffer that is there, and read. x-copy is how many
// times as long that is as copying the message in memory, with all that it points to.
func BenchmarkMessage(b *testing.B) {
	name := commit.Name{Event: event.EventID{Origin: event.OfStore(1, 1<<30+4), Seq: 1000}, Number: event.OfStore(1, 1<<30+90_000)}
	run := Run{Depth: 1, Fuel: 10_000_000, Random: 0, Now: 0}
	for _, bm := range []struct {
		name string
		m    *Message
	}{
		{"called", &Message{Kind: Called, Name: name, Call: &Call{Target: event.SerialActor(7, event.OfStore(1, 50_000)), Method: "examples/bank.Account.deposit",
			Args: []byte{1, 1, 6, 'a', 'm', 'o', 'u', 'n', 't', 2, 0xd0, 0x0f}, Run: run}}},
		{"returned", &Message{Kind: Returned, Name: name, Reply: &Reply{Result: []byte{1, 0}, Run: run, Wrote: true}}},
	} {
		wire := bm.m.Append(nil)
		report := func(b *testing.B) {
			each, start := b.Elapsed().Seconds()/float64(b.N), time.Now()
			for range b.N {
				copied = copyOf(bm.m)
			}
			b.ReportMetric(each/(time.Since(start).Seconds()/float64(b.N)), "x-copy")
			b.ReportMetric(float64(len(wire)), "bytes")
		}
		b.Run(bm.name+"/append", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				wire = bm.m.Append(wire[:0])
			}
			report(b)
		})
		b.Run(bm.name+"/read", func(b *testing.B) {
			var into Message
			b.ReportAllocs()
			for b.Loop() {
				if err := into.Read(wire); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
}

var copied *Message

func copyOf(m *Message) *Message {
	c := *m
	if m.Call != nil {
		call := *m.Call
		call.Method, call.Args = strings.Clone(call.Method), bytes.Clone(call.Args)
		c.Call = &call
	}
	if m.Reply != nil {
		reply := *m.Reply
		reply.Result = bytes.Clone(reply.Result)
		c.Reply = &reply
	}
	return &c
}

// What reading a call allocates is what it has, and the decoder.
func TestWhatReadingAllocates(t *testing.T) {
	call := (&Message{Kind: Called, Call: &Call{Method: "bank.Account.deposit", Args: []byte{1}}}).Append(nil)
	var into Message
	if n := testing.AllocsPerRun(100, func() { _ = into.Read(call) }); n > 4 {
		t.Errorf("%v times: the decoder, a Call, the name of its method, and its arguments are 4", n)
	}
	buffer := make([]byte, 0, 2*len(call))
	m, _ := read(call)
	if n := testing.AllocsPerRun(100, func() { buffer = m.Append(buffer[:0]) }); n > 0 {
		t.Errorf("writing allocates %v times", n)
	}
}
