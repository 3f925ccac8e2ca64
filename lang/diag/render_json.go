package diag

import (
	"encoding/json"
	"io"

	"github.com/aeon-lang/aeon/lang/ast"
)

// jsonSpan is a place in JSON output. Lines and columns count from 1, columns
// in bytes; end is behind the last byte.
type jsonSpan struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"endLine"`
	EndColumn int    `json:"endColumn"`
	Offset    int    `json:"offset"`
	EndOffset int    `json:"endOffset"`
}

type jsonLabel struct {
	jsonSpan
	Text string `json:"text"`
}

type jsonEdit struct {
	jsonSpan
	New string `json:"new"`
}

type jsonFix struct {
	Text  string     `json:"text"`
	Edits []jsonEdit `json:"edits"`
}

type jsonDiagnostic struct {
	Code     Code   `json:"code"`
	Severity string `json:"severity"`
	jsonSpan
	Message   string      `json:"message"`
	Label     string      `json:"label,omitempty"`
	Secondary []jsonLabel `json:"secondary,omitempty"`
	Help      string      `json:"help,omitempty"`
	Fix       *jsonFix    `json:"fix,omitempty"`
}

func spanJSON(s ast.Span) jsonSpan {
	if !s.IsValid() {
		return jsonSpan{}
	}
	line, col := s.Pos().LineCol()
	endLine, endCol := s.EndPos().LineCol()
	return jsonSpan{s.Src.Name, line, col, endLine, endCol, int(s.Start), int(s.End)}
}

// WriteJSON writes {"diagnostics": […]} with everything a diagnostic has, for
// tools. The list is never null.
func WriteJSON(w io.Writer, list []Diagnostic) error {
	out := struct {
		Diagnostics []jsonDiagnostic `json:"diagnostics"`
	}{make([]jsonDiagnostic, 0, len(list))}
	for _, d := range list {
		j := jsonDiagnostic{Code: d.Code, Severity: d.Severity.String(), jsonSpan: spanJSON(d.Span), Message: d.Message, Label: d.Label, Help: d.Help}
		for _, l := range d.Secondary {
			j.Secondary = append(j.Secondary, jsonLabel{spanJSON(l.Span), l.Text})
		}
		if d.Fix != nil {
			j.Fix = &jsonFix{Text: d.Fix.Text, Edits: []jsonEdit{}}
			for _, e := range d.Fix.Edits {
				j.Fix.Edits = append(j.Fix.Edits, jsonEdit{spanJSON(e.Span), e.New})
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
