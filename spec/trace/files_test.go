package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// start is the trace of one start of a store on a node.
type start struct {
	run, node int
	recovered int64 // 0: nothing was traced before
	lines     []string
}

func (s start) text() string {
	recovered := ""
	if s.recovered != 0 {
		recovered = fmt.Sprintf(`,"recovered":%d`, s.recovered)
	}
	return fmt.Sprintf(`{"trace":3,"program":"p","store":"abc","run":%d%s,"node":%d}`, s.run, recovered, s.node) + "\n" + strings.Join(s.lines, "\n") + "\n"
}

// wrote is an event that has made a version of an actor, and read is one that has found it.
func wrote(order, start int64, version int) string {
	return fmt.Sprintf(`{"order":%d,"batch":true,"event":"1-%x","attempt":1,"kind":"client","client":1,"target":"p.A/x","method":"A.set","start":%d,"reads":[["p.A/x",%d]],"writes":[["p.A/x",%d]]}`, order, order, start, version-1, version)
}

func read(order, start int64, version int) string {
	return fmt.Sprintf(`{"order":%d,"event":"1-%x","attempt":1,"kind":"client","client":1,"target":"p.A/x","method":"A.get","start":%d,"reads":[["p.A/x",%d]]}`, order, order, start, version)
}

func answered(pairs ...int64) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf("[%d,%d]", pairs[i], pairs[i+1]))
	}
	return `{"answers":[` + strings.Join(list, ",") + `]}`
}

// checkStarts checks the traces of some starts, each in a file that is called by its number.
func checkStarts(clocks time.Duration, starts ...start) (*Report, error) {
	var files []File
	for _, s := range starts {
		files = append(files, File{fmt.Sprint("f", s.run), strings.NewReader(s.text())})
	}
	return CheckFiles(files, clocks)
}

// deposed is a leader that was paused at 40: the next one has found what it had committed by 30, and answered from 60 on.
func deposed(more ...string) []start {
	return []start{
		{1, 1, 0, append([]string{wrote(20, 10, 1), answered(20, 25), wrote(30, 28, 2), answered(30, 33), wrote(38, 35, 3)}, more...)},
		{2, 2, 30, []string{wrote(50, 45, 3), answered(50, 60), read(70, 65, 3), answered(70, 75)}},
	}
}

func TestStartsOfAStoreOnSeveralNodesAreOneHistory(t *testing.T) {
	// What it was about to commit is lost, and so is what has seen that. It goes on reading, and answers no more.
	rep, err := checkStarts(0, deposed(read(39, 36, 3), read(80, 37, 2), read(90, 85, 2))...)
	if err != nil || rep.Violated() > 0 || rep.Sections[0].Counts.Lost != 2 {
		t.Fatalf("%v, %+v", err, rep)
	}
	var text strings.Builder
	if err := rep.Write(&text); err != nil || !strings.Contains(text.String(), "across 1 change of the leader on 2 nodes (2 events of deposed leaders never committed)") {
		t.Errorf("%s, %v", text.String(), err)
	}
	// The order of the files is not that of the starts.
	list := deposed()
	slices.Reverse(list)
	if rep, err := checkStarts(0, list...); err != nil || rep.Violated() > 0 || rep.Sections[0].Header.Run != 1 {
		t.Errorf("%v, %+v", err, rep)
	}
	for _, c := range []struct {
		name   string
		more   []string
		clocks time.Duration
		rule   Rule
		text   string
	}{
		{"a read that was issued in time", []string{read(80, 58, 2), answered(80, 85)}, 0, "", ""},
		{"a stale read", []string{read(80, 77, 2), answered(80, 85)}, 0, RealTime, "event 1-46 (order 70) was answered at 75, before event 1-50 was issued, in start 1 of the store on node 1, at 77"},
		{"a read of which the clocks do not tell", []string{read(80, 77, 2), answered(80, 85)}, 20, "", ""},
		{"a stale read whatever the clocks", []string{read(800, 700, 2), answered(800, 805)}, 20, RealTime, "event 1-46 (order 70)"},
		{"an answer that nothing was behind", []string{answered(38, 45)}, 0, Durable, "event 1-26 (order 38) was answered, but the next leader has not found it"},
		{"an answer that has seen what was lost", []string{read(39, 36, 3), answered(39, 45)}, 0, Durable, "event 1-27 (order 39) was answered"},
	} {
		rep, err := checkStarts(c.clocks, deposed(c.more...)...)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.rule == "" && rep.Violated() > 0:
			t.Errorf("%s: %v", c.name, rep.Sections)
		case c.rule != "" && !slices.ContainsFunc(slices.Concat(rep.Sections[0].First, rep.Sections[1].First), func(v Violation) bool {
			return v.Rule == c.rule && strings.Contains(v.Text, c.text)
		}):
			t.Errorf("%s: %v, want %s: %s", c.name, rep.Sections, c.rule, c.text)
		}
	}
	// A stale read shows behind any number of further leaders.
	late := append(deposed(read(80, 77, 2), answered(80, 85)), start{5, 3, 50, []string{wrote(100, 95, 4), answered(100, 110)}})
	late[1].lines = late[1].lines[:1] // the second has answered nothing
	if rep, err := checkStarts(0, late...); err != nil || rep.Violated() > 0 {
		t.Errorf("%v, %+v", err, rep)
	}
	late[2].lines[1] = answered(100, 76+30)
	late[0].lines[len(late[0].lines)-2] = read(80, 107, 2)
	if rep, err := checkStarts(0, late...); err != nil || rep.Violated() == 0 {
		t.Errorf("a read at 107 of what was overwritten by 106: %v, %+v", err, rep)
	}
}

