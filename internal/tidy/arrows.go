package tidy

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// The files of a package can be read one after the other. An arrow leads from a file to another one of which it uses anything; there is an order of the files in which less
// than one arrow of upShare goes up, to a file that comes later. Packages with few arrows are read whole.
const (
	upShare   = 4
	arrowsFew = 3
)

// orders is how many orders the search for the best one begins with.
const orders = 60

// arrows has which file of a package uses which.
type arrows struct {
	files []string
	uses  [][]bool
	total int
}

// checkOrder applies that to the packages of the module, without their tests and generated files.
func (r *Report) checkOrder(packages []listed) error {
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		if !within(p.ImportPath, module) || len(p.GoFiles) < 2 {
			continue
		}
		a, err := arrowsOf(fset, imports, p)
		if err != nil {
			return err
		}
		if up := a.up(a.best()); a.total > arrowsFew && len(up)*upShare >= a.total {
			r.add("file-order", p.ImportPath, "%d of %d arrows between files go up in the best order found, and less than a quarter may: %s", len(up), a.total, strings.Join(up, ", "))
		}
	}
	return nil
}

func arrowsOf(fset *token.FileSet, imports types.Importer, p listed) (*arrows, error) {
	var files []*ast.File
	a, index := &arrows{}, map[string]int{}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("tidy: %w", err)
		}
		if files = append(files, f); !ast.IsGenerated(f) {
			index[fset.Position(f.FileStart).Filename] = len(a.files)
			a.files = append(a.files, name)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	self, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, &info)
	if err != nil {
		return nil, fmt.Errorf("tidy: %w", err)
	}
	a.uses = make([][]bool, len(a.files))
	for i := range a.uses {
		a.uses[i] = make([]bool, len(a.files))
	}
	for id, o := range info.Uses {
		if o.Pkg() != self {
			continue
		}
		from, counts := index[fset.Position(id.Pos()).Filename]
		to, alsoCounts := index[fset.Position(o.Pos()).Filename]
		if counts && alsoCounts && from != to && !a.uses[from][to] {
			a.uses[from][to] = true
			a.total++
		}
	}
	return a, nil
}

// up returns the arrows that go up in an order of the files.
func (a *arrows) up(order []int) (list []string) {
	for i, from := range order {
		for _, to := range order[i+1:] {
			if a.uses[from][to] {
				list = append(list, a.files[from]+" uses "+a.files[to])
			}
		}
	}
	return list
}

// best returns the best of the orders that a search finds: from each of some orders, files are moved to where the fewest arrows go up, as long as that helps.
func (a *arrows) best() (best []int) {
	random := rand.New(rand.NewPCG(1, 2))
	for range orders {
		order := random.Perm(len(a.files))
		for a.improve(order) {
		}
		if best == nil || len(a.up(order)) < len(a.up(best)) {
			best = order
		}
	}
	return best
}

// improve moves each file to the best place among the others, and reports whether any was better.
func (a *arrows) improve(order []int) (better bool) {
	for i := range order {
		// gain is how many arrows fewer go up if the file passes those up to j.
		x, gain, most, place := order[i], 0, 0, i
		for j := i - 1; j >= 0; j-- {
			if gain += a.turned(order[j], x); gain > most {
				most, place = gain, j
			}
		}
		gain = 0
		for j := i + 1; j < len(order); j++ {
			if gain += a.turned(x, order[j]); gain > most {
				most, place = gain, j
			}
		}
		if place != i {
			better = true
			copy(order[i:], order[i+1:])
			copy(order[place+1:], order[place:len(order)-1])
			order[place] = x
		}
	}
	return better
}

// turned returns how many arrows fewer go up once first, which stands in front of second, stands behind it.
func (a *arrows) turned(first, second int) (fewer int) {
	if a.uses[first][second] {
		fewer++
	}
	if a.uses[second][first] {
		fewer--
	}
	return fewer
}
