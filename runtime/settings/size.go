package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are what a size may end with; case does not matter.
var units = []struct {
	name  string
	bytes float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"b", 1},
}

// ParseSize reads a number of bytes: 512MB, 2GiB, 1.5gb, 4096.
func ParseSize(text string) (int64, error) {
	number, bytes := strings.ToLower(strings.TrimSpace(text)), 1.0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, bytes = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is no size; write 512MB or 2GiB", text)
	}
	if n *= bytes; n >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is larger than the largest size", text)
	}
	return int64(n), nil
}
