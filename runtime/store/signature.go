package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/typetext"
)

// Calls wait in a store: sub-events, timers, and the next steps of chains. Their arguments are
// encoded without types, as are the outcomes of requests. So each has the number of the
// signature that its method had when it was stored.

// ClassMethod is a method of an actor class. Signature is written as codegen.Signature does.
type ClassMethod struct{ Name, Signature string }

// Signature is one that a method has, or has had. No other signature ever gets its number.
type Signature struct {
	Number uint32
	Class  string // with its package
	Method string
	Text   string

	dropped []Part
}

// storedSignature is a signature in the row of its class.
type storedSignature struct {
	Number uint32 `json:"number"`
	Method string `json:"method"`
	Text   string `json:"text"`
	// Dropped are the fields that arguments may lose; empty once a program has the signature again.
	Dropped []Part `json:"dropped,omitempty"`
}

func (s storedSignature) equal(other storedSignature) bool {
	return s.Number == other.Number && slices.Equal(s.Dropped, other.Dropped)
}

// String returns the method as a user declares it: bank.Account.pay(int, Account): bool.
func (s Signature) String() string {
	return strings.TrimPrefix(s.Class+"."+s.Method, ".") + UserSignature(s.Text)
}

// UserSignature returns the types of a signature as a user writes them.
func UserSignature(text string) string {
	parsed, err := typetext.ParseSignature(text)
	if err != nil {
		return text
	}
	return parsed.String()
}

