package diag

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/lang/ast"
)

func sample() []Diagnostic {
	src := ast.NewSource("dir/a.aeon", "package p\n\nvoid f() {\n\tx = “é” + NULL;\n}\n")
	at := func(text string) ast.Span {
		i := strings.Index(src.Text, text)
		return spanOf(src, int32(i), int32(i+len(text)))
	}
	return []Diagnostic{
		New(NullSpelling, at("NULL"), "`NULL` is written `null`").WithLabel("here").With(at("void"), "in this function").
			WithHelp("write null").WithFix("write null", Replace(at("NULL"), "null")),
		Warn(NotAStatement, at("x"), "odd"),
	}
}

// The names of files are bytes, and so are the strings of a program.
func TestBytesThatAreNoTextAreKept(t *testing.T) {
	const name, text = "a dir\xff/50%.aeon", "no case \xfe"
	src := ast.NewSource(name, "package p\n")
	span := spanOf(src, 0, 7)
	list := []Diagnostic{New(NullSpelling, span, text).WithLabel(text).With(span, text).WithHelp(text).WithFix(text, Replace(span, text))}
	var out bytes.Buffer
	if err := WriteJSON(&out, list); err != nil {
		t.Fatal(err)
	}
	type texts struct{ File, Text, New, Message, Label, Help bytejson.Text }
	var got struct {
		Diagnostics []struct {
			texts
			Secondary []texts
			Fix       struct {
				Text  bytejson.Text
				Edits []texts
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	d := got.Diagnostics[0]
	if d.texts != (texts{File: name, Message: text, Label: text, Help: text}) || d.Secondary[0] != (texts{File: name, Text: text}) ||
		d.Fix.Text != text || d.Fix.Edits[0] != (texts{File: name, New: text}) {
		t.Errorf("JSON became %q", d)
	}
	out.Reset()
	if err := WriteSARIF(&out, list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"uri": "a%20dir%FF/50%25.aeon"`, `"text": "no case \udcfe; no case \udcfe"`, `"text": "no case \udcfe"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("SARIF has no %s:\n%s", want, out.String())
		}
	}
}

func TestWriteHuman(t *testing.T) {
	var out strings.Builder
	if err := WriteHuman(&out, sample(), HumanOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "error[AE0014]: `NULL` is written `null`\n" +
		" --> dir/a.aeon:4:17\n" +
		"  |\n" +
		"3 | void f() {\n" +
		"  | ---- in this function\n" +
		"4 |     x = “é” + NULL;\n" +
		"  |               ^^^^ here\n" +
		"  help: write null\n" +
		"  fix: write null\n" +
		"\n" +
		"warning[AE0018]: odd\n" +
		" --> dir/a.aeon:4:2\n" +
		"  |\n" +
		"4 |     x = “é” + NULL;\n" +
		"  |     ^\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWriteHumanCountsWhatItLeavesOut(t *testing.T) {
	var out strings.Builder
	if err := WriteHuman(&out, sample(), HumanOptions{Max: 1, Color: true}); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.HasSuffix(s, "… and 1 more\n") || !strings.Contains(s, "\x1b[1;31merror[AE0014]\x1b[0m") || strings.Contains(s, "odd") {
		t.Errorf("got\n%s", s)
	}
}

func TestWriteHumanShowsAWindowOfLongLines(t *testing.T) {
	src := ast.NewSource("a.aeon", strings.Repeat("x", 100_000)+"!"+strings.Repeat("y", 100_000))
	var out strings.Builder
	if err := WriteHuman(&out, []Diagnostic{New(StrayCharacter, spanOf(src, 100_000, 200_001), "m")}, HumanOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(out.String()) > 1000 || strings.Index(lines[3], "!") != strings.Index(lines[4], "^")+len("…")-1 {
		t.Errorf("got\n%s", out.String())
	}
}

func TestWriteShort(t *testing.T) {
	var out strings.Builder
	if err := WriteShort(&out, sample()); err != nil {
		t.Fatal(err)
	}
	if want := "dir/a.aeon:4:17: AE0014: `NULL` is written `null`\ndir/a.aeon:4:2: AE0018: warning: odd\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestWriteJSON(t *testing.T) {
	var out strings.Builder
	if err := WriteJSON(&out, sample()); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Diagnostics []struct {
			Code, Severity, File, Message, Help string
			Line, Column, EndLine, EndColumn    int
			Secondary                           []struct{ Text string }
			Fix                                 *struct{ Edits []struct{ New string } }
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	d := got.Diagnostics[0]
	if len(got.Diagnostics) != 2 || d.Code != "AE0014" || d.Line != 4 || d.Column != 17 || d.EndColumn != 21 || d.Fix.Edits[0].New != "null" || d.Secondary[0].Text != "in this function" {
		t.Errorf("got %s", out.String())
	}
	out.Reset()
	if err := WriteJSON(&out, nil); err != nil || !strings.Contains(out.String(), `"diagnostics": []`) {
		t.Errorf("no diagnostics are written as %s, %v", out.String(), err)
	}
}

func TestWriteSARIF(t *testing.T) {
	var out strings.Builder
	if err := WriteSARIF(&out, sample()); err != nil {
		t.Fatal(err)
	}
	var got sarifLog
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	run := got.Runs[0]
	r := run.Results[0]
	if got.Version != "2.1.0" || len(run.Results) != 2 || len(run.Tool.Driver.Rules) != 2 || run.Results[1].Level != "warning" {
		t.Fatalf("got %s", out.String())
	}
	// Columns count characters: the curly quotes and the accent are one each.
	if region := r.Locations[0].PhysicalLocation.Region; region.StartColumn != 12 || region.EndColumn != 16 || region.StartLine != 4 {
		t.Errorf("region %+v", region)
	}
	if r.Fixes[0].ArtifactChanges[0].Replacements[0].InsertedContent.Text != "null" || r.RelatedLocations[0].Message.Text != "in this function" {
		t.Errorf("got %s", out.String())
	}
}
