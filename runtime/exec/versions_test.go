package exec

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/codec"
	"github.com/aeon-lang/aeon/runtime/image"
	"github.com/aeon-lang/aeon/runtime/order"
	"github.com/aeon-lang/aeon/runtime/sched"
	"github.com/aeon-lang/aeon/runtime/store"
	"github.com/aeon-lang/aeon/runtime/undo"
	"github.com/aeon-lang/aeon/runtime/value"
)

// Versions of a program whose fields differ take turns on one store.

// cell is a field of any type that versions have. Its value is made from a number, and shown as text.
type cell interface {
	save(w *image.Writer)
	load(r *image.Reader, field int)
	set(cx *Cx, self *order.Self, field uint16, n int64)
	show() string
}

type number struct{ v int64 }

func (c *number) save(w *image.Writer) { w.Row().Int(c.v) }
func (c *number) show() string         { return fmt.Sprint(c.v) }

func (c *number) load(r *image.Reader, field int) {
	if d := r.Row(field); d != nil {
		c.v = d.Int()
	}
}

func (c *number) set(cx *Cx, self *order.Self, field uint16, n int64) {
	undo.Field(cx.UndoLog(), self, field, &c.v)
	c.v = n
}

type words struct{ v string }

func (c *words) save(w *image.Writer) { w.Row().String(c.v) }
func (c *words) show() string         { return c.v }

func (c *words) load(r *image.Reader, field int) {
	if d := r.Row(field); d != nil {
		c.v = d.String()
	}
}

func (c *words) set(cx *Cx, self *order.Self, field uint16, n int64) {
	undo.Field(cx.UndoLog(), self, field, &c.v)
	c.v = fmt.Sprint(n)
}

type maybe struct{ v value.Opt[string] }

func (c *maybe) save(w *image.Writer) { codec.PutOpt(w.Row(), c.v, (*codec.Encoder).String) }
func (c *maybe) show() string         { return c.v.Or("null") }

func (c *maybe) load(r *image.Reader, field int) {
	if d := r.Row(field); d != nil {
		c.v = codec.GetOpt(d, (*codec.Decoder).String)
	}
}

func (c *maybe) set(cx *Cx, self *order.Self, field uint16, n int64) {
	undo.Field(cx.UndoLog(), self, field, &c.v)
	c.v = value.Some(fmt.Sprint(n))
}

// parts is a value class with some of the fields a, b and c.
type parts struct{ a, b, c int64 }

func (p *parts) at(name string) *int64 {
	return map[string]*int64{"a": &p.a, "b": &p.b, "c": &p.c}[name]
}

func putParts(names []string) func(e *codec.Encoder, p parts) {
	return func(e *codec.Encoder, p parts) {
		e.Record(len(names))
		for _, name := range names {
			mark := e.Field(name)
			e.Int(*p.at(name))
			e.EndField(mark)
		}
		e.EndRecord()
	}
}

func getParts(names []string) func(d *codec.Decoder) parts {
	return func(d *codec.Decoder) (p parts) {
		for n := d.Record(); n > 0; n-- {
			if name := string(d.Field()); slices.Contains(names, name) {
				*p.at(name) = d.Int()
			}
			d.EndField()
		}
		d.EndRecord()
		return p
	}
}

func makeParts(names []string, n int64) (p parts) {
	for i, name := range names {
		*p.at(name) = n + int64(i)
	}
	return p
}

func (p parts) show(names []string) (text string) {
	for _, name := range names {
		text += fmt.Sprintf("%s%d", name, *p.at(name))
	}
	return text
}

type single struct {
	names []string
	v     parts
}

func (c *single) save(w *image.Writer) { putParts(c.names)(w.Row(), c.v) }
func (c *single) show() string         { return c.v.show(c.names) }

func (c *single) load(r *image.Reader, field int) {
	if d := r.Row(field); d != nil {
		c.v = getParts(c.names)(d)
	}
}

func (c *single) set(cx *Cx, self *order.Self, field uint16, n int64) {
	undo.Field(cx.UndoLog(), self, field, &c.v)
	c.v = makeParts(c.names, n)
}

// byElementMany is how many elements make a container one of many rows.
const byElementMany = 300

type mapping struct {
	names []string
	v     value.Map[int64, parts]
}