// Signatures returns all signatures of the schema, in order of their numbers.
func (s *Schema) Signatures() []Signature {
	var list []Signature
	for _, c := range s.classes {
		for _, m := range c.Signatures {
			list = append(list, Signature{m.Number, c.Class, m.Method, m.Text, m.Dropped})
		}
	}
	slices.SortFunc(list, func(a, b Signature) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

// adoptMethods gives numbers to the new signatures of a class, and returns all that the class has,
// or has had.
func (s *Schema) adoptMethods(c Class, old []storedSignature) ([]storedSignature, error) {
	list := slices.Clone(old)
	for _, m := range c.Methods {
		if _, err := typetext.ParseSignature(m.Signature); err != nil {
			return nil, fmt.Errorf("class %s, method %s: %w", c.Name, m.Name, err)
		}
		if !slices.ContainsFunc(list, func(o storedSignature) bool { return o.Method == m.Name && o.Text == m.Signature }) {
			s.lastSignature++
			list = append(list, storedSignature{Number: s.lastSignature, Method: m.Name, Text: m.Signature})
		}
		for i := range list {
			if list[i].Method == m.Name {
				list[i].Dropped = s.droppedOf(&list[i], m.Signature)
			}
		}
	}
	return list, nil
}

// droppedOf returns the fields that arguments of an older signature may lose when the method has a new one.
func (s *Schema) droppedOf(old *storedSignature, now string) (dropped []Part) {
	_, lost := parameters(old.Text, now)
	for _, part := range lost {
		if slices.Contains(s.dropped, part) || slices.Contains(old.Dropped, part) {
			dropped = append(dropped, part)
		}
	}
	return dropped
}

// CallError says that a program cannot read the waiting calls of one method with one signature.
type CallError struct {
	Signature        // with which they were stored
	New       string // the signature that the method has now; empty if there is no such method
	Reason    string // why the old one cannot be read as the new one; empty if there is no such method
	Waiting   int    // how many calls wait
}

// CallRemedy is what to do about calls that a program cannot read.
const CallRemedy = "run the version before until nothing waits any more, or keep the method under its old name and signature and add the new one beside it"

// Error implements error.
func (e *CallError) Error() string {
	return fmt.Sprintf("method %v, of which %s, %s; %s", e.Signature, CallsWait(e.Waiting), e.Change(), CallRemedy)
}

// CallsWait says how many calls wait.
func CallsWait(n int) string {
	if n == 1 {
		return "1 call waits"
	}
	return fmt.Sprintf("%d calls wait", n)
}

// Change says what has become of the method.
func (e *CallError) Change() string {
	if e.New == "" {
		return "is not in the program any more"
	}
	if now := UserSignature(e.New); now != UserSignature(e.Text) {
		return "is now " + e.Method + now + ": " + e.Reason
	}
	return "has changed: " + e.Reason
}

// Unreadable returns the signatures whose calls the classes of a program cannot read, or would read without
// fields that were not given up, in order of their numbers. WaitingCalls tells whether calls of them wait.
func (s *Schema) Unreadable(classes []Class) []*CallError {
	now := make(map[[2]string]string)
	for _, c := range classes {
		for _, m := range c.Methods {
			now[[2]string{c.Name, m.Name}] = m.Signature
		}
	}
	var list []*CallError
	for _, old := range s.Signatures() {
		text, ok := now[[2]string{old.Class, old.Method}]
		if !ok {
			list = append(list, &CallError{Signature: old})
		} else if why := s.unreadable(&old, text); why != "" {
			list = append(list, &CallError{Signature: old, New: text, Reason: why})
		}
	}
	return list
}

// WaitingCalls counts the calls that wait in a store, by the numbers of their signatures.
func WaitingCalls(r Reader) (map[uint32]int, error) {
	partitions, err := PartitionsOf(r)
	if err != nil {
		return nil, err
	}
	waiting := make(map[uint32]int)
	var bad *CorruptError
	for p := range partitions {
		for _, section := range []Section{Continuations, Outbox, Timers} {
			row := func(key, payload []byte) {
				number, has, whole := SignatureOf(section, payload)
				if has {
					waiting[number]++
				} else if !whole && bad == nil {
					bad = &CorruptError{slices.Clone(key), "it has no signature"}
				}
			}
			err := VerifySection(r, event.PartitionID(p), section, row, func(err *CorruptError) { bad = err })
			if err == nil && bad != nil {
				err = bad
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return waiting, nil
}

// compared parses two signatures for a comparison of their parts.
func compared(old, now string) (was, is typetext.Signature, c comparison, err error) {
	if was, err = typetext.ParseSignature(old); err == nil {
		is, err = typetext.ParseSignature(now)
	}
	return was, is, comparison{old: was.Definitions(), new: is.Definitions(), pairs: map[[2]string]bool{}, calls: true}, err
}

// CompareParameters returns why arguments that were encoded for one signature do not mean the same
// when they are decoded for another one, nothing if they do. Parameters are told apart by their places:
// the encoding does not mark where one begins.
func CompareParameters(old, now string) (why string) {
	why, _ = parameters(old, now)
	return why
}

// parameters also returns the fields of value classes that the new signature does not read.
func parameters(old, now string) (why string, lost []Part) {
	was, is, c, err := compared(old, now)
	switch {
	case err != nil:
		return err.Error(), nil
	case len(was.Params) != len(is.Params):
		return fmt.Sprintf("it had %s and has %d", count(len(was.Params), "parameter"), len(is.Params)), nil
	}
	for i := range was.Params {
		if why := c.types(was.Params[i], is.Params[i]); why != "" {
			if len(was.Params) > 1 {
				return fmt.Sprintf("parameter %d: %s", i+1, why), nil
			}
			return why, nil
		}
	}
	return "", c.lost
}

// unreadable is CompareParameters for calls that wait: they may lose only fields that were given up.
func (s *Schema) unreadable(old *Signature, now string) (why string) {
	why, lost := parameters(old.Text, now)
	for _, part := range lost {
		if !slices.Contains(s.dropped, part) && !slices.Contains(old.dropped, part) {
			return fmt.Sprintf("arguments have a field %s, which the program does not have (%s gives it up)", part, dropFlag(part))
		}
	}
	return why
}

// CompareResults is CompareParameters for results. If the new signature has no result, none is decoded.
func CompareResults(old, now string) (why string) {
	was, is, c, err := compared(old, now)
	switch {
	case err != nil:
		return err.Error()
	case is.Result == nil:
		return ""
	case was.Result == nil:
		return "there was no result"
	}
	return c.types(was.Result, is.Result)
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
