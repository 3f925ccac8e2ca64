package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/settings"
)

// What symbolic links lead to is found, whichever of the two paths has them, and whether the last part of it exists.
func TestWithinFollowsLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"real/sub", "other"} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	all, err := filepath.Abs("real")
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"link": "real", "chain": "link", "absolute": all, "deep": "real/sub", "real/out": "../other", "dangling": "real/made/later", "circle": "circle",
	} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	for paths, want := range map[string]bool{
		"real real":                true,
		"real/data real":           true,
		"real/data link":           true, // of which the directory is the link
		"link/data real":           true, // of which the place is
		"chain/data absolute":      true,
		"link link":                true,
		"deep link":                true,
		"deep/new/data real":       true,
		"dangling real":            true, // a file would be made there
		"real/out/data real":       true, // by its name
		"real/out/data other":      true, // and by where it leads
		"other/data real":          false,
		"real link/sub":            false,
		"real deep":                false,
		"deep/../data real":        true, // the one above what the link leads to
		"deep/../../data real":     false,
		"real/data deep/..":        true,
		"realm real":               false,
		"circle real":              false,
		"circle/data circle":       true,
		"none/data none":           true,
		"none none/data":           false,
		"s3://real/data s3://real": false,
	} {
		place, dir, _ := strings.Cut(paths, " ")
		if got := settings.Within(place, dir); got != want {
			t.Errorf("%s is in %s: %v", place, dir, got)
		}
	}
}