func (c *mapping) how() *image.Entries[int64, parts] {
	return &image.Entries[int64, parts]{PutKey: codec.PutKeyInt[int64], GetKey: codec.GetKeyInt[int64], Put: putParts(c.names), Get: getParts(c.names)}
}

func (c *mapping) save(w *image.Writer)            { image.SaveMap(w, &c.v, c.how()) }
func (c *mapping) load(r *image.Reader, field int) { image.LoadMap(r, field, &c.v, c.how()) }

func (c *mapping) show() string {
	if c.v.Size() == 0 {
		return "none"
	}
	return fmt.Sprint(c.v.Size(), c.v.At(7).show(c.names), c.v.At(byElementMany-1).show(c.names))
}

// set writes each element of an empty map, and one of another.
func (c *mapping) set(cx *Cx, self *order.Self, field uint16, n int64) {
	first, end := int64(7), int64(8)
	if c.v.Size() == 0 {
		first, end = 0, byElementMany
	}
	for i := first; i < end; i++ {
		undo.MapSet(cx.UndoLog(), self, field, &c.v, i, makeParts(c.names, n+i))
	}
}

// column is a field of a version.
type column struct{ name, typ string }

func (c column) cell() cell {
	var names []string
	if _, fields, ok := strings.Cut(c.typ, "class v.V{"); ok {
		for field := range strings.SplitSeq(strings.Trim(fields, "}>"), ";") {
			name, _, _ := strings.Cut(field, " ")
			names = append(names, name)
		}
	}
	switch {
	case c.typ == "string":
		return &words{}
	case c.typ == "string?":
		return &maybe{}
	case strings.HasPrefix(c.typ, "map<"):
		return &mapping{names: names}
	case names != nil:
		return &single{names: names}
	}
	return &number{}
}

type page struct {
	order.Self
	cells []cell
}

func (p *page) SaveField(w *image.Writer, field int) { p.cells[field].save(w) }

func (p *page) LoadFields(r *image.Reader) {
	for i, c := range p.cells {
		c.load(r, i)
	}
}

// version is a program with a class of such fields, and one without fields.
type version struct {
	class, other Class
	columns      []column
	log          strings.Builder
}

func newVersion(class, columns string) *version {
	v := &version{class: Class{Shape: order.Shape{Package: "v", Name: class}}, other: Class{Shape: order.Shape{Package: "v", Name: "Other"}}}
	for field := range strings.SplitSeq(columns, ", ") {
		name, typ, _ := strings.Cut(field, " ")
		v.columns = append(v.columns, column{name, typ})
		v.class.Fields = append(v.class.Fields, order.Field{Name: name, Type: typ})
	}
	v.class.New = func() order.Object {
		p := &page{}
		for _, c := range v.columns {
			p.cells = append(p.cells, c.cell())
		}
		return p
	}
	v.class.Construct = &Method{Class: &v.class, Name: class, Effects: order.Effects{Self: order.Write}, NewArgs: func() order.Args { return nil }, Run: func(*Cx, any, order.Args) {}}
	v.other.New = func() order.Object { return &page{} }
	return v
}

// run starts the version on a store, calls f, and closes it. It returns the error of Recover.
func (v *version) run(t *testing.T, e replicatest.Engine, drop string, f func(cl *Client)) (replicatest.Engine, error) {
	t.Helper()
	st := openStore(t, e, nil)
	before := content(t, st)
	cfg := Config{Store: st, Classes: []*Class{&v.class, &v.other}, Log: slog.New(slog.NewTextHandler(&v.log, nil)), Clock: sched.NewSimClock(time.Unix(1000, 0))}
	if drop != "" {
		var err error
		cfg.DropFields, err = store.ParseFields(drop)
		mustNot(t, err)
	}
	s, err := Recover(cfg)
	if err == nil {
		f(s.Client())
		s.Close()
	} else if after := content(t, st); !maps.Equal(before, after) {
		t.Errorf("the refused store has changed from\n%q\nto\n%q", before, after)
	}
	mustNot(t, st.Close())
	return e.Reopen(), err
}

// write sets every field of an actor.
func (v *version) write(t *testing.T, cl *Client, name string, n int64) {
	t.Helper()
	set := Method{Class: &v.class, Name: "set", Effects: order.Effects{Self: order.Write}, Run: func(cx *Cx, self any, _ order.Args) {
		for i, c := range self.(*page).cells {
			c.set(cx, &self.(*page).Self, uint16(i), n)
		}
	}}
	mustNot(t, cl.Await(Named(cl, &v.class, name), &set, nil))
}

