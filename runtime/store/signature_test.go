package store_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/store/memengine"
)

// methods makes a class from lines of a method and its signature.
func methods(list ...string) store.Class {
	c := store.Class{Name: "p.A"}
	for _, m := range list {
		n := strings.IndexByte(m, '(')
		c.Methods = append(c.Methods, store.ClassMethod{Name: m[:n], Signature: m[n:]})
	}
	return c
}

func TestSignaturesThatCanChange(t *testing.T) {
	const enum = "enum p.E{RED,GREEN}"
	for _, tt := range []struct{ old, now, why string }{
		{"()", "()", ""},
		{"(int,string)", "(int,string):int", ""}, // calls that wait have no use for results
		{"(int8,uint16)", "(int,uint64)", ""},
		{"(int)", "(int8)", "values of type int are no values of type int8"},
		{"(int,int)", "(duration,time)", "parameter 1: values of type int are no values of type duration"},
		{"(int,int)", "(int,bool)", "parameter 2: values of type int are no values of type bool"},
		{"(int,uint8)", "(uint8,int)", "parameter 1: "},
		{"(string)", "(bytes)", "values of type string are no values of type bytes"},
		{"(int)", "(int,int)", "it had 1 parameter and has 2"},
		{"(int,int)", "()", "it had 2 parameters and has 0"},
		{"(int)", "(int?)", "as the type of an actor's field only"},
		{"(int?)", "(int)", "may be null"},
		{"(int?)", "(int?)", ""},
		{"(int8?)", "(int?)", ""},
		{"(actor p.B)", "(actor p.B?)", ""},
		{"(vector<actor p.B>)", "(vector<actor p.B?>)", ""},
		{"(actor p.B?)", "(actor p.B)", "may be null"},
		{"(actor p.B)", "(actor p.C)", "none of class C"},
		{"(client p.B)", "(actor p.B)", "no values of type"},
		{"(map<int8,vector<uint8>>)", "(map<int,vector<uint16>>)", ""},
		{"(vector<int>)", "(set<int>)", "no values of type"},
		{"(" + enum + ")", "(enum p.F{RED,GREEN,BLUE})", ""},
		{"(" + enum + ")", "(enum p.E{GREEN,RED})", "only be added at the end"},
		{"(" + enum + ",vector<enum p.E>)", "(" + enum + ",vector<enum p.E>)", ""},
		{"(class p.V{a int8;b string})", "(class p.W{b string;c bool;a int})", ""},
		{"(class p.V{a int})", "(class p.V{a int;r actor p.B})", "B has no zero value"},
		{"(class p.V{a int})", "(class p.V{a string})", "field a of class V"},
		{"(class p.V{a int})", "(class p.V{a int?})", "as the type of an actor's field only"},
		{"(class p.V{a actor p.B})", "(class p.V{a yield actor p.B})", ""}, // arguments own nothing
		{"(class p.V{next class p.V?;a int8},class p.V)", "(class p.V{next class p.V?;a int},class p.V)", ""},
		{"(int,class p.V{a int})", "(class p.V{a int},int)", "parameter 1: "},
	} {
		if why := store.CompareParameters(tt.old, tt.now); why != tt.why && (tt.why == "" || !strings.Contains(why, tt.why)) {
			t.Errorf("%s to %s: %q, want %q", tt.old, tt.now, why, tt.why)
		}
	}
	for _, tt := range []struct{ old, now, why string }{
		{"(int)", "(string)", ""},
		{"():int8", "():int", ""},
		{"():int", "()", ""},
		{"()", "():int", "there was no result"},
		{"():int", "():string", "values of type int are no values of type string"},
		{"(class p.V{a int}):class p.V", "():class p.V{a string}", "field a of class V"},
		{"():actor p.B", "():actor p.B?", ""},
		{"():int", "():int?", "as the type of an actor's field only"},
	} {
		if why := store.CompareResults(tt.old, tt.now); why != tt.why && (tt.why == "" || !strings.Contains(why, tt.why)) {
			t.Errorf("results of %s to %s: %q, want %q", tt.old, tt.now, why, tt.why)
		}
	}
	for _, bad := range []string{"", "int", "(", "(int", "(int,)", "(int))", "():", "()int"} {
		if why := store.CompareParameters(bad, "()"); !strings.Contains(why, "cannot be read") {
			t.Errorf("%q: %q", bad, why)
		}
	}
}

