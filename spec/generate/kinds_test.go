package generate_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/spec/generate"
)

// unused are the kinds of nodes that generated programs do not have, each with the reason.
var unused = map[string]string{
	"BadDecl": "an error", "BadMember": "an error", "BadStmt": "an error", "BadExpr": "an error", "BadType": "an error",
	"ImportDecl": "Split makes them", "ExternGoDecl": "golden programs call Go", "ExternFunc": "golden programs call Go", "ExternType": "golden programs call Go", "GoCall": "golden programs call Go", "TypeParam": "comes later",
	"Comment": "not a part of the program", "CommentGroup": "not a part of the program",
}

// TestEveryKindOfNodeIsUsed looks for statements, expressions and types that no generated program has.
func TestEveryKindOfNodeIsUsed(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(*programs) {
		for _, profile := range []generate.Profile{generate.Sequential, generate.Concurrent} {
			file, _ := lang.Parse("generated.aeon", []byte(program(seed, profile)))
			ast.Inspect(file, func(n ast.Node) bool {
				seen[strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast.")]++
				return true
			})
		}
	}
	for _, kind := range nodeKinds(t) {
		if seen[kind] == 0 && unused[kind] == "" {
			t.Errorf("no program has a node of kind %s", kind)
		}
	}
}

// nodeKinds returns the names of the nodes that package ast declares.
func nodeKinds(t *testing.T) (kinds []string) {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func \(\*?(?:\w+ )?\*?(\w+)\) (?:decl|member|stmt|expr|typ)\(\)`)
	for _, name := range []string{"decl", "stmt", "expr", "type"} {
		src, err := os.ReadFile("../../lang/ast/" + name + ".go")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllSubmatch(src, -1) {
			kinds = append(kinds, string(m[1]))
		}
	}
	if len(kinds) < 40 {
		t.Fatalf("only %d kinds of nodes found: %v", len(kinds), kinds)
	}
	return kinds
}
