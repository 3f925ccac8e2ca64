package typecheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// The program of one cell. Every class has an ro and an any method, so that
// only the call under test decides.
const cellProgram = `package p

actorclass Lamp {
	bool lit = false;
	void anyMethod() { lit = true; }
	ro void roMethod() { print(lit); }
}

client class Watcher {
	int seen = 0;
	void anyMethod() { seen++; }
	void roMethod() { print(seen); }
	void row(Lamp plain) {
		%CLIENT%
	}
}

actorclass Room {
	Lamp plain = new Lamp();
	yield Lamp? yielding;
	Watcher? watcher;
	bool dark = false;
	void anyMethod() { dark = true; }
	ro void roMethod() { print(dark); }
	%RO%void row() {
		%ACTOR%
	}
}
`

func (c cell) String() string {
	caller := [...]string{"client", "actor", "ro actor"}[c.caller]
	through := [...]string{"plain", "yield", "this", "client reference"}[c.through]
	callee := [...]string{"ro", "any"}[c.callee]
	return fmt.Sprintf("%s, %s, %s, %s", caller, c.mode, through, callee)
}

// call is the statement of a cell.
func (c cell) call() string {
	method := [...]string{"roMethod", "anyMethod"}[c.callee] + "()"
	mode := map[ast.CallMode]string{ast.Sync: "", ast.Async: "async ", ast.Event: "event ", ast.Tail: "tail "}[c.mode]
	if c.caller == byClient {
		recv := [...]string{"plain", `actor<Lamp>("a")`, "this", "new Watcher()"}[c.through]
		return mode + recv + "." + method + ";"
	}
	recv := [...]string{"plain", "yielding!", "this", "watcher!"}[c.through]
	return mode + recv + "." + method + ";"
}

func (c cell) program() string {
	client, actor, ro := "print(plain);", "print(dark);", ""
	if c.caller == byClient {
		client = c.call()
	} else {
		actor = c.call()
	}
	if c.caller == byReadOnly {
		ro = "ro "
	}
	return strings.NewReplacer("%CLIENT%", client, "%RO%", ro, "%ACTOR%", actor).Replace(cellProgram)
}

// Every cell of the product has a verdict, and the checker gives exactly it.
func TestCallTableCellByCell(t *testing.T) {
	cells := 0
	for _, caller := range []caller{byClient, byActor, byReadOnly} {
		for _, mode := range []ast.CallMode{ast.Sync, ast.Async, ast.Event, ast.Tail} {
			for _, through := range []Through{ThroughPlain, ThroughYield, ThroughThis, ThroughClient} {
				for _, callee := range []callee{roMethod, anyMethod} {
					cells++
					c := cell{caller, mode, through, callee}
					want, ok := callTable[c]
					if !ok {
						t.Fatalf("no verdict for %s", c)
					}
					_, diags := checkProgram(t, c.program())
					var codes []diag.Code
					if want != allowed {
						codes = []diag.Code{diag.Code(want)}
					}
					// The own methods of a client class are no methods of actors:
					// ro and any are the same there.
					if !slices.Equal(codesOf(diags), codes) {
						t.Errorf("%s: `%s` should get %v, but gets\n%s", c, c.call(), codes, show(diags))
					}
				}
			}
		}
	}
	if cells != len(callTable) || cells != 96 {
		t.Errorf("%d cells, %d in the table", cells, len(callTable))
	}
}

// The rules of the table in words (language.md, Calls), so that a change of the
// table has to be meant.
func TestCallTableRules(t *testing.T) {
	for c, v := range callTable {
		ok := v == allowed
		switch {
		case c.through == ThroughClient && c.mode != ast.Event && ok:
			t.Errorf("%s: clients take only events", c)
		case c.through == ThroughClient && c.mode == ast.Event && !ok:
			t.Errorf("%s: anybody may call a client back", c)
		case c.caller == byClient && c.mode == ast.Async && ok:
			t.Errorf("%s: a client has no event to be part of", c)
		case c.caller == byClient && c.mode == ast.Sync && c.through != ThroughThis && ok:
			t.Errorf("%s: clients issue events", c)
		case c.caller == byClient && c.mode == ast.Event && !ok:
			t.Errorf("%s: events are what clients may do", c)
		case c.mode == ast.Tail && ok != (c.caller == byActor && c.through != ThroughClient):
			t.Errorf("%s: a tail call goes from an actor, not ro, to any actor", c)
		case c.caller != byClient && c.through == ThroughYield && c.mode.Inside() && ok:
			t.Errorf("%s: yield takes only events", c)
		case c.caller == byReadOnly && c.callee == anyMethod && c.through != ThroughClient && ok:
			t.Errorf("%s: ro reaches only ro", c)
		case c.caller == byActor && (c.through == ThroughPlain || c.through == ThroughThis) && !ok:
			t.Errorf("%s: an actor may call what it owns", c)
		case c.caller == byActor && c.mode == ast.Event && !ok:
			t.Errorf("%s: an actor may issue events to all", c)
		case c.caller == byReadOnly && c.mode != ast.Tail && c.callee == roMethod && (c.through == ThroughPlain || c.through == ThroughThis) && !ok:
			t.Errorf("%s: ro may call ro", c)
		}
	}
}
