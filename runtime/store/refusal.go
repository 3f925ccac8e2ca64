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

// OlderFormatError refuses a store that an older version has written: this version does not read its rows.
type OlderFormatError struct {
	Place        string
	Found, Known int
}

// Error implements error.
func (e *OlderFormatError) Error() string {
	remedy := "run the program as built by that version, or give this one another directory"
	if e.Found == UpgradableFormat {
		remedy = "`aeond upgrade` makes a directory of this version of it"
	}
	return fmt.Sprintf("%s was written by an older version of aeon (format %d, this one knows %d only); %s", place(e.Place), e.Found, e.Known, remedy)
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

// formatError returns the error that refuses rows of a format, nil for the present one.
func formatError(place string, found int) error {
	switch {
	case found > Format:
		return &NewerFormatError{Place: place, Found: found, Known: Format}
	case found < Format:
		return &OlderFormatError{Place: place, Found: found, Known: Format}
	}
	return nil
}

// age says whether an unknown format is newer or older than the known one.
func age(found, known int) string {
	if found > known {
		return "a newer"
	}
	return "an older"
}
