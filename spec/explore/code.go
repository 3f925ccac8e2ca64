package explore

import (
	"fmt"
	"strconv"
	"strings"
)

// digits are the choices that a code writes as one character.
const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

// Encode writes the choices of a run as a short code. Choices of the first step at the end are
// left out, as spec.Replay makes them by itself; the code of no choices at all is "0".
func Encode(choices []int) string {
	n := len(choices)
	for n > 0 && choices[n-1] == 0 {
		n--
	}
	var b strings.Builder
	for _, c := range choices[:n] {
		if c < len(digits) {
			b.WriteByte(digits[c])
		} else {
			fmt.Fprintf(&b, "(%d)", c)
		}
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// Decode is the inverse of Encode.
func Decode(code string) ([]int, error) {
	var choices []int
	for rest := code; rest != ""; {
		if number, after, ok := strings.Cut(strings.TrimPrefix(rest, "("), ")"); ok && rest[0] == '(' {
			n, err := strconv.Atoi(number)
			if err != nil || n < 0 {
				return nil, fmt.Errorf("%q is not the code of an order: %q is no number", code, number)
			}
			choices, rest = append(choices, n), after
			continue
		}
		n := strings.IndexByte(digits, rest[0])
		if n < 0 {
			return nil, fmt.Errorf("%q is not the code of an order: it has digits, letters from a to z, and numbers in parentheses", code)
		}
		choices, rest = append(choices, n), rest[1:]
	}
	return choices, nil
}
