package explore

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aeon-lang/aeon/spec"
)

// A search that says that every order ends well must agree with one that is too simple to be wrong. That
// one runs a program from its beginning in one order after the other, knows no state again, leaves no order
// out, and looks at how each run has ended, not at how the search would be told.

var (
	naivePrograms = flag.Uint64("explore.naive", 50, "how many random programs are run in each of their orders")
	naiveOrders   = flag.Int("explore.orders", 600, "up to how many orders of a program are run one by one")
)

// odometer is a chooser that makes other choices in every run, until it has made all.
type odometer struct {
	choices, sizes []int
	at             int
}

// Choose implements spec.Chooser.
func (o *odometer) Choose(options []spec.Step) int {
	if o.at == len(o.choices) {
		o.choices, o.sizes = append(o.choices, 0), append(o.sizes, len(options))
	}
	o.at++
	return o.choices[o.at-1]
}

// next goes on to the next order, and reports whether there is one.
func (o *odometer) next() bool {
	o.at = 0
	for n := len(o.choices); n > 0; n-- {
		if o.choices[n-1]+1 < o.sizes[n-1] {
			o.choices, o.sizes = o.choices[:n], o.sizes[:n]
			o.choices[n-1]++
			return true
		}
	}
	return false
}

// tellsIDs is a declaration that keeps the interpreter from taking events for one that differ in their ids alone.
const tellsIDs = "\nint nobodyCalls() { return len(eventid()); }\n"

// naive is what running every order of a program has given.
type naive struct {
	orders   int
	outcomes map[string]bool
	fails    bool // some order fails the test
	mixed    bool // and some does not
}

// runNaive runs the test of a program in every order; ok is false if there are too many.
func runNaive(t testing.TB, text string, observe bool) (n naive, ok bool) {
	t.Helper()
	p := parse(t, text+tellsIDs)
	n.outcomes = map[string]bool{}
	passes := false
	for o := (&odometer{}); ; {
		if n.orders++; n.orders > *naiveOrders {
			return n, false
		}
		out := p.Run(p.Tests()[0], o, spec.Options{Observe: observe, StepsMax: 100_000})
		if out.Bug != "" || out.Exhausted != "" {
			t.Fatalf("a run ends with %s%s\n%s", out.Bug, out.Exhausted, text)
		}
		fails := out.Failure != nil || out.Stuck || len(out.DeadLetters)+len(out.CallbackFailures) > 0
		n.fails, passes = n.fails || fails, passes || !fails
		slices.SortStableFunc(out.DeadLetters, spec.Letter.Compare)
		n.outcomes[out.String()] = true
		if !o.next() {
			n.mixed = n.fails && passes
			return n, true
		}
	}
}

// checked makes random programs of few events with assertions in every kind of place.
type checked struct {
	rng    *rand.Rand
	places map[string]int // of the checks that were made
	number int            // of the checks of this program
}

func (s *checked) pick(list ...string) string { return list[s.rng.IntN(len(list))] }

// check is a statement that fails for some values of an expression, or nothing.
func (s *checked) check(place, x string) string {
	if s.rng.IntN(5) > 1 {
		return ""
	}
	return s.surely(place, x)
}

// surely is a check.
func (s *checked) surely(place, x string) string {
	s.places[place]++
	s.number++
	k := s.rng.IntN(8)
	name := fmt.Sprintf("%s %d", place, s.number)
	switch s.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("require(%s != %d, %q); ", x, k, name)
	case 1:
		return fmt.Sprintf("if (%s > %d) { abort %q; } ", x, k, name)
	case 2:
		return fmt.Sprintf("int zero%d = 6 / (%s - %d); log(zero%d); ", s.number, x, k, s.number)
	}
	return fmt.Sprintf("assert(%s != %d, %q); ", x, k, name)
}

