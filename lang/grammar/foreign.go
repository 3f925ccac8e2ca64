package grammar

import (
	"errors"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// What aeon has instead of the words of other languages.
const (
	noInheritance = "classes do not inherit: hold the other object in a field, and call it"
	noInterface   = "there are no interfaces: a function takes one type; alternatives are an enum"
	valueClass    = "a value is declared with `class`, an actor with `actorclass`"
	typesHelp     = "types are declared with `class`, `actorclass` and `enum`"
	functionHelp  = "a function starts with its result type, and the parameters with theirs: `int add(int a, int b) { … }`"
	methodHelp    = "a method starts with its result type: `int get() { … }`, or `void` if it has none"
	importHelp    = "a package is imported with `import \"./directory\"`, above all declarations"
	loopHelp      = "write `while (true) { … }` and leave it with `break`"
	noThrows      = "nothing declares how it can fail: an `abort` or `require` undoes the event, and is the result of its await"
	abortHelp     = "`abort \"message\";` undoes the event; a failure that callers expect is a value, such as `T?` or an enum"
	noLock        = "an event has its actors to itself until it ends, so there is nothing to lock"
	spawnHelp     = "actors run in parallel: `event a.m();` issues an event, and `async a.m();` within one calls in parallel"
	outside       = "functions stand outside of classes, and state lives in actors"
	printHelp     = "text is printed with `print(…);`"
	constructor   = "a constructor has the name of its class and no result type: `Point(int x) { … }`"
	mayWrite      = "a method may write its object; `ro` marks methods of actors that do not"
	capital       = "a name that starts with a capital letter is exported from its package"
)

// modifiers of other languages.
var foreignModifiers = map[string]string{
	"public": capital, "export": capital, "pub": capital,
	"private":   "fields are private to their actor, and a name that starts with a small letter to its package; `internal` hides a method of an actor from callers outside of the program",
	"protected": "there is no inheritance", "abstract": "there is no inheritance", "sealed": "there is no inheritance",
	"virtual": "there is no overriding", "override": "there is no overriding", "open": "there is no overriding", "inline": "the compiler decides that",
	"static": outside, "final": "a constant stands at the top level and is declared with const", "readonly": "a field may be written by the methods of its class alone",
	"mut": mayWrite, "mutable": mayWrite, "synchronized": noLock, "volatile": noLock, "transient": "all fields of an actor are its state", "suspend": spawnHelp,
}

// starts of declarations in other languages.
var foreignDecls = map[string]string{
	"struct": valueClass, "record": valueClass, "data": valueClass, "object": "there are no single objects: " + valueClass,
	"interface": noInterface, "trait": noInterface, "protocol": noInterface, "impl": "methods stand in the braces of their class",
	"type": typesHelp + "; a Go type stands in an `extern go` block", "typedef": typesHelp, "typealias": typesHelp, "union": "alternatives are declared with `enum`", "actor": "an actor is declared with `actorclass`",
	"namespace": "a directory is a package: `package name` at the top of each file", "module": "a directory is a package: `package name` at the top of each file",
	"mod": "a directory is a package: `package name` at the top of each file",
	"use": importHelp, "using": importHelp, "from": importHelp, "include": importHelp, "require": importHelp,
	"let": "state lives in actors; what never changes is declared with const", "val": "state lives in actors; what never changes is declared with const",
	"func": functionHelp, "function": functionHelp, "fn": functionHelp, "fun": functionHelp, "def": functionHelp, "sub": functionHelp, "proc": functionHelp,
}

// starts of members in other languages.
var foreignMembers = map[string]string{
	"constructor": constructor, "__init__": constructor, "init": constructor, "get": methodHelp, "set": methodHelp, "operator": "operators cannot be declared",
	"func": methodHelp, "function": methodHelp, "fn": methodHelp, "fun": methodHelp, "def": methodHelp, "sub": methodHelp, "proc": methodHelp,
	"let": "a field is declared with its type: `int n = 0;`", "val": "a field is declared with its type: `int n = 0;`",
}

// starts of statements in other languages.
var foreignStmts = map[string]string{
	"let": localHelp, "val": localHelp, "final": localHelp, "mut": localHelp, "auto": localHelp, "my": localHelp, "static": "state that outlives a call is a field of an actor",
	"throw": abortHelp, "raise": abortHelp, "panic": abortHelp, "fail": abortHelp,
	"do": loopHelp, "loop": loopHelp, "repeat": loopHelp, "until": "write `while (!…) { … }`", "unless": "write `if (!…) { … }`",
	"foreach": "write `for (T x : xs) { … }`", "elif": "write `else if (…) { … }`", "elsif": "write `else if (…) { … }`", "elseif": "write `else if (…) { … }`",
	"when": "write `switch (x) { case 1: … default: … }`", "select": "an actor takes one event after the other, so there is nothing to select",
	"goto": "write a loop, and leave it with `break`", "pass": "a block may be empty", "del": "elements go with `remove`, actors with `delete`",
	"defer": "what a failed event has done is undone, so there is nothing to clean up", "finally": "what a failed event has done is undone; what follows in any case stands behind the `try`",
	"except": "a failure is caught with `catch (string why) { … }`", "with": "what a failed event has done is undone, so there is nothing to clean up",
	"using": "what a failed event has done is undone, so there is nothing to clean up",
	"go":    spawnHelp, "spawn": spawnHelp, "chan": spawnHelp, "thread": spawnHelp, "synchronized": noLock, "lock": noLock, "echo": printHelp,
	"func": functionHelp, "function": functionHelp, "fn": functionHelp, "fun": functionHelp, "def": functionHelp,
	"print": printHelp, "println": printHelp, "import": importHelp, "from": importHelp, "use": importHelp,
}

// Some words cannot be anything but foreign where a type would stand; see spec/grammar.md.
var (
	functionWords = map[string]bool{"func": true, "function": true, "fn": true, "fun": true, "def": true}
	localWords    = map[string]bool{"let": true, "val": true, "auto": true, "final": true, "mut": true}
	importWords   = map[string]bool{"use": true, "using": true, "from": true, "include": true}
	operandWords  = map[string]bool{"throw": true, "raise": true, "goto": true, "del": true, "defer": true, "echo": true, "print": true}
)

// foreignWord is the error that the word at span is none of aeon.
func foreignWord(span ast.Span, help string) diag.Diagnostic {
	return diag.New(diag.ForeignWord, span, "there is no `%s` in aeon", span.Text()).WithHelp("%s", help)
}

// blame replaces the error that something cannot be read, if it starts with a word of
// another language: that is the mistake then, and the rest follows. The diagnostics
// from index known on are of the same thing.
func (p *parser) blame(start, known int, words map[string]string, err error) error {
	help, ok := words[p.text(start)]
	var e *syntaxError
	if help == printHelp && p.kind(start+1) == LParen {
		return err // the call begins as it should
	}
	if p.kind(start) == Actor && errors.As(err, &e) && e.index == start { // a word of aeon, where no declaration starts with it
		return p.fail(start, e.diag.WithHelp("%s", help).WithFix("declare an actor", diag.Replace(p.at(start), "actorclass")))
	}
	if !ok || !p.kind(start).IsName() || !errors.As(err, &e) || p.gaveUp != nil || !p.cannotFollow(start+1, e.index) {
		return err
	}
	p.diags, p.reported = p.diags[:known], -1
	bad := e.index
	switch before := p.before(start); {
	case before == '#' || before == '@':
		p.reported = bad // the character has been reported
	case p.text(start) == "do" && p.kind(start+1) == LBrace && p.match[start+1] > 0:
		if end := int(p.match[start+1]) + 1; p.kind(end) == While {
			bad = end // the condition belongs to it
		}
	}
	return p.fail(bad, p.foreignStart(start, help))
}

// cannotFollow reports whether the word before token i cannot be a name of the program that
// is used there, as a variable or function. It cannot if no name goes before what comes
// next, or if that is `(…)` with a block behind, where the error is.
func (p *parser) cannotFollow(i, bad int) bool {
	switch k := p.kind(i); k {
	case Dot, QuestDot, LBrack, Assign, PlusPlus, MinusMinus, Not, Colon:
		return false
	case LParen:
		return p.kind(bad) == LBrace && p.kind(bad-1) == RParen || startsType(p.kind(i+1)) && p.kind(i+2).IsName()
	default:
		return k == LBrace || assignOps[k] == ast.OpNone
	}
}

// before returns the byte before token i, or 0.
func (p *parser) before(i int) byte {
	if at := p.tok(i).Start; at > 0 {
		return p.src.Text[at-1]
	}
	return 0
}

// foreignStart is the error that a statement starts with the word at token i.
func (p *parser) foreignStart(i int, help string) diag.Diagnostic {
	if help == printHelp {
		return p.expected(i+1, "`(`").WithHelp("%s", help)
	}
	return foreignWord(p.at(i), help)
}

// skipModifiers reports the modifiers of other languages at the current token and
// skips them, if a declaration follows.
func (p *parser) skipModifiers() {
	for p.before(p.cur) == '@' && p.kind(p.cur).IsName() { // an annotation; its first character has been reported
		if p.cur++; p.kind(p.cur) == LParen {
			for p.kind(p.cur) != RParen && p.kind(p.cur) != EOF && !p.startsLine(p.cur+1) {
				p.cur++
			}
			p.cur = min(p.cur+1, p.end)
		}
		p.leave(p.lex)
	}
	start := p.cur
	var helps []string
	for {
		i := p.cur
		help, ok := foreignModifiers[p.text(i)]
		if next := p.kind(i + 1); !ok || p.kind(i) != Ident || !startsType(next) && !topLevel[next] && next != Ro && next != Yield ||
			next.IsName() && p.declaresNothing(i+2) {
			break
		}
		if helps = append(helps, help); len(helps) > 1 && strings.Contains(strings.Join(helps[:len(helps)-1], "; "), help) {
			helps = helps[:len(helps)-1]
		}
		p.cur++
	}
	if p.cur == start {
		return
	}
	p.note(start, foreignWord(p.span(start, p.cur), strings.Join(helps, "; ")).
		WithFix("remove it", diag.Replace(p.span(start, p.cur).To(p.at(p.cur).AtStart()), "")))
	p.leave(p.lex)
}

// declaresNothing reports whether token i ends a declaration whose name stands
// before it.
func (p *parser) declaresNothing(i int) bool {
	k := p.kind(i)
	return k == Semi || k == Assign || k == EOF
}

// functionWord reports whether a word that other languages declare functions with stands
// at the current token, where aeon has the result type.
func (p *parser) functionWord() bool {
	i := p.cur
	return functionWords[p.text(i)] && p.kind(i).IsName() && p.kind(i+1).IsName() && p.kind(i+2) == LParen
}

// noteFunctionWord reports the word at token i, which has been read as the result type.
func (p *parser) noteFunctionWord(i int, help string, s *ast.Signature) {
	p.note(i, foreignWord(p.at(i), help).WithFix("write void", diag.Replace(p.at(i), "void")))
	s.Result = &ast.BadType{Loc: ast.At(p.at(i))}
}

// foreignLocal handles a statement that looks like the declaration of a local whose type
// is a word of another language; done is false if it is none.
func (p *parser) foreignLocal(name int) (err error, done bool) {
	i := p.cur
	if name != i+1 || !p.kind(i).IsName() || !operandWords[p.text(i)] || p.kind(name+1) == LParen {
		return nil, false
	}
	return p.fail(i, p.foreignStart(i, foreignStmts[p.text(i)])), true
}

// noBody adds to d, the error that no body stands at token i behind the parameters, what
// other languages have there.
func (p *parser) noBody(i int, d diag.Diagnostic) diag.Diagnostic {
	word := p.text(i)
	help, modifier := foreignModifiers[word]
	switch {
	case word == "throws" || word == "throw" || word == "raises" || word == "noexcept":
		return foreignWord(p.at(i), noThrows)
	case p.kind(i) == Const:
		return d.WithHelp("`ro` before the result type marks a method of an actor that writes nothing")
	case p.kind(i) == Async:
		return d.WithHelp("the caller decides: `async a.m();` calls in parallel, `event a.m();` issues an event")
	case p.kind(i) == Colon, p.kind(i) == Minus && p.touches(i, Greater):
		return d.WithHelp("the result type stands before the name: `int get() { … }`")
	case p.kind(i) == Ro || p.kind(i) == Pure:
		return d.WithHelp("`%s` stands before the result type", word)
	case modifier:
		return foreignWord(p.at(i), help)
	}
	return d
}

// noTypeArgs is the error that the `>` at token i closes type arguments that are not there.
func (p *parser) noTypeArgs(i int) diag.Diagnostic {
	return foreignOperator(p.span(i-1, i+1), "there is no `<>`: the types are written out",
		"an empty vector is `[]`, an empty map `new map<K, V>()`, and an empty set `new set<T>()`")
}

// inheritance is the error that something stands between the name of a class and its
// braces, at the current token.
func (p *parser) inheritance(d diag.Diagnostic) diag.Diagnostic {
	switch i := p.cur; p.text(i) {
	case "extends", "with":
		return foreignWord(p.at(i), noInheritance)
	case "implements":
		return foreignWord(p.at(i), noInterface)
	case "where", "permits", "throws":
		return foreignWord(p.at(i), "a class is declared with its name and its members")
	case ":":
		return d.WithHelp("%s", noInheritance)
	case "(":
		return d.WithHelp("fields stand in the braces: `class Point { int x; int y; }` is made with `new Point(1, 2)`")
	}
	return d
}
