package value

import (
	"fmt"
	"slices"
)

// MarshalEnum returns the name of a constant.
func MarshalEnum[E ~uint16](names []string, e E) ([]byte, error) {
	if int(e) >= len(names) {
		return nil, fmt.Errorf("there is no constant %d: the last is %d, %s", e, len(names)-1, names[len(names)-1])
	}
	return []byte(names[e]), nil
}

// UnmarshalEnum reads the name of a constant.
func UnmarshalEnum[E ~uint16](names []string, text []byte, e *E) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%q is none of the constants %q", text, names)
	}
	*e = E(i)
	return nil
}
