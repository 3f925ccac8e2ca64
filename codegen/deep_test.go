package codegen_test

import "testing"

// Values that nest deeper than the stack goes are compared and owned, and have no text, whatever the way from an object to those in it.
func TestDeepValues(t *testing.T) {
	const program = `package p

class List {
	int n;
	List? next;
}

class Tree {
	vector<Tree> kids;
	Child? child;
}

class Outer {
	string name;
	map<string, Inner> named;
	Child? child;
}

class Inner {
	Outer? outer;
}

actorclass Child {
	int n = 0;
}

actorclass A {
	Tree? tree = null;
	Outer? outer = null;

	void own(int depth) {
		tree = trees(depth, new Child());
		outer = outers(depth, new Child());
	}

	ro string look(int depth) {
		return "{lists(depth, 1) == lists(depth, 1)} {lists(depth, 1) == lists(depth, 2)} {tree == trees(depth, null)} {outers(depth, null) == outers(depth, null)}";
	}

	ro int text(int depth) { return len(str(lists(depth, 1))) + len(str(outers(depth, null))); }
}

List lists(int depth, int end) {
	List top = new List(end, null);
	for (int i = 0 upto depth) {
		top = new List(0, top);
	}
	return top;
}

Tree trees(int depth, Child? c) {
	Tree top = new Tree([], c);
	for (int i = 0 upto depth) {
		top = new Tree([top], null);
	}
	return top;
}

Outer outers(int depth, Child? c) {
	Outer top = new Outer("end", [], c);
	for (int i = 0 upto depth) {
		top = new Outer("in", ["a": new Inner(top)], null);
	}
	return top;
}

void main() {
	A a = actor<A>("a");
	await event a.own(100000);
	print(await event a.look(100000));
	print("{await event a.text(400)}");
	try {
		print("{await event a.text(100000)}");
	} catch (string why) {
		print(why);
	}
}
`
	m := newModule(t)
	m.add(t, "deep", generate(t, "deep.aeon", program, true))
	m.write(t, "run/main.go", `package main

import (
	"runtime/debug"

	"generated/deep"
	aeonrt "github.com/aeon-lang/aeon/runtime"
)

func main() {
	debug.SetMaxStack(32 << 20) // twice of what the walks of this test take
	aeonrt.Main(&p.AeonPackage)
}
`)
	const want = "true false false true\n29662\ntext of a value that nests deeper than 1000\n"
	if got := m.run(t, "run", "./run"); got != want {
		t.Errorf("printed\n%swant\n%s", got, want)
	}
}
