package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"aeonc": main})
}

// TestScripts runs the command lines in testdata/script and compares what they
// print, write and return. Every script has a directory, and a home, of its own;
// the cache is shared, because each new one costs compiling the runtime, and so is
// Go's.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	cache := t.TempDir()
	goCache := os.Getenv("GOCACHE")
	if goCache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		goCache = filepath.Join(base, "go-build")
	}
	testscript.Run(t, testscript.Params{
		Files:               scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup: func(env *testscript.Env) error {
			env.Setenv("AEONC", filepath.Join(filepath.SplitList(env.Getenv("PATH"))[0], "aeonc")) // for scripts that change PATH
			env.Setenv("AEONCACHE", cache)
			env.Setenv("GOCACHE", goCache)
			env.Setenv("GOPROXY", "off")
			env.Setenv("GOFLAGS", "-mod=vendor") // settings of a user that must not matter
			env.Setenv("GOWORK", filepath.Join(env.WorkDir, "nowhere", "go.work"))
			env.Setenv("GO111MODULE", "off")
			env.Setenv("NO_COLOR", "1")
			return nil
		},
	})
}

// condition knows [root]: permissions do not bind that user.
func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}
