package settings

import (
	"os"
	"path/filepath"
	"strings"
)

// Within reports whether a place for snapshots, or of other files, is a directory, or below it: by their names, or by where symbolic links lead now. Neither has
// to exist.
func Within(place, dir string) bool {
	if strings.Contains(place, "://") {
		return false
	}
	p, err := filepath.Abs(place)
	d, derr := filepath.Abs(dir)
	if err != nil || derr != nil {
		return false
	}
	return below(p, d) || below(followed(place), followed(dir))
}

// below reports whether a path is a directory, or below it. Both are absolute.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// linksMax bounds how many links are followed: they may lead in a circle.
const linksMax = 255

// followed returns the absolute path without symbolic links. Unlike filepath.EvalSymlinks it takes parts that do not exist, behind a link, too: a file that is opened
// by the name of such a link is made where that leads.
func followed(path string) string {
	if !filepath.IsAbs(path) {
		dir, err := os.Getwd()
		if err != nil {
			return filepath.Clean(path)
		}
		path = dir + string(filepath.Separator) + path // not joined: what .. means is known behind a link only
	}
	root := filepath.VolumeName(path) + string(filepath.Separator)
	done, rest := root, parts(path[len(root)-1:])
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		next := filepath.Join(done, name)
		to, err := os.Readlink(next)
		if err != nil || links == linksMax { // it is no link, or is not there
			done = next
			continue
		}
		links++
		if filepath.IsAbs(to) {
			done, to = root, to[len(filepath.VolumeName(to)):]
		}
		rest = append(parts(to), rest...)
	}
	return done
}

func parts(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