// read returns the fields of an actor, by their names.
func (v *version) read(t *testing.T, cl *Client, name string) map[string]string {
	t.Helper()
	found := map[string]string{}
	get := Method{Class: &v.class, Name: "get", Effects: order.Effects{Self: order.Read, ReadOnly: true}, Run: func(_ *Cx, self any, _ order.Args) {
		for i, c := range self.(*page).cells {
			found[v.columns[i].name] = c.show()
		}
	}}
	mustNot(t, cl.Await(Named(cl, &v.class, name), &get, nil))
	return found
}

// A version runs, then another one that lacks some of its fields and writes, then the first again. Either all fields are
// there again, or the other version is refused before it has changed anything, with an error that names the fields.
func TestVersionsTakeTurns(t *testing.T) {
	const enum2, enum3 = "enum v.E{RED,GREEN}", "enum v.E{RED,GREEN,BLUE}"
	for _, c := range []struct {
		name, first, second string
		refused             string // the error of the second version; "": it runs
		back                string // the error of the first one after the second has run; "": it runs
		says                string // what the log of the second version says
	}{
		{"nothing", "f int", "f int", "", "", ""},
		{"removed", "f int, g string", "f int", "", "", `"a field is gone: its values are kept for a version that has it" field=v.Page.g class=v.Page actors=2`},
		{"added", "f int", "f int, g string", "", "", ""},
		{"renamed", "f int, g string", "f int, h string", "", "", `field=v.Page.g class=v.Page actors=2`},
		{"map removed", "f int, m map<int,class v.V{a int;b int}>", "f int", "", "", `field=v.Page.m`},
		{"map added", "f int", "m map<int,class v.V{a int;b int}>, f int", "", "", ""},
		{"value removed", "f int, s class v.V{a int;b int}", "f int", "", "", `field=v.Page.s`},
		{"all replaced", "f int, g string", "h int", "", "", `field=v.Page.f`},
		{"order", "f int, g string", "g string, f int", "", "", ""},
		{"wider", "f int8", "f int", "", "stored as int and now int8", ""},
		{"narrower", "f int", "f int8", "stored as int and now int8: values of type int are no values of type int8", "", ""},
		{"other type", "f int, g int", "f int, g string", "values of type int are no values of type string; give the new field another name, or go back to the old type", "", ""},
		{"optional", "g string", "g string?", "", "stored values may be null", ""},
		{"not optional", "g string?", "g string", "stored values may be null", "", ""},
		{"enum longer", "f " + enum2, "f " + enum3, "", "only be added at the end", ""},
		{"enum case removed", "f " + enum3, "f " + enum2, "only be added at the end", "", ""},
		{"field of value removed", "f int, s class v.V{a int;b int}", "f int, s class v.V{a int}",
			"the program has no field v.V.b, which values in fields of 2 actors have; they would lose it when they are written; run a version that has the field, or give up what is stored in it with --drop-fields v.V.b", "", ""},
		{"field of value added", "s class v.V{a int}", "s class v.V{a int;b int}", "", "give up what is stored in it with --drop-fields v.V.b", ""},
		{"field of value renamed", "s class v.V{a int;b int}", "s class v.V{a int;c int}", "--drop-fields v.V.b", "", ""},
		{"field of elements removed", "m map<int,class v.V{a int;b int}>", "m map<int,class v.V{b int}>", "--drop-fields v.V.a", "", ""},
		{"field of elements added", "m map<int,class v.V{a int}>", "m map<int,class v.V{a int;b int}>", "", "--drop-fields v.V.b", ""},
		{"element types", "m map<int,class v.V{a int}>", "m map<int,string>", "values of type V are no values of type string", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(writtenArgs.Clear)
			first, second := newVersion("Page", c.first), newVersion("Page", c.second)
			want := map[string]map[string]string{}
			e, err := first.run(t, replicatest.New(), "", func(cl *Client) {
				for i, name := range []string{"one", "two"} {
					first.write(t, cl, name, int64(10*i+10))
					want[name] = first.read(t, cl, name)
				}
			})
			mustNot(t, err)
			told := func(what string, err error, want string) {
				t.Helper()
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %v, want %q", what, err, want)
				}
			}
			seconds := map[string]map[string]string{}
			e, err = second.run(t, e, "", func(cl *Client) {
				second.write(t, cl, "one", 50)
				second.write(t, cl, "three", 60)
				for _, name := range []string{"one", "two", "three"} {
					seconds[name] = second.read(t, cl, name)
				}
			})
			told("the second version", err, c.refused)
			if !strings.Contains(second.log.String(), c.says) || c.says == "" && second.log.Len() > 0 {
				t.Errorf("the log of the second version is %q, want %q", second.log.String(), c.says)
			}
			for _, name := range []string{"one", "three"} {
				if seconds[name] != nil && want["three"] == nil && name == "three" {
					want[name] = map[string]string{}
				}
				for field, v := range seconds[name] {
					if _, common := first.at(field); common {
						want[name][field] = v // the last write counts
					}
				}
			}
			// Twice, since only the second start may show what the first has done to the store.
			for range 2 {
				e, err = first.run(t, e, "", func(cl *Client) {
					for name, fields := range want {
						got := first.read(t, cl, name)
						for field, v := range fields {
							if got[field] != v {
								t.Errorf("field %s of %s was %s and is %s", field, name, v, got[field])
							}
						}
					}
				})
				told("the first version again", err, c.back)
			}
			e, err = second.run(t, e, "", func(cl *Client) {
				for name, fields := range seconds {
					if got := second.read(t, cl, name); !maps.Equal(got, fields) {
						t.Errorf("%s was %v and is %v", name, fields, got)
					}
				}
			})
			told("the second version again", err, c.refused)
		})
	}
}

