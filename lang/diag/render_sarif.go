package diag

import (
	"io"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/aeon-lang/aeon/internal/bytejson"
	"github.com/aeon-lang/aeon/lang/ast"
)

// The part of SARIF 2.1.0 that is written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               Code         `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		Help             sarifMessage `json:"help"`
	}
	sarifMessage struct {
		Text bytejson.Text `json:"text"`
	}
	sarifResult struct {
		RuleID           Code            `json:"ruleId"`
		Level            string          `json:"level"`
		Message          sarifMessage    `json:"message"`
		Locations        []sarifLocation `json:"locations"`
		RelatedLocations []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes            []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID               int           `json:"id,omitempty"`
		Message          *sarifMessage `json:"message,omitempty"`
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description     sarifMessage  `json:"description"`
		ArtifactChanges []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		ArtifactLocation sarifArtifact      `json:"artifactLocation"`
		Replacements     []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		DeletedRegion   sarifRegion  `json:"deletedRegion"`
		InsertedContent sarifMessage `json:"insertedContent"`
	}
)

// WriteSARIF writes the diagnostics as a SARIF 2.1.0 log, which code hosts show
// beside the source.
func WriteSARIF(w io.Writer, list []Diagnostic) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "aeonc", Rules: []sarifRule{}}
	var codes []Code
	for _, d := range list {
		codes = append(codes, d.Code)
		run.Results = append(run.Results, sarifOf(d))
	}
	slices.Sort(codes)
	for _, c := range slices.Compact(codes) {
		info, _ := Lookup(c)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{c, sarifMessage{bytejson.Text(info.Title)}, sarifMessage{bytejson.Text(info.Explanation)}})
	}
	return encode(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func sarifOf(d Diagnostic) sarifResult {
	r := sarifResult{RuleID: d.Code, Level: d.Severity.String(), Message: sarifMessage{bytejson.Text(d.Message)}}
	if d.Help != "" {
		r.Message.Text += bytejson.Text("; " + d.Help)
	}
	if !d.Span.IsValid() {
		return r
	}
	r.Locations = []sarifLocation{{PhysicalLocation: physical(d.Span)}}
	for i, l := range d.Secondary {
		if l.Span.IsValid() {
			r.RelatedLocations = append(r.RelatedLocations, sarifLocation{i + 1, &sarifMessage{bytejson.Text(l.Text)}, physical(l.Span)})
		}
	}
	if d.Fix != nil {
		fix := sarifFix{Description: sarifMessage{bytejson.Text(d.Fix.Text)}}
		for _, e := range d.Fix.Edits {
			p := physical(e.Span)
			fix.ArtifactChanges = append(fix.ArtifactChanges, sarifChange{p.ArtifactLocation,
				[]sarifReplacement{{p.Region, sarifMessage{bytejson.Text(e.New)}}}})
		}
		r.Fixes = []sarifFix{fix}
	}
	return r
}

func physical(s ast.Span) sarifPhysical {
	return sarifPhysical{sarifArtifact{(&url.URL{Path: filepath.ToSlash(s.Src.Name)}).String()}, sarifRegion{
		s.Pos().Line(), charCol(s.Pos()), s.EndPos().Line(), charCol(s.EndPos())}}
}

// charCol is the column in characters, which SARIF asks for.
func charCol(p ast.Pos) int {
	line, col := p.LineCol()
	text := p.Src.Text[p.Src.LineStart(line):]
	return len([]rune(text[:col-1])) + 1
}