func (s *checked) stmt(m int) string {
	cell, k := s.pick("a", "b"), s.rng.IntN(3)
	later := fmt.Sprintf("m%d(n + %d)", m+1+s.rng.IntN(max(1, 3-m)), k)
	switch s.rng.IntN(15) {
	case 0, 1:
		return fmt.Sprintf("%s.add(%d);", cell, k)
	case 2:
		return "n = n * 2 + k;"
	case 11, 12:
		return s.pick("n = k;", "n = 1;", "n += k + 1;")
	case 3:
		return fmt.Sprintf("n = twice(%s.get());", cell)
	case 4:
		return "n += new Row(n).size();"
	case 5:
		return fmt.Sprintf("%s = new Cell(n);", cell)
	case 6:
		if m < 3 { // which callbacks call
			return "event watcher!.note(n);"
		}
	case 7:
		return fmt.Sprintf("async %s.add(n);", cell)
	case 8:
		return fmt.Sprintf("cancel \"t%d\";", k%2)
	case 9:
		if m < 3 {
			// What the timer remembers of n may be all that tells two orders apart.
			return fmt.Sprintf("event this.%s after %dms as \"t%d\";%s", later, k, k%2, s.pick("", " n = 0;"))
		}
	case 10:
		return "if (n > 0) { n--; }"
	default:
		if m < 3 {
			return fmt.Sprintf("event %s.%s;", s.pick("this", "other?"), later)
		}
	}
	return "n++;"
}