func (v *version) at(field string) (column, bool) {
	i := slices.IndexFunc(v.columns, func(c column) bool { return c.name == field })
	return v.columns[max(i, 0)], i >= 0
}

// Values that were given up are gone, no others are, and only once. A start that gives up nothing logs that.
func TestFieldsAreGivenUpOnRequest(t *testing.T) {
	t.Cleanup(writtenArgs.Clear)
	first := newVersion("Page", "f int, g string, s class v.V{a int;b int}")
	e, err := first.run(t, replicatest.New(), "", func(cl *Client) { first.write(t, cl, "one", 10) })
	mustNot(t, err)
	second := newVersion("Page", "f int, s class v.V{a int}")
	e, err = second.run(t, e, "v.Page.g", nil)
	if err == nil || !strings.Contains(err.Error(), "--drop-fields v.V.b") {
		t.Errorf("one of two: %v", err)
	}
	e, err = second.run(t, e, "v.Page.g,v.V.b,v.V.a,v.Page.x", func(cl *Client) {})
	mustNot(t, err)
	for _, want := range []string{
		`"the values of a field are given up" field=v.Page.g class=v.Page actors=1`, `"the values of a field are given up" field=v.V.b class=v.Page actors=1`,
		`"nothing is given up of a field: nothing is stored in it, or the program has it" field=v.V.a`, `has it" field=v.Page.x`,
	} {
		if !strings.Contains(second.log.String(), want) {
			t.Errorf("the log is\n%s\nwant %s", second.log.String(), want)
		}
	}
	e, err = second.run(t, e, "", func(*Client) {})
	mustNot(t, err)
	third := newVersion("Page", "f int, g string, s class v.V{a int}")
	_, err = third.run(t, e, "", func(cl *Client) {
		if got := third.read(t, cl, "one"); got["g"] != "" || got["f"] != "10" || got["s"] != "a10" {
			t.Errorf("the actor has %v", got)
		}
	})
	mustNot(t, err)
	if third.log.Len() > 0 {
		t.Errorf("the log of a new field is %s", third.log.String())
	}
}

