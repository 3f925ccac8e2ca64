package diag

import (
	"fmt"
	"strings"
)

// Page returns the documentation of a code as Markdown: its page in
// docs/errors, and what `aeonc explain` shows.
func (i Info) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n%s\n", i.Code, i.Title, strings.TrimSpace(i.Explanation))
	if i.Bad != "" {
		fmt.Fprintf(&b, "\n## Wrong\n\n```aeon\n%s```\n", i.Bad)
	}
	if i.Good != "" {
		fmt.Fprintf(&b, "\n## Right\n\n```aeon\n%s```\n", i.Good)
	}
	return b.String()
}

// Nearest returns the declared codes that a mistyped one may have been meant
// for: those that contain its digits.
func Nearest(code string) []Code {
	digits := strings.TrimLeft(strings.ToUpper(code), "AE0")
	var out []Code
	for _, i := range All() {
		if digits != "" && strings.Contains(string(i.Code), digits) {
			out = append(out, i.Code)
		}
	}
	return out
}
