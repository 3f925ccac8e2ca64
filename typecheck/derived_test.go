package typecheck

import "testing"

// For a declaration that the parser could not read there is one error, the parser's; its
// name is not reported as missing. A name that nothing unreadable mentions is still missed.
func TestNamesInUnreadSourceAreNotMissed(t *testing.T) {
	_, diags, syntax := checkLoose(t, `-- a.aeon --
package p

class Box {
	int?? lid;
	int n;
}

void main() {
	Box b = new Box(1);
	int?? o = null;
	var e;
	print(o, e, b.lid, missing);
}
`)
	if len(syntax) != 3 {
		t.Errorf("syntax errors: %v", syntax)
	}
	if got := show(diags); len(diags) != 1 || diags[0].Span.Text() != "missing" {
		t.Errorf("got:\n%s", got)
	}
}
