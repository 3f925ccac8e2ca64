package generate_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
	"github.com/aeon-lang/aeon/spec/generate"
)

// branchesWanted says which percentage of the programs of branches has at least a statement that fits, in a method that was drawn. A name
// before a colon is that of the methods which it is looked for in; they have a number behind it.
var branchesWanted = map[string]struct {
	share   float64
	pattern string
}{
	"vector is written":                   {65, `add:(log|other)(\.push|\.pop|\.insert|\.remove|\[)`},
	"vector is copied and written":        {30, `add:other = log;`},
	"part of a vector is copied":          {15, `add:other = log\[`},
	"map is written":                      {45, `add:counts(\[|\.remove)`},
	"map is copied and written":           {20, `add:(spare = counts|= counts;)`},
	"set is written":                      {20, `add:seen\.insert`},
	"string is written":                   {20, `add:text = `},
	"value class is written":              {35, `add:\b(val|vals|kept)\b.*(grow|list\[)`},
	"box of a value that a map has":       {15, `add:Val\? \w+ = kept\.get`},
	"table is written":                    {45, `add:rows(\.put|\.insert|\.remove|\[)`},
	"table is queried":                    {20, `add:rows\.(find|range)`},
	"more than 64 elements":               {45, `program:upto 70\b|new Cell\(.*, 66\)`},
	"several actors in one branch":        {35, `(add|spread):= new |push\(new .*\n.*push\(new `},
	"actors in a branch of a branch":      {45, `add:new Cell`},
	"actors in branches of the root":      {15, `run:async .*(make|new Leaf)`},
	"actor is deleted":                    {60, `(add|spread|run|note):delete `},
	"actor is made and deleted":           {35, `(add|spread|run):delete x`},
	"named actor, in several branches":    {45, `run:\.(peek|peekAll|note|noteAll)\(h`},
	"named actor is deleted by a branch":  {10, `run:\.end\(h`},
	"named actor is deleted by main":      {20, `main:delete actor`},
	"timer is set":                        {35, `(add|spread): after `},
	"timer is cancelled":                  {30, `(add|spread):cancel `},
	"periodic timer":                      {10, `add: every `},
	"chain begins with branches":          {20, `main:root\.chain`},
	"tail call of another actor":          {20, `chain:tail (mids|leaves)`},
	"tail calls of a sub-event":           {15, `(add|spread|run):event .*\.step\(`},
	"sub-event of a branch":               {35, `(add|spread):event [^s].*;\n`},
	"sub-event through a yield reference": {5, `add:event peers`},
	"callback":                            {20, `:event screen`},
	"line":                                {50, `(add|spread|run|put|note):print\(`},
	"failure in a branch":                 {65, `(add|spread|put):require|abort|/ \(`},
	"actors as keys":                      {20, `(add|spread|run):(map<Cell|set<Leaf)`},
	"arguments that are containers":       {35, `(spread|run):\.(give|take|prize|useAll|hold)\(`},
	"results that are containers":         {45, `(spread|run):\.(take|worth|share|all)\(`},
	"yield references are handed on":      {30, `(spread|run):\.meet\(`},
	"actors are handed on in a container": {30, `(spread|run):\.(useAll|hold|adopt)\(`},
	"a local hands actors on":             {30, `(spread|run):(Pair |Leaf \w+ = leaves)`},
	"path with a key":                     {45, `(spread|run):\.(at|mayAt)\(`},
	"root forks to mids":                  {65, `run:async .*(spread|useAll|make|noteAll|peekAll)`},
	"mid forks to leaves":                 {65, `spread:async .*add`},
	"leaf forks to cells":                 {60, `add:async .*put`},
	"event of the store of the root":      {35, `main:root\.begin`},
}

// branchesSeeds is how many programs are looked at.
const branchesSeeds = 60

var drawn = regexp.MustCompile(`^(add|put|spread|run|note|chain|main)\d*$`)

// Programs of branches are well-typed, and have what they are for.
func TestBranches(t *testing.T) {
	patterns := map[string]*regexp.Regexp{}
	methods := map[string]*regexp.Regexp{}
	for name, w := range branchesWanted {
		of, pattern, _ := strings.Cut(w.pattern, ":")
		methods[name], patterns[name] = regexp.MustCompile("^("+of+`)\d*$`), regexp.MustCompile(pattern)
		if of == "" {
			methods[name] = drawn
		}
	}
	seen := map[string]int{}
	for seed := range uint64(branchesSeeds) {
		text := generate.Branches(seed)
		if diags := check(text); diag.HasErrors(diags) {
			t.Errorf("seed %d: %v\n%s", seed, diags, text)
		}
		file, _ := lang.Parse("generated.aeon", []byte(text))
		bodies := map[string]string{"program": text}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.MethodDecl:
				bodies[n.Name.Text] += n.Body.Span().Text()
			case *ast.FuncDecl:
				bodies[n.Name.Text] = n.Body.Span().Text()
			}
			return true
		})
		for name := range branchesWanted {
			for of, body := range bodies {
				if methods[name].MatchString(of) && patterns[name].MatchString(body) {
					seen[name]++
					break
				}
			}
		}
	}
	for name, w := range branchesWanted {
		share := 100 * float64(seen[name]) / branchesSeeds
		if share < w.share {
			t.Errorf("%s: %.0f %% of %d programs, should be %.0f %%", name, share, branchesSeeds, w.share)
		}
		t.Logf("%5.0f %% %s", share, name)
	}
}
