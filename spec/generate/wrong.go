package generate

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/aeon-lang/aeon/internal/assert"
	"github.com/aeon-lang/aeon/lang"
	"github.com/aeon-lang/aeon/lang/ast"
	"github.com/aeon-lang/aeon/lang/diag"
)

// Wrong is a program in which one rule is broken.
type Wrong struct {
	Rule string    // what is broken, unique in the catalogue
	Code diag.Code // what the checker has to say
	Line int       // and where
	Text string
}

// Break returns a wrong program for every rule of the catalogue that generated programs give an opportunity for: each breaks one
// rule at a random place of a well-typed program.
func Break(text string, seed uint64) (list []Wrong) {
	rng := rand.New(rand.NewPCG(seed, 0xbad))
	for _, r := range rules {
		places := slices.DeleteFunc(placesIn(text, r.site), func(p place) bool { return !r.fits(p) })
		if len(places) == 0 {
			continue
		}
		p := places[rng.IntN(len(places))]
		list = append(list, p.broken(text, r))
	}
	for _, r := range edits {
		places := r.places(parsed(text))
		if len(places) == 0 {
			continue
		}
		e := places[rng.IntN(len(places))]
		out, err := diag.Apply(e.at.Src, []diag.Edit{e.edit})
		assert.That(err == nil, "%s: %v", r.name, err)
		list = append(list, Wrong{Rule: r.name, Code: r.code, Line: e.at.Pos().Line(), Text: out})
	}
	return list
}

// Rules returns the names of all rules of the catalogue.
func Rules() (names []string) {
	for _, r := range rules {
		names = append(names, r.name)
	}
	for _, r := range edits {
		names = append(names, r.name)
	}
	return names
}

func parsed(text string) *ast.File {
	file, diags := lang.Parse("generated.aeon", []byte(text))
	assert.That(len(diags) == 0, "a program to be broken has no syntax errors: %v", diags)
	return file
}

// place is where text can be inserted, and what stands around it.
type place struct {
	offset  int
	indent  string
	actor   string // the class around it, or one of the program
	field   string // its first field, an int
	bump    string // a method that writes it
	class   string // the first actor class of the program, which owns the next
	atClass int    // the line of its name
	atCtor  int    // the line of the constructor of the class around it, or 0
	takes   bool   // actor's constructor has parameters
	takes1  bool   // likewise class's
	uses    bool   // the constructor of the class around it uses the new actor
}

// fits reports whether the text breaks the rule there, and no other rule: what it makes has a constructor without
// parameters, and a constructor does not use an actor without one of its fields.
func (r rule) fits(p place) bool {
	switch {
	case strings.Contains(r.text, "new $A()") && p.takes, strings.Contains(r.text, "new $first()") && p.takes1, r.site == builtMember && p.uses:
		return false
	}
	return true
}

// mark stands in a text of the catalogue in front of what the error is about; without it that is the first line.
const mark = "§"

// broken inserts the text of a rule.
func (p place) broken(text string, r rule) Wrong {
	words := strings.NewReplacer("$A", p.actor, "$n", p.field, "$bump", p.bump, "$first", p.class, "\n", "\n"+p.indent)
	snippet := words.Replace(r.text)
	line := 1 + strings.Count(text[:p.offset], "\n")
	if before, _, ok := strings.Cut(snippet, mark); ok {
		line += strings.Count(before, "\n")
	}
	if r.line != nil {
		line = r.line(p, line)
	}
	snippet = strings.ReplaceAll(snippet, mark, "")
	return Wrong{Rule: r.name, Code: r.code, Line: line, Text: text[:p.offset] + snippet + "\n" + p.indent + text[p.offset:]}
}

// site is a kind of place.
type site uint8

const (
	anywhere    site = iota // a statement in any function
	outside                 // a statement that is in no loop, switch or match
	inVoid                  // a statement of a function without result
	inValued                // a statement of a function with a result
	inActor                 // a statement of a method of an actor
	inMain                  // a statement of main
	actorMember             // a member of an actor class
	ownedMember             // a member of an actor class that the first one owns
	builtMember             // a member of an actor class with a constructor
	valueMember             // a member of a value class
	topLevel                // a declaration
)

