package diag

import (
	"encoding/json"
	"io"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/lang/ast"
)

// jsonSpan is a place in JSON output. Lines and columns count from 1, columns
// in bytes; end is behind the last byte.
type jsonSpan struct {
	File      bytejson.Text `json:"file"`
	Line      int           `json:"line"`
	Column    int           `json:"column"`
	EndLine   int           `json:"endLine"`
	EndColumn int           `json:"endColumn"`
	Offset    int           `json:"offset"`
	EndOffset int           `json:"endOffset"`
}

type jsonLabel struct {
	jsonSpan
	Text bytejson.Text `json:"text"`
}

type jsonEdit struct {
	jsonSpan
	New bytejson.Text `json:"new"`
}

type jsonFix struct {
	Text  bytejson.Text `json:"text"`
	Edits []jsonEdit    `json:"edits"`
}

type jsonDiagnostic struct {
	Code     Code   `json:"code"`
	Severity string `json:"severity"`
	jsonSpan
	Message   bytejson.Text `json:"message"`
	Label     bytejson.Text `json:"label,omitempty"`
	Secondary []jsonLabel   `json:"secondary,omitempty"`
	Help      bytejson.Text `json:"help,omitempty"`
	Fix       *jsonFix      `json:"fix,omitempty"`
}

func spanJSON(s ast.Span) jsonSpan {
	if !s.IsValid() {
		return jsonSpan{}
	}
	line, col := s.Pos().LineCol()
	endLine, endCol := s.EndPos().LineCol()
	return jsonSpan{bytejson.Text(s.Src.Name), line, col, endLine, endCol, int(s.Start), int(s.End)}
}

// WriteJSON writes {"diagnostics": […]} with everything a diagnostic has, for
// tools. The list is never null.
func WriteJSON(w io.Writer, list []Diagnostic) error {
	out := struct {
		Diagnostics []jsonDiagnostic `json:"diagnostics"`
	}{make([]jsonDiagnostic, 0, len(list))}
	for _, d := range list {
		j := jsonDiagnostic{Code: d.Code, Severity: d.Severity.String(), jsonSpan: spanJSON(d.Span), Message: bytejson.Text(d.Message), Label: bytejson.Text(d.Label), Help: bytejson.Text(d.Help)}
		for _, l := range d.Secondary {
			j.Secondary = append(j.Secondary, jsonLabel{spanJSON(l.Span), bytejson.Text(l.Text)})
		}
		if d.Fix != nil {
			j.Fix = &jsonFix{Text: bytejson.Text(d.Fix.Text), Edits: []jsonEdit{}}
			for _, e := range d.Fix.Edits {
				j.Fix.Edits = append(j.Fix.Edits, jsonEdit{spanJSON(e.Span), bytejson.Text(e.New)})
			}
		}
		out.Diagnostics = append(out.Diagnostics, j)
	}
	return encode(w, out)
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