// A field that comes back is compared with the values that were kept, also if its type is another one or another version
// has made such a field since.
func TestAFieldComesBack(t *testing.T) {
	t.Cleanup(writtenArgs.Clear)
	run := func(e replicatest.Engine, columns, drop, want string, f func(v *version, cl *Client)) replicatest.Engine {
		t.Helper()
		v := newVersion("Page", columns)
		e, err := v.run(t, e, drop, func(cl *Client) { f(v, cl) })
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("with %s: %v, want %q", columns, err, want)
		}
		return e
	}
	shows := func(want string) func(v *version, cl *Client) {
		return func(v *version, cl *Client) {
			if got := v.read(t, cl, "one")["g"]; got != want {
				t.Errorf("field g is %s, want %s", got, want)
			}
		}
	}
	none := func(*version, *Client) {}
	e := run(replicatest.New(), "f int, g int8", "", "", func(v *version, cl *Client) { v.write(t, cl, "one", 10) })
	e = run(e, "f int", "", "", none)
	e = run(e, "f int, g string", "", "class v.Page, field g, stored as int8 and now string: the values that were kept when the field was gone: values of type int8 are no values of type string; "+
		"give the new field another name, or go back to the old type, or give them up with --drop-fields v.Page.g", nil)
	e = run(e, "f int, g int", "", "", func(v *version, cl *Client) {
		shows("10")(v, cl)
		if want := `"a field is back: actors that had it have the values that were kept" field=v.Page.g class=v.Page actors=1`; !strings.Contains(v.log.String(), want) {
			t.Errorf("the log is %q, want %q", v.log.String(), want)
		}
	})
	e = run(e, "f int", "", "", none)
	e = run(e, "f int, g int8", "", "stored as int and now int8", nil)
	e = run(e, "f int, g string", "v.Page.g", "", func(v *version, cl *Client) {
		shows("")(v, cl)
		v.write(t, cl, "one", 20)
	})
	// A process that is started again by the same command line gives up nothing more.
	run(e, "f int, g string", "v.Page.g", "", shows("20"))

	// A reference that cannot be null comes back where every actor has it.
	e = run(replicatest.New(), "f int, g actor v.Other", "", "", func(v *version, cl *Client) { v.write(t, cl, "one", 0) })
	e = run(e, "f int", "", "", none)
	e = run(e, "f int, g actor v.Other", "", "", none)
	e = run(e, "f int", "", "", func(v *version, cl *Client) { v.write(t, cl, "two", 0) })
	run(e, "f int, g actor v.Other", "", "field g, of type Other: stored actors have no such field", nil)
}

// A class that is gone, or has another name, is refused while there are actors of it, and forgotten otherwise.
func TestAClassIsGone(t *testing.T) {
	t.Cleanup(writtenArgs.Clear)
	first, second := newVersion("Page", "f int"), newVersion("Sheet", "f int")
	e, err := first.run(t, replicatest.New(), "", func(*Client) {})
	mustNot(t, err)
	e, err = second.run(t, e, "", func(*Client) {})
	mustNot(t, err)
	e, err = first.run(t, e, "", func(cl *Client) { first.write(t, cl, "one", 10) })
	mustNot(t, err)
	e, err = second.run(t, e, "", nil)
	if err == nil || !strings.Contains(err.Error(), "v.Page, of which actors are stored (1); bring it back") {
		t.Errorf("a class that is gone: %v", err)
	}
	_, err = first.run(t, e, "", func(cl *Client) {
		if got := first.read(t, cl, "one")["f"]; got != "10" {
			t.Errorf("field f is %s", got)
		}
	})
	mustNot(t, err)
}

// Waiting calls lose no field of their arguments either, unless it is given up.
func TestArgumentsKeepTheirFields(t *testing.T) {
	fewer := as("(int8,class v.V{a int}):int8")
	full := as("(int8,class v.V{a int;b int}):int8")
	for how, waits := range waitingCallsOf(t, full) {
		e := waits.Crash(all)
		st := openStore(t, e, nil)
		_, err := newEdition(fewer).recover(st)
		if err == nil || !strings.Contains(err.Error(), "of which 1 call waits, is now") && !strings.Contains(err.Error(), "has changed: arguments have a field v.V.b, which the program does not have (--drop-fields v.V.b gives it up)") {
			t.Errorf("%s: %v", how, err)
		}
		mustNot(t, st.Close())
		e = e.Reopen()
		for i, drop := range []string{"v.V.b", ""} { // what was given up stays so while the call waits
			st := openStore(t, e, nil)
			fields, _ := store.ParseFields(cmp.Or(drop, "v.V.x"))
			v := newEdition(fewer)
			s, err := Recover(Config{Store: st, Classes: []*Class{&v.class}, Log: quiet, Clock: sched.NewSimClock(v.start), DropFields: fields})
			if err != nil {
				t.Errorf("%s, start %d: %v", how, i, err)
			} else {
				s.Close()
			}
			mustNot(t, st.Close())
			e = e.Reopen()
		}
		t.Cleanup(writtenArgs.Clear)
	}
}
