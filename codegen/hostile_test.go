package codegen_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	aeon "github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// nasty are names that mean something in Go, or in generated code.
var nasty = strings.Fields(`break case chan const continue defer else fallthrough for func go goto if import interface map package
	range return select struct switch type var any append bool byte cap clear close comparable complex copy delete error
	false float64 imag int int64 iota len make max min nil panic print println real recover rune string true uint8 init main
	_ aeonrt aeonval time strconv self Self cx cl ret ok v x e d f n m r a err args mark failed exit result tmp1 tmp2 tmp3 tmp1_ self_ cx_ cx__
	Ref ID IsNull EachRef Compare CompareKey String Equal Str Share MarkShared EachElem Encode Decode SaveField LoadFields StoredRows EncodeResult
	construct Event Await callGet New NewA AeonPackage aeonMain aeonTest1 classA methodAGet ARef createA putP getP newP P A B aGetArgs
	setN setN_ fieldAN ClientObject ClientRef this_ Read Write None Vector Map Add`)

// renamable is a program whose names are replaced one by one; $0 to $15 stand for them.
const renamable = `package p

enum $0 { $1, $2 }

const int $3 = 4;

class $4 { int $5; vector<int> $6; int $7() { $6.push($5); return $3; } }

actorclass $8 {
	int $9 = 1;
	yield map<string, $8> $10;
	$4? $11;
	int $12(int $13, $8 $14) {
		$9 += $13;
		$11 = new $4($13, []);
		int $15 = $11!.$7();
		if ($4 $5 = $11) { $15 += $5.$5; }
		for (int $6 : [1, 2]) { $15 += $6; }
		event $14.$7();
		$10["x"] = $14;
		return $15 + $3 + $16($15);
	}
	void $7() { $11 = null; }
}

int $16(int $17) {
	$0 $18 = $1;
	switch ($18) { case $1: return $17; case $2: return $3; }
}

void main() {
	$8 $19 = new $8();
	int $20 = await event $19.$12(3, $19);
	try { await event $19.$7(); } catch (string $21) { print($21); }
	print($20);
}
`

var hole = regexp.MustCompile(`\$[0-9]+`)

const holes = 22

// critical are the names that matter most: those that generated code uses in the bodies of functions.
var critical = strings.Fields(`aeonrt aeonval time self cx cl ok r tmp1 failed other visit k y ref tmp2 ret args err v x e d f n m a mark init main
	range type func chan select struct defer go int64 string len nil append any true panic min`)

// places are holes of every kind: enum, its value, constant, class, its field, actor class, its field and
// method, parameter, local, function.
var places = []int{0, 1, 3, 4, 5, 8, 9, 12, 13, 15, 16}

// fill gives the holes of renamable the given names and plain ones.
func fill(names map[int]string) string {
	return hole.ReplaceAllStringFunc(renamable, func(h string) string {
		i, _ := strconv.Atoi(h[1:])
		if names[i] != "" {
			return names[i]
		}
		return "plain" + h[1:]
	})
}

// compiles reports whether the checker accepts the program, and what Go says about it then.
func compiles(text string) (accepted bool, bad string) {
	file, diags := lang.Parse("names.aeon", []byte(text))
	if failed(diags) {
		return false, ""
	}
	info, diags := typecheck.Check([]*aeon.File{file}, typecheck.Options{})
	if failed(diags) {
		return false, ""
	}
	files, err := codegen.Generate(info, codegen.Options{SourceName: func(*aeon.Source) string { return "names" }}) // not formatted: faster
	if err != nil {
		return true, err.Error()
	}
	return true, sharedChecker().check(files, true)
}

// TestNamesCannotEscape gives a program names that mean something in the generated code: each of the critical
// ones, and random combinations. Where the checker accepts the program, the Go must compile.
func TestNamesCannotEscape(t *testing.T) {
	accepted := 0
	tried := 0
	for n, name := range critical {
		for at, i := range places {
			if n > 8 && (n+at)%4 != 0 { // the first are tried everywhere, the others in some places
				continue
			}
			tried++
			text := fill(map[int]string{i: name})
			ok, bad := compiles(text)
			if bad != "" {
				t.Fatalf("%s in the place of $%d: %s\n%s", name, i, bad, text)
			}
			if ok {
				accepted++
			}
		}
	}
	if accepted < tried/2 {
		t.Errorf("the checker accepted only %d programs of %d: the test tests little", accepted, tried)
	}
	rapid.Check(t, func(t *rapid.T) {
		names := map[int]string{}
		for range rapid.IntRange(2, 4).Draw(t, "nasty") {
			names[rapid.IntRange(0, holes-1).Draw(t, "hole")] = rapid.SampledFrom(nasty).Draw(t, "name")
		}
		text := fill(names)
		if _, bad := compiles(text); bad != "" {
			t.Fatalf("%s\n%s", bad, text)
		}
	})
}
