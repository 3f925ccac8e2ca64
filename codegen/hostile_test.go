package codegen_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/codegen"
	"github.com/aeon-lang/aeon/lang"
	aeon "github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/typecheck"
)

// nasty are names that mean something in Go, or in the code that we generate.
var nasty = strings.Fields(`break case chan const continue defer else fallthrough for func go goto if import interface map package
	range return select struct switch type var any append bool byte cap clear close comparable complex copy delete error
	false float64 imag int int64 iota len make max min nil panic print println real recover rune string true uint8 init main
	_ aeonrt time strconv self Self cx cl ret ok v x e d f n m r a err args mark failed exit result tmp1 tmp2 tmp3 tmp1_ self_ cx_ cx__
	Ref ID IsNull EachRef Compare CompareKey String Equal Str Share MarkShared EachElem Encode Decode EncodeState DecodeState EncodeResult
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

// TestNamesCannotEscape gives a program names that mean something in the generated code. Where the
// checker accepts the program, the Go must compile.
func TestNamesCannotEscape(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		names := map[string]string{} // a few nasty ones among plain ones: with many, the checker refuses most programs
		for range rapid.IntRange(1, 4).Draw(t, "nasty") {
			names[fmt.Sprintf("$%d", rapid.IntRange(0, 21).Draw(t, "hole"))] = rapid.SampledFrom(nasty).Draw(t, "name")
		}
		text := hole.ReplaceAllStringFunc(renamable, func(h string) string {
			if names[h] == "" {
				names[h] = "plain" + h[1:]
			}
			return names[h]
		})
		file, diags := lang.Parse("names.aeon", []byte(text))
		if failed(diags) {
			return
		}
		info, diags := typecheck.Check([]*aeon.File{file}, typecheck.Options{})
		if failed(diags) {
			return
		}
		accepted++
		files, err := codegen.Generate(info, codegen.Options{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if bad := sharedChecker().check(files); bad != "" {
			t.Fatalf("%s\n%s\n%s", bad, text, files[0].Content)
		}
	})
	t.Logf("%d programs accepted", accepted)
	if accepted < 10 {
		t.Errorf("the checker accepted only %d programs: the test tests nothing", accepted)
	}
}