func (s *checked) program() string {
	s.number = 0
	var b strings.Builder
	fmt.Fprintf(&b, "package p\nclient class Watcher {\n\tint sum = 0;\n\tyield Hub hub;\n\tWatcher(yield Hub h) { hub = h; }\n\tvoid note(int k) { sum += k + 1; %s", s.check("callback", "sum"))
	switch s.rng.IntN(4) {
	case 0:
		fmt.Fprintf(&b, "await event hub.m3(sum); %s", s.check("callback", "sum"))
	case 1:
		fmt.Fprintf(&b, "if (sum < 3) { event hub.m3(sum); } ")
	}
	fmt.Fprintf(&b, "}\n}\nclass Row { int n; Row(int k) { %sn = k; } int size() { %sreturn n %% 3; } }\n", s.check("constructor", "k"), s.check("value", "n"))
	fmt.Fprintf(&b, "int twice(int k) { %sreturn k * 2; }\n", s.check("helper", "k"))
	fmt.Fprintf(&b, "actorclass Cell {\n\tint n;\n\tCell(int k) { %sn = k; }\n\tvoid add(int k) { n += k; %s}\n\tro int get() { %sreturn n; }\n}\n",
		s.check("constructor", "k"), s.check("method", "n"), s.check("method", "n"))
	b.WriteString("actorclass Hub {\n\tCell a = new Cell(9); Cell b = new Cell(9);\n\tint n = 0;\n\tyield Hub? other; yield Watcher? watcher;\n\tvoid meet(yield Hub h, yield Watcher w) { other = h; watcher = w; }\n")
	for m := range 4 {
		fmt.Fprintf(&b, "\tvoid m%d(int k) {\n\t\t%s\n", m, s.check("event", "n"))
		statements := 1 + s.rng.IntN(2)
		if s.rng.IntN(4) == 0 { // an event that only checks leaves the same state whether it fails or not
			statements = 0
			fmt.Fprintf(&b, "\t\t%s\n", s.surely("event", "n"))
		}
		for range statements {
			fmt.Fprintf(&b, "\t\t%s\n\t\t%s\n", s.stmt(m), s.check("event", s.pick("n", "k")))
		}
		if m < 3 && s.rng.IntN(3) == 0 {
			fmt.Fprintf(&b, "\t\ttail %sm%d(n);\n", s.pick("", "other!."), m+1+s.rng.IntN(3-m))
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\ntest \"t\" {\n\tHub x = new Hub();\n\tHub y = new Hub();\n\tWatcher w = new Watcher(x);\n\tawait event x.meet(y, w);\n\tawait event y.meet(x, w);\n")
	for i := range 2 + s.rng.IntN(3) {
		call := fmt.Sprintf("event %s.m%d(%d)", s.pick("x", "x", "y"), s.rng.IntN(4), s.rng.IntN(4))
		switch s.rng.IntN(14) {
		case 0:
			fmt.Fprintf(&b, "\tawait %s;\n", call)
		case 1:
			fmt.Fprintf(&b, "\tpending<void> p%d = %s;\n\ttry { await p%d; } catch (string why) { print(why); }\n", i, call, i)
		case 2:
			fmt.Fprintf(&b, "\tpending<void> p%d = %s;\n\tif (%t) { cancel p%d; }\n", i, call, s.rng.IntN(2) == 0, i)
		case 3:
			fmt.Fprintf(&b, "\ttry { await %s; } catch (string why) { print(why); }\n", call)
		default:
			fmt.Fprintf(&b, "\t%s;\n", call)
		}
	}
	b.WriteString(s.pick("", "\tsettle();\n", "\tadvance(2ms);\n"))
	b.WriteString("}\n")
	return b.String()
}

// listening makes a program that is about callbacks: two doors call an object of the client back, which issues to a hub and to
// the tally that the hub reads. What the second callback issues has the numbers that what the first issues has in another order.
func (s *checked) listening() string {
	s.number = 0
	var b strings.Builder
	fmt.Fprintf(&b, "package p\nactorclass Tally { int n = 0; void add(int k) { n = n * %s + k; } ro int get() { return n; } }\n", s.pick("1", "2"))
	b.WriteString("actorclass Hub {\n\tTally tally; int n = 0;\n\tHub(Tally t) { tally = t; }\n")
	for m := range 2 {
		fmt.Fprintf(&b, "\tvoid m%d(int k) { int was = n + k; %s %s}\n", m, s.pick("n += k;", "n = tally.get();", "n = k;", "tally.add(k);"),
			s.surely("event", s.pick("n * 2 - was", "n + was", "was", "was + tally.get()")))
	}
	b.WriteString("}\nclient class Watcher {\n\tint sum = 0;\n\tyield Hub hub; yield Tally tally;\n\tWatcher(yield Hub h, yield Tally t) { hub = h; tally = t; }\n\tvoid heard(int k) {\n\t\tsum += k;\n")
	for range 1 + s.rng.IntN(2) {
		x := s.pick("k", "k", "sum", "1")
		fmt.Fprintf(&b, "\t\t%s\n", s.pick("event tally.add("+x+");", "event tally.add("+x+");", "event hub.m0("+x+");", "event hub.m1("+x+");", "if (k > 1) { event hub.m0(k); }",
			"await event hub.m1("+x+");"))
	}
	b.WriteString("\t}\n}\nactorclass Door { void go(yield Watcher w, int k) { event w.heard(k); } }\n")
	b.WriteString("test \"t\" {\n\tTally t = new Tally(); Hub h = new Hub(t); Watcher w = new Watcher(h, t);\n\tDoor a = new Door(); Door b = new Door();\n")
	fmt.Fprintf(&b, "\tevent a.go(w, 2);\n\tevent b.go(w, 1);\n\t%s\n}\n", s.pick("", "event h.m0(1);", "event a.go(w, 1);", "settle();"))
	return b.String()
}

// gathering makes a program that is about the order of actors as keys. Two makers of one shop, which share nothing, make items of one partition; the shop
// has the items as keys of a container, and looks at the order in which a loop gets them.
func (s *checked) gathering() string {
	s.number = 0
	var b strings.Builder
	b.WriteString("package p\nclass Row { Item item; int k; }\nactorclass Item { int k; Item(int n) { k = n; } ro int get() { return k; } }\n")
	b.WriteString("actorclass Maker {\n\tItem item = new Item(0);\n\tint n = 0;\n\tItem get() { return item; }\n")
	for m := range 2 {
		fmt.Fprintf(&b, "\tvoid m%d(int k) { n += k; %s %s}\n", m, s.pick("item = new Item(k);", "item = new Item(k);", "item = new Item(n);", "if (n > 1) { item = new Item(n); }"), s.check("event", "n"))
	}
	shelf := []struct{ field, put, loop string }{
		{"set<Item> all;", "all.insert(b.get()); all.insert(a.get());", "for (Item i : all) { n = n * 3 + i.get(); }"},
		{"table<Row> all key(item);", "all.insert(new Row(b.get(), 2)); all.insert(new Row(a.get(), 1));", "for (Row r : all) { n = n * 3 + r.k; }"},
		{"table<Row> all key(k) index(item);", "all.insert(new Row(b.get(), 2)); all.insert(new Row(a.get(), 1));", "for (Row r : all.sorted(item)) { n = n * 3 + r.k; }"},
		{"", "var all = [b.get(): 2, a.get(): 1];", "for (Item i, int k : all) { n = n * 3 + k + i.get(); }"},
	}[s.rng.IntN(4)]
	fmt.Fprintf(&b, "}\nactorclass Shop {\n\tMaker a = new Maker();\n\tMaker b = new Maker();\n\t%s\n\tyield Maker first() { return a; }\n\tyield Maker second() { return b; }\n", shelf.field)
	fmt.Fprintf(&b, "\tvoid gather() {\n\t\tint n = 0;\n\t\t%s\n\t\t%s\n\t\tprint(n);\n\t\t%s\n\t}\n", shelf.put, shelf.loop, s.surely("event", "n"))
	fmt.Fprintf(&b, "\tvoid open() { event %s; event %s; }\n}\n", s.pick("a.m0(1)", "a.m1(1)"), s.pick("b.m0(2)", "b.m1(2)"))
	b.WriteString("test \"t\" {\n\tShop s = new Shop(); Maker a = await event s.first(); Maker b = await event s.second();\n")
	fmt.Fprintf(&b, "\t%s\n\t%s\n\tevent s.gather();\n}\n", s.pick("event a.m0(1); event b.m0(2);", "event b.m1(2); event a.m1(1);", "event s.open(); event a.m0(1); event b.m0(1);"), s.pick("settle();", "settle();", ""))
	return b.String()
}

// naiveComparison is what comparing the search with running every order has given.
type naiveComparison struct {
	programs, orders, mixed, proved int
	places                          map[string]int
	differs                         string
}

func compareNaive(t *testing.T, programs uint64, program func(*checked) string) (c naiveComparison) {
	c.places = map[string]int{}
	for seed := range programs {
		s := &checked{rng: rand.New(rand.NewPCG(seed, 11)), places: c.places}
		text := program(s)
		all, ok := runNaive(t, text, false)
		if !ok {
			continue
		}
		p := parse(t, text)
		switch r := Run(p, p.Tests()[0], Config{}); {
		case !r.Complete && r.Failing == nil:
			c.differs = fmt.Sprintf("seed %d: the search has stopped: %s\n%s", seed, r.Incomplete, text)
		case r.Complete && all.fails:
			c.differs = fmt.Sprintf("seed %d: the search says that every order ends well, and some do not\n%s", seed, text)
		case !r.Complete && !all.fails:
			c.differs = fmt.Sprintf("seed %d: the search has an order that fails, and none does: %v\n%s", seed, r.Failing.Failure, text)
		case r.Complete:
			c.proved++
		}
		if c.differs != "" {
			return c
		}
		if all, ok = runNaive(t, text, true); ok {
			found, _ := Outcomes(p, p.Tests()[0], Config{})
			if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(all.outcomes)); !slices.Equal(got, want) {
				c.differs = fmt.Sprintf("seed %d: the search has %d outcomes, and running all orders %d\n%s\nfound:\n%s\nall:\n%s", seed, len(got), len(want), text,
					strings.Join(got, "--\n"), strings.Join(want, "--\n"))
				return c
			}
		}
		c.programs++
		c.orders += all.orders
		if all.mixed {
			c.mixed++
		}
	}
	return c
}

