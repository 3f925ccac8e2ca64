package bytejson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

type record struct {
	Text Text `json:",omitempty"`
	Map  map[string]Text
}

// check writes s and reads it back; for valid text encoding/json must do the same, both ways.
func check(t *testing.T, s string) {
	t.Helper()
	line, err := json.Marshal(record{Text(s), map[string]Text{"k": Text(s)}})
	if err != nil {
		t.Fatal(err)
	}
	var got record
	if err := json.Unmarshal(line, &got); err != nil || string(got.Text) != s || string(got.Map["k"]) != s {
		t.Errorf("%q became %q and %q by way of %s: %v", s, got.Text, got.Map["k"], line, err)
	}
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	var others string
	if err := json.Unmarshal(Append(nil, s), &others); err != nil {
		t.Errorf("%s is no JSON: %v", Append(nil, s), err)
	}
	if !utf8.ValidString(s) {
		if want := strings.ToValidUTF8(strings.ReplaceAll(s, "\ufffd", "?"), "\ufffd"); strings.Count(others, "\ufffd") < strings.Count(want, "\ufffd") {
			t.Errorf("%q is read as %q by others", s, others)
		}
		return
	}
	if others != s || plain.String() != string(Append(nil, s))+"\n" {
		t.Errorf("%q is written as %s, and by others as %s, and read as %q", s, Append(nil, s), plain.String(), others)
	}
}

var strange = []string{"", "plain", "a\"b\\c/\b\f\n\r\t\x00\x7f<>&", "gr\u00fc\u00dfe \u2028 \U0001f600 \ufffd", "\xff", "a\x80b\xffc", "\xed\xb2\x80", "\xed\xa0\xbd\xed\xb8\x80",
	"\xf0\x9f\x98", "\xc3", "\U0001f600\xff\U0001f600", "\\udc80", "\\\xff"}

func TestAnyBytesComeBack(t *testing.T) {
	for _, s := range strange {
		check(t, s)
	}
	var all []byte
	for i := range 256 {
		check(t, string([]byte{byte(i)}))
		all = append(all, byte(i), 'x', byte(255-i))
	}
	check(t, string(all))
}

func TestForeignStringsAreReadAsByOthers(t *testing.T) {
	for _, quoted := range []string{`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00"`, `"\udc7f"`, `"\u0041\/\u00e4\u00E4"`, `"\ud83d\u0041"`} {
		var want string
		var got Text
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(quoted), &got); err != nil || string(got) != want {
			t.Errorf("%s is %q, not %q: %v", quoted, got, want, err)
		}
	}
}

func FuzzAnyBytes(f *testing.F) {
	for _, s := range strange {
		f.Add(s)
	}
	f.Fuzz(check)
}
