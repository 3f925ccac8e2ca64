package settings

import (
	"path/filepath"
	"strings"
)

// Within reports whether a place for snapshots is the data directory, or below it.
func Within(place, dir string) bool {
	if strings.Contains(place, "://") {
		return false
	}
	p, err := filepath.Abs(place)
	d, derr := filepath.Abs(dir)
	if err != nil || derr != nil {
		return false
	}
	rel, err := filepath.Rel(d, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
