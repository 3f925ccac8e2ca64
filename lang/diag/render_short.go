package diag

import (
	"fmt"
	"io"
)

// WriteShort writes one line per diagnostic: file:line:col: AE0101: message.
func WriteShort(w io.Writer, list []Diagnostic) error {
	for _, d := range list {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	return nil
}

// String returns the short form: file:line:col: AE0101: message.
func (d Diagnostic) String() string {
	severity := ""
	if d.Severity == Warning {
		severity = "warning: "
	}
	return fmt.Sprintf("%s: %s: %s%s", d.Span, d.Code, severity, d.Message)
}