// TestSearchAgreesWithEveryOrder compares the search with running all orders one by one.
func TestSearchAgreesWithEveryOrder(t *testing.T) {
	c := compareNaive(t, *naivePrograms, (*checked).program)
	if c.differs != "" {
		t.Fatal(c.differs)
	}
	for _, place := range []string{"callback", "constructor", "value", "helper", "method", "event"} {
		if c.places[place] < int(*naivePrograms)/5 {
			t.Errorf("only %d checks are in a %s", c.places[place], place)
		}
	}
	if n := int(*naivePrograms); c.programs < n/2 || c.mixed < max(min(n, 100)/20, n/40) || c.proved < n/20 {
		t.Errorf("only %d programs were compared; %d fail in some orders and not in others, %d in none", c.programs, c.mixed, c.proved)
	}
	t.Logf("%d programs, %d orders; %d fail in some orders and not in others, %d in none; checks by place: %v", c.programs, c.orders, c.mixed, c.proved, c.places)
}

// agrees compares them on programs of one kind, of which enough fail in some orders and not in others, and enough in none.
func agrees(t *testing.T, program func(*checked) string) {
	c := compareNaive(t, *naivePrograms, program)
	if c.differs != "" {
		t.Fatal(c.differs)
	}
	if n := int(*naivePrograms); c.programs < n/2 || c.mixed < n/20 || c.proved < n/20 {
		t.Errorf("only %d programs were compared; %d fail in some orders and not in others, %d in none", c.programs, c.mixed, c.proved)
	}
	t.Logf("%d programs, %d orders; %d fail in some orders and not in others, %d in none", c.programs, c.orders, c.mixed, c.proved)
}

// TestSearchTellsWhatCallbacksIssue compares them on programs whose callbacks issue events.
func TestSearchTellsWhatCallbacksIssue(t *testing.T) { agrees(t, (*checked).listening) }

// TestSearchAgreesWithEveryOrderOfKeys compares them on programs that look at the order of actors as keys.
func TestSearchAgreesWithEveryOrderOfKeys(t *testing.T) { agrees(t, (*checked).gathering) }
