package store

import "fmt"

// OtherProgramError refuses a store that belongs to another program.
type OtherProgramError struct {
	Place, Found, Program string
}

// Error implements error.
func (e *OtherProgramError) Error() string {
	return fmt.Sprintf("%s holds the data of program %q, and this is %q; give this program a directory of its own", place(e.Place), e.Found, e.Program)
}

// NewerFormatError refuses a store that a newer version has written.
type NewerFormatError struct {
	Place        string
	Found, Known int
}

// Error implements error.
func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s was written by a newer version of aeon (format %d, this one knows up to %d); run the program as built by that version or a later one",
		place(e.Place), e.Found, e.Known)
}

func place(p string) string {
	if p == "" {
		return "the store"
	}
	return p
}