// A signature keeps its number for ever, also when it goes and comes back, and no other gets it.
func TestSignaturesKeepNumbers(t *testing.T) {
	e := memengine.New()
	number := func(s *store.Schema, call string) uint32 {
		t.Helper()
		for _, m := range s.Signatures() {
			if m.Class+"."+m.Method+m.Text == call {
				return m.Number
			}
		}
		t.Fatalf("%s has no number", call)
		return 0
	}
	s := adopt(t, e, methods("a(int)", "b()"))
	first, other := number(s, "p.A.a(int)"), number(s, "p.A.b()")
	s = adopt(t, e, methods("a(int,int)"))
	second := number(s, "p.A.a(int,int)")
	if first == 0 || other == 0 || first == other || second == first || second == other {
		t.Errorf("numbers %d, %d, %d", first, other, second)
	}
	s = adopt(t, e, methods("a(int)", "c()"))
	if number(s, "p.A.a(int)") != first || number(s, "p.A.a(int,int)") != second || number(s, "p.A.b()") != other {
		t.Errorf("the numbers have changed: %v", s.Signatures())
	}
	if c := number(s, "p.A.c()"); c <= second {
		t.Errorf("number %d was given before", c)
	}
	again, err := store.ReadSchema(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Adopt([]store.Class{methods("a(int)", "c()")}); err != nil || again.Changed() {
		t.Errorf("the same program changed the schema, %v", err)
	}
	if err := again.Adopt([]store.Class{methods("d(int")}); err == nil || !strings.Contains(err.Error(), "class p.A, method d") {
		t.Errorf("a signature that is none: %v", err)
	}
}

func TestUnreadableCallsTellWhatToDo(t *testing.T) {
	e := memengine.New()
	adopt(t, e, methods("expire(int,int):bool", "fill(vector<int8>)", "sort(enum p.E{A,B})", "gone(actor p.B?)"))
	s, err := store.ReadSchema(e)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, wrong := range s.Unreadable([]store.Class{methods("expire(duration,time)", "fill(vector<int>)", "sort(enum p.E{B,A})")}) {
		wrong.Waiting = i + 1
		got = append(got, wrong.Error())
	}
	want := `method p.A.expire(int, int): bool, of which 1 call waits, is now expire(duration, time): parameter 1: values of type int are no values of type duration; REMEDY
method p.A.sort(E), of which 2 calls wait, has changed: enum E was {A, B} and is {B, A}: values are stored by their place, so they can only be added at the end; REMEDY
method p.A.gone(B?), of which 3 calls wait, is not in the program any more; REMEDY`
	if text := strings.ReplaceAll(strings.Join(got, "\n"), store.CallRemedy, "REMEDY"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if list := s.Unreadable(nil); len(list) != 4 {
		t.Errorf("without the class %d signatures are unreadable", len(list))
	}
}

func TestWaitingCallsAreCounted(t *testing.T) {
	e := memengine.New()
	st := openMem(t, e, store.Options{Partitions: 2})
	defer closeStore(t, st)
	b := st.NewBatch()
	row := func(p event.PartitionID, s store.Section, seq uint64, payload ...byte) {
		key := store.AppendSerial(store.AppendSection(nil, p, s), seq)
		b.Set(key, store.AppendRow(nil, key, payload))
	}
	row(0, store.Outbox, 1, 7, 1, 2)
	row(1, store.Outbox, 2, 7)
	row(0, store.Timers, 3, 0x80, 1, 9)
	row(1, store.Continuations, 4, 7)
	row(1, store.Sessions, 5, 7)
	row(0, store.Timers, 8, 0, 9, 9) // calls a client, which has no signature
	st.Append(b)
	got, err := store.WaitingCalls(st)
	if want := map[uint32]int{7: 3, 128: 1}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	b = st.NewBatch()
	row(1, store.Timers, 6)
	st.Append(b)
	if _, err := store.WaitingCalls(st); err == nil || !strings.Contains(err.Error(), "it has no signature") {
		t.Errorf("an empty row: %v", err)
	}
}

func FuzzSignature(f *testing.F) {
	f.Add("(int,class p.V{a int;b yield vector<actor p.B>?;e enum p.E{A,B}}):class p.V?")
	f.Add("(a<b<c")
	f.Fuzz(func(t *testing.T, text string) {
		why := store.CompareParameters(text, text)
		if strings.Contains(why, "cannot be read") {
			return
		}
		if why == "" {
			why = store.CompareResults(text, text)
		}
		if why != "" && !strings.Contains(why, "the text of the type does not say") {
			t.Errorf("%q cannot be read as itself: %s", text, why)
		}
	})
}

// A text that no compiler writes is refused as damage, and does no harm to its reader.
func TestTextsThatNoCompilerWritesAreRefused(t *testing.T) {
	for _, text := range []string{"(table)", "(table x)", "(vector<table>)", "(int" + strings.Repeat("?", 1<<20) + ")"} {
		if why := store.CompareParameters(text, text); why == "" {
			t.Errorf("%.20s is read", text)
		}
		if got := store.UserSignature(text); got != text {
			t.Errorf("%.20s is told as %.20s", text, got)
		}
	}
}