// placesIn returns the places of a kind.
func placesIn(text string, s site) (list []place) {
	file := parsed(text)
	var first *place
	for _, d := range file.Decls {
		around := place{}
		if c, ok := d.(*ast.ClassDecl); ok && c.Kind == ast.ActorClass {
			around = describe(c)
			if first == nil {
				first = &place{class: c.Name.Text, atClass: c.Name.Span().Pos().Line(), actor: c.Name.Text, field: around.field, bump: around.bump, takes: around.takes, takes1: around.takes}
			}
		}
		if first != nil {
			around.class, around.atClass, around.takes1 = first.class, first.atClass, first.takes1
		}
		list = append(list, placesInDecl(d, s, around)...)
	}
	for i := range list {
		if list[i].actor == "" {
			list[i].actor, list[i].field, list[i].bump, list[i].class, list[i].takes = first.actor, first.field, first.bump, first.class, first.takes
		}
	}
	return list
}

// describe notes the names in a generated actor class that texts of the catalogue mention.
func describe(c *ast.ClassDecl) place {
	p := place{actor: c.Name.Text}
	for _, m := range c.Members {
		switch m := m.(type) {
		case *ast.FieldDecl:
			if p.field == "" {
				p.field = m.Name.Text
			}
		case *ast.CtorDecl:
			p.atCtor, p.takes = m.Span().Pos().Line(), len(m.Params) > 0
			ast.Inspect(m.Body, func(n ast.Node) bool {
				_, this := n.(*ast.This)
				p.uses = p.uses || this
				if call, ok := n.(*ast.Call); ok {
					_, bare := call.Fun.(*ast.Ident)
					p.uses = p.uses || bare
				}
				return true
			})
		case *ast.MethodDecl:
			if p.bump == "" && len(m.Params) == 1 && m.Result.Span().Text() == "int" {
				p.bump = m.Name.Text
			}
		}
	}
	return p
}

func placesInDecl(d ast.Decl, s site, around place) (list []place) {
	at := func(n ast.Node, indent int) {
		p := around
		p.offset, p.indent = int(n.Span().Start), strings.Repeat("\t", indent)
		list = append(list, p)
	}
	function := func(sig *ast.Signature, body *ast.Block, actor, main bool, depth int) {
		void := main || isVoid(sig)
		switch {
		case s == inVoid && !void, s == inValued && void, s == inActor && !actor, s == inMain && !main, s > inMain:
			return
		}
		for _, b := range blocks(body, s == outside || s == inVoid || s == inValued) {
			for i, stmt := range b.Stmts {
				if i > 0 || !main || b != body { // behind the declaration of root0
					at(stmt, depth)
				}
			}
		}
	}
	switch d := d.(type) {
	case *ast.TestDecl:
		function(nil, d.Body, false, true, 1)
	case *ast.FuncDecl:
		if s == topLevel {
			at(d, 0)
		}
		function(&d.Signature, d.Body, false, d.IsMain(), 1)
	case *ast.ClassDecl:
		for _, m := range d.Members {
			switch {
			case s == actorMember && d.Kind == ast.ActorClass, s == valueMember && d.Kind == ast.ValueClass,
				s == builtMember && d.Kind == ast.ActorClass && around.atCtor > 0,
				s == ownedMember && d.Kind == ast.ActorClass && around.class != around.actor:
				at(m, 1)
			}
			if m, ok := m.(*ast.MethodDecl); ok && d.Kind != ast.ClientClass && m.Body != nil {
				function(&m.Signature, m.Body, d.Kind == ast.ActorClass, false, 2)
			}
		}
	}
	return list
}

// blocks returns the blocks in a body; with top the outermost alone.
func blocks(body *ast.Block, top bool) (list []*ast.Block) {
	if top {
		return []*ast.Block{body}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if b, ok := n.(*ast.Block); ok {
			list = append(list, b)
		}
		return true
	})
	return slices.Clip(list)
}
