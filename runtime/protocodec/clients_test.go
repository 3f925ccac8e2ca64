package protocodec_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/protocodec"
)

// program has names that get in each other's way: an actor class called as the service of clients, and two with methods whose
// messages have the names of those of callbacks.
func program(hidden string) protocodec.Program {
	is := func(name string) bool { return strings.Contains(hidden, name) }
	return protocodec.Program{
		Classes: []protocodec.Class{
			{Package: "p", Name: "Clients", Hidden: is("Clients"), Methods: []protocodec.Method{{Name: "begin", Signature: "()", Hidden: is("Clients")}}},
			{Package: "p", Name: "Callback", Hidden: is("Callback"), Methods: []protocodec.Method{{Name: "take", Signature: "(client p.Second)", Params: []string{"it"}, Hidden: is("Callback")}}},
			{Package: "q", Name: "Other", Hidden: is("Other"), Methods: []protocodec.Method{{Name: "m", Signature: "():class q.Value{x int}", Hidden: is("Other")}}},
		},
		Clients: []protocodec.Class{
			{Package: "p", Name: "First", Hidden: is("First"), Methods: []protocodec.Method{{Name: "a", Signature: "()"}}},
			{Package: "p", Name: "Second", Hidden: is("Second"), Methods: []protocodec.Method{
				{Name: "number", Signature: "(int,string?)", Params: []string{"number", "client"}}, {Name: "method", Signature: "()"},
			}},
		},
	}
}

func compileProgram(t *testing.T, hidden string) (d described, text string) {
	t.Helper()
	s, err := protocodec.Compile(program(hidden))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Files {
		text += f.Source()
	}
	return registered(t, s), text
}

// What is hidden leaves no trace, and the names and numbers of all else as they are.
func TestHidden(t *testing.T) {
	_, all := compileProgram(t, "")
	for _, want := range []string{"service Clients_ {", "returns (stream .p.Callback_);", "message Callback_ {", "    .p.FirstCallback First = 2;\n    .p.SecondCallback Second = 3;\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("there is no %s in\n%s", want, all)
		}
	}
	for _, hidden := range []string{"First", "Clients", "Clients Callback", "Other", "First Clients Callback Other"} {
		d, some := compileProgram(t, hidden)
		for line := range strings.Lines(some) {
			if !strings.Contains(all, line) {
				t.Errorf("without %s there is %s", hidden, line)
			}
		}
		for name := range strings.FieldsSeq(hidden) {
			for _, trace := range map[string][]string{
				"First": {"FirstCallback", "FirstA", " First "}, "Clients": {"service Clients {", "ClientsBegin"}, "Callback": {"service Callback {", "CallbackTake"}, "Other": {"package q"},
			}[name] {
				if !strings.Contains(all, trace) || strings.Contains(some, trace) {
					t.Errorf("without %s: %s", name, trace)
				}
			}
		}
		if !strings.Contains(some, ".p.SecondCallback Second = 3;") || strings.Contains(hidden, "Other") && d.files.NumFiles() != 1 {
			t.Errorf("without %s there is\n%s", hidden, some)
		}
	}
	if _, none := compileProgram(t, "First Second"); strings.Contains(none, "Clients_") || strings.Contains(none, "Callback_") {
		t.Errorf("without client classes there is\n%s", none)
	}
}

// A callback is what protobuf's own library takes it for.
func TestCallbacks(t *testing.T) {
	d, _ := compileProgram(t, "")
	second := d.Clients["p"].Classes["Second"]
	args := codec.NewEncoder(nil)
	args.Int(-7)
	args.Bool(true)
	args.String("")
	for name, c := range map[string]struct {
		args []byte
		want string
	}{
		"number": {args.Data(), `{"number":"300","Second":{"number":{"number":"-7","client":""}}}`},
		"method": {codec.NewEncoder(nil).Data(), `{"number":"300","Second":{"method":{}}}`},
	} {
		b, err := second.Methods[name].Append(nil, 300, c.args, register{})
		m := d.message(t, "p.Callback_")
		if err == nil {
			err = proto.Unmarshal(b, m)
		}
		if err != nil || len(m.GetUnknown()) > 0 {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := protojson.Marshal(m)
		if got := strings.ReplaceAll(string(text), " ", ""); err != nil || got != c.want {
			t.Errorf("%s: %s (%v), expected %s", name, got, err, c.want)
		}
	}
	bad := codec.NewEncoder(nil)
	bad.Int(1)
	bad.Bool(true)
	bad.String("\xff")
	if _, err := second.Methods["number"].Append(nil, 1, bad.Data(), register{}); err == nil {
		t.Error("a string that is no UTF-8 is written")
	}
	if _, err := second.Methods["number"].Append(nil, 1, nil, register{}); err == nil {
		t.Error("arguments that are not there are written")
	}
}
