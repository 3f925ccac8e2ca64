package typescript_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/codegen/typescript"
	"github.com/aeon-lang/aeon/internal/load"
	"github.com/aeon-lang/aeon/typecheck"
)

func generate(t *testing.T, program string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "p.aeon")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := load.NewLoader().Load(load.Unit{Dir: dir, Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	return string(typescript.Generate([]*typecheck.Info{p.Info}))
}

// Names that the file has itself, and comments that would end early, do no harm.
func TestHostileNames(t *testing.T) {
	got := generate(t, `package p

// Map is no map. */ export const broken = 1;
class Map { map<Enum, Map?> Object; }
enum Enum { new_, default_ }
class connect { int constructor; }
actorclass AeonError {
	// Two
	// lines.
	Map then(connect c, Program? delete_) { return new Map(); }
	ro uint64 listen(float f, bytes b, set<uint8> s) { return 1; }
}
class Program { listen? l; }
class listen { string __proto__x; }
client class Handlers { void call(yield AeonError by, yield Handlers? other) {} }
`)
	for _, want := range []string{
		"/** Map is no map. *\\/ export const broken = 1; */\nexport interface p_Map {\n\tObject: Map<Enum, p_Map | null>;\n}",
		"export interface p_connect {\n\tconstructor: bigint;\n}",
		"\t/**\n\t * Two\n\t * lines.\n\t */\n\tthen(args: { c: p_connect; delete_?: p_Program | null }, options?: CallOptions): Promise<p_Map>;",
		"\tlisten(args: { f: number; b: string; s: Array<number> }, options?: CallOptions): Promise<bigint>;",
		"export type p_AeonErrorRef = `AeonError:${string}` | `AeonError/${string}`;",
		"\tp_AeonError: {\n\t\tname: \"AeonError\",",
		"[\"listen\", { params: object<object>([[\"f\", real], [\"b\", text], [\"s\", list(whole)]]), result: big, readOnly: true }],",
		"call?(args: { by: p_AeonErrorRef; other: p_HandlersRef | null }): void | Promise<void>;",
		"const p_ProgramCodec: Codec<p_Program> = object<p_Program>([[\"l\", orNull(lazy(() => p_listenCodec))]]);",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have\n%s", want)
		}
	}
	if t.Failed() {
		t.Log(got[:strings.Index(got, "/** How the program is reached. */")])
	}
}

// Types that internal methods alone use, or none at all, are not in the file, nor are these methods.
func TestWhatIsInternalIsLeftOut(t *testing.T) {
	got := generate(t, `package p

class Shown { vector<Deep> deep; }
class Deep { map<Key, Deeper?> more; set<Kind> kinds; }
class Deeper { int x; }
enum Key { K }
enum Kind { L }
enum Hidden { M }
class Secret { Inner inner; Hidden h; Shown also; }
class Inner { int x; }
class Unused { int x; }
class Said { int x; }
actorclass A {
	Secret? s;
	Unused? u;
	void show(Shown? s) {}
	internal Secret? book(Secret s, Hidden h) { return s; }
}
client class C { void say(Said s) {} }
`)
	for _, name := range []string{"Shown", "Deep", "Deeper", "Said"} {
		if !strings.Contains(got, "export interface "+name+" {") || !strings.Contains(got, "const "+name+"Codec:") {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"Secret", "Hidden", "Inner", "Unused", "book"} {
		if strings.Contains(got, name) {
			t.Errorf("%s is there", name)
		}
	}
	if !strings.Contains(got, "export type Key =") || !strings.Contains(got, "export type Kind =") {
		t.Error("enums are missing")
	}
}

// What client.ts declares is reserved, so that no class of a program has such a name.
func TestDeclarationsAreReserved(t *testing.T) {
	text, err := os.ReadFile("client.ts")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function\*?|const|class|interface|type) (\w+)`).FindAllStringSubmatch(string(text), -1)
	if len(names) < 30 {
		t.Fatalf("%d declarations", len(names))
	}
	for _, name := range names {
		isReserved(t, name[1])
	}
}

// isReserved checks that a class of a program has not this name in the client.
func isReserved(t *testing.T, name string) {
	t.Helper()
	got := generate(t, "package p\n\nclass "+name+" { int x; }\nactorclass A { void f("+name+" x) {} }\n")
	if !strings.Contains(got, "export interface p_"+name+" {") {
		t.Errorf("%s is not reserved", name)
	}
}

// Types and objects of the language that the file uses are reserved: a class of their name would take their place.
func TestWhatIsUsedIsReserved(t *testing.T) {
	got := generate(t, `package p

class lower { map<string, vector<int>> m; set<bytes> s; float? f; }
actorclass a { lower f(yield c x) { return new lower(); } }
client class c { void say(lower l) {} }
`)
	got = regexp.MustCompile("(?s)/\\*.*?\\*/|//[^\n]*|\"[^\"\n]*\"|'[^'\n]*'|`[^`]*`").ReplaceAllString(got, "")
	parameters := map[string]bool{"Actor": true, "Ref": true, "H": true, "K": true, "T": true} // a name of the file itself is behind these
	seen := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?:^|[^.\w])([A-Z]\w*)(:?)`).FindAllStringSubmatch(got, -1) {
		if name := found[1]; !seen[name] && !parameters[name] && found[2] == "" { // else it is a field
			seen[name] = true
			isReserved(t, name)
		}
	}
	if !seen["Pick"] || !seen["Promise"] || len(seen) < 30 {
		t.Errorf("it uses %d: %v", len(seen), seen)
	}
}