func TestFilesThatAreMissingOrDamaged(t *testing.T) {
	list := append(deposed(), start{3, 1, 50, []string{wrote(100, 95, 4), answered(100, 110)}})
	missing := new(MissingError)
	if _, err := checkStarts(0, list[0], list[2]); !errors.As(err, &missing) || missing.Before != 1 || missing.Run != 3 || missing.Order != 50 ||
		!strings.Contains(err.Error(), "f3 line 1: start 3 of store abc goes on behind the event of order 50, which is not there: the trace of a start between 1 and 3 is missing, or that of start 1 (f1) has lost its end") {
		t.Errorf("without the second start: %v", err)
	}
	cut := deposed()
	cut[0].lines = cut[0].lines[:2]
	if _, err := checkStarts(0, cut...); !errors.As(err, &missing) || missing.Before != 1 || missing.Run != 2 || missing.Order != 30 {
		t.Errorf("with the end of the first cut off: %v", err)
	}
	// From any start on the rest is a trace by itself.
	if rep, err := checkStarts(0, list[1:]...); err != nil || rep.Violated() > 0 {
		t.Errorf("without the first start: %v, %+v", err, rep)
	}
	if _, err := checkStarts(0, list[0], list[1], list[1]); err == nil || !strings.Contains(err.Error(), "start 2 of store abc is there twice, at f2 line 1 and f2 line 1") {
		t.Errorf("with one twice: %v", err)
	}
	bad := deposed()
	bad[1].lines[1] = "garbage"
	if _, err := checkStarts(0, bad...); err == nil || !strings.HasPrefix(err.Error(), "f2: line 3 is damaged") {
		t.Errorf("with a line that is no record: %v", err)
	}
	torn := deposed()
	torn[0].lines = append(torn[0].lines, `{"order":39,"eve`)
	if rep, err := checkStarts(0, torn...); err != nil || rep.Violated() > 0 || rep.Torn != 1 {
		t.Errorf("with a line that was left half done: %v, %+v", err, rep)
	}
	// A start that was killed before it could record anything, and one that recorded nothing, leave no gap.
	if rep, err := checkStarts(0, append(deposed(), start{7, 1, 50, nil}, start{9, 2, 50, []string{wrote(100, 95, 4), answered(100, 110)}})...); err != nil || rep.Violated() > 0 {
		t.Errorf("with starts that have done nothing: %v, %+v", err, rep)
	}
	if h, err := First(strings.NewReader("")); h != nil || err != nil {
		t.Errorf("an empty file begins with %v, %v", h, err)
	}
}
