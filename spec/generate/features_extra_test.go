package generate_test

import (
	"regexp"
	"strings"

	"github.com/aeon-lang/aeon/lang/ast"
)

// ofActors are the types of fields that hold actors in another way than fields, vectors, and maps by other keys.
var ofActors = map[string]*regexp.Regexp{
	"set of actors":                     regexp.MustCompile(`^set<A\d>$`),
	"map by actors":                     regexp.MustCompile(`^map<A\d, `),
	"vectors of vectors of actors":      regexp.MustCompile(`^vector<vector<A\d>>$`),
	"value with actors":                 regexp.MustCompile(`^P\d`),
	"values with actors in a container": regexp.MustCompile(`<.*P\d`),
}

// extras looks at what a class has beside the fields that every statement uses, and at what shows the order of evaluation.
func (f *features) extras(d *ast.ClassDecl) {
	fields := d.Kind == ast.ActorClass
	for _, v := range d.Fields() {
		t := v.Type.Span().Text()
		for name, is := range ofActors {
			f.note(fields && is.MatchString(t), name)
		}
		f.note(strings.HasPrefix(v.Name.Text, "hoard"), "container of many elements")
	}
	for _, m := range d.Methods() {
		f.order(m.Body)
		text := m.Body.Span().Text()
		ofValue := d.Kind == ast.ValueClass
		f.note(ofValue && regexp.MustCompile(`\bthis\.\w+\(|[^.\w](?:m|take|poke|with|turn)\d+\(`).MatchString(text), "value calls a method of its own")
		f.note(ofValue && regexp.MustCompile(`return this;|= this;|[(,\[] ?this[,)\]]`).MatchString(text), "value hands on this")
		f.note(ofValue && strings.HasPrefix(d.Name.Text, "P") && regexp.MustCompile(`\bone\d+\.bump`).MatchString(text), "actor of a value is called")
		f.note(regexp.MustCompile(`for \([^:{]* : crowd\d`).MatchString(text), "loop over a set or map of actors")
		f.note(regexp.MustCompile(`\bwas\d+ = `).MatchString(text), "copy and original written")
		if strings.HasPrefix(m.Name.Text, "rework") {
			f.note(regexp.MustCompile(`= hoard\d+;`).MatchString(text), "copy of many elements")
			f.note(regexp.MustCompile(`= hoard\d+(\[.*:.*\]|\.slice)`).MatchString(text), "part of many elements")
			f.note(has[*ast.ForUpto](m.Body), "many writes at once")
			f.note(has[*ast.Require](m.Body), "failure after writes to many elements")
		}
	}
}

// rare are texts that few statements have.
var rare = map[string]*regexp.Regexp{
	"timer whose name is computed":          regexp.MustCompile(`(after|every) \w+ as ("[^"]*\{|"\w+"\.trim|[^"])`),
	"timer cancelled by a computed name":    regexp.MustCompile(`cancel ("[^"]*\{|"\w+"\.trim)`),
	"loop that goes on from what it writes": regexp.MustCompile(`for \(\w+ (i\d+) = 0 upto \d\) \{[^}]*\bi\d+ (\+= 2|= max)`),
	"times in a container":                  regexp.MustCompile(`<time|, time>`),
	"first rows from the last to the first": regexp.MustCompile(`\.(find|range|sorted)\(.*\)\.limit\([^()]*\)\.reversed`),
	"rows limited twice":                    regexp.MustCompile(`\.(find|range|sorted)\(.*\)\.limit\([^()]*\)(\.reversed\(\))*\.limit`),
	"rows reversed twice":                   regexp.MustCompile(`\.reversed\(\)\.reversed\(\)`),
}

// rows looks at loops over rows.
func (f *features) rows(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.ForEach); ok && strings.HasPrefix(n.Span().Text(), "for (R") {
			f.note(has[*ast.TailCall](n.Body), "tail call in a loop over rows")
			f.note(has[*ast.Delete](n.Body), "delete in a loop over rows")
		}
		return true
	})
}

// order looks for calls of methods that write every field, as operands beside others.
func (f *features) order(b *ast.Block) {
	ast.Inspect(b, func(n ast.Node) bool {
		name := ""
		switch n := n.(type) {
		case *ast.Binary:
			name = "operator"
			f.note(converts.MatchString(n.X.Span().Text()) && strings.Contains(n.Y.Span().Text(), "take"), "conversion beside a call that writes")
		case *ast.InterpolatedString:
			name = "text"
		case *ast.New, *ast.VectorLit:
			name = "object or list"
		}
		f.note(name != "" && strings.Contains(n.Span().Text(), "take"), name+" beside a call that writes")
		return true
	})
}

// converts matches a conversion.
var converts = regexp.MustCompile(`^(?:int|str|float)\(`)
