package door

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/sim/door/shop"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// No description of a program has its internal methods, nor the value classes and enums that these alone use: neither OpenAPI, nor the
// .proto files, nor reflection, nor the client in TypeScript.
func TestDescriptionsHaveNothingInternal(t *testing.T) {
	t.Parallel()
	s := open(t, &shop.AeonPackage)
	r := s.dial(httpdoor.Config{})
	if _, err := r.learn(); err != nil {
		t.Fatal(err)
	}
	reflected := ""
	r.files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		reflected += prototext.Format(protodesc.ToFileDescriptorProto(f))
		return true
	})
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "./cmd/aeonc", "gen", "--proto", "-o", dir, "sim/door/shop")
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	proto := ""
	files, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		proto += string(text)
	}
	script, err := os.ReadFile(filepath.Join("shop", "shop.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"OpenAPI": s.ask("GET", "/openapi.json", "").body, "reflection": reflected, ".proto": proto, "TypeScript": string(script)} {
		for _, shown := range []string{"Everything", "Size", "divide"} {
			if !strings.Contains(text, shown) {
				t.Errorf("%s: %s is missing", name, shown)
			}
		}
		if found := regexp.MustCompile(`\b(?:audit|book|Entry|Hand|Line|Written|HAND_LEFT|LEFT|shop\.Shop\.[Bb]ook\w*|[Bb]ook\w*|[Aa]udit\w*)\b`).FindString(text); found != "" {
			t.Errorf("%s has %s", name, found)
		}
	}
}
