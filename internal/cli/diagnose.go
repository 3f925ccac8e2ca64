package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/lang/diag"
)

// DiagnosticFormats are those in which diagnostics are shown.
var DiagnosticFormats = []string{"human", "short", "json", "sarif"}

// diagnosticsMax bounds how many are shown to users; programs get all.
const diagnosticsMax = 100

// Diagnose shows what is wrong with packages, in one of DiagnosticFormats. It
// returns an error if one of the diagnostics is one.
func (e *Env) Diagnose(packages []*load.Package, format string) error {
	var all []diag.Diagnostic
	for _, p := range packages {
		all = append(all, p.Diagnostics...)
	}
	return e.ShowDiagnostics(all, format)
}

// ShowDiagnostics is Diagnose for diagnostics that belong to no package.
func (e *Env) ShowDiagnostics(all []diag.Diagnostic, format string) error {
	if err := e.writeDiagnostics(all, format); err != nil {
		return err
	}
	errors, code := 0, ExitProblem
	files := map[string]bool{}
	for _, d := range all {
		if d.Severity == diag.Error {
			errors++
			files[d.Span.Pos().File()] = true
		}
		if d.Code == diag.Internal {
			code = ExitBug
		}
	}
	if errors == 0 {
		return nil
	}
	if format == "human" {
		e.Say("%s in %s", Count(errors, "error"), Count(len(files), "file"))
	}
	return Code(code)
}

// writeDiagnostics writes to standard error for users, and to standard output for
// programs that have asked for data.
func (e *Env) writeDiagnostics(all []diag.Diagnostic, format string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch format {
	case "short":
		return diag.WriteShort(e.Stderr, all)
	case "json":
		return diag.WriteJSON(e.Stdout, all)
	case "sarif":
		return diag.WriteSARIF(e.Stdout, all)
	default:
		return diag.WriteHuman(e.Stderr, all, diag.HumanOptions{Color: colours(e.Stderr), Max: diagnosticsMax})
	}
}

// Count returns how many there are of what a noun names: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// colours reports whether w shows colours: it is a terminal that can, and the user
// has not turned them off (https://no-color.org).
func colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, too
	return err != nil || !os.SameFile(info, null)
}
