package kill

import (
	"encoding/json"
	"fmt"
	"maps"
)

// tally sums up the requests of a session that an account has applied, as ledger.Tally does.
type tally struct{ count, sum, last int64 }

func (t *tally) apply(seq int64) { *t = tally{t.count + 1, t.sum + seq, seq} }

type byAccount map[[2]int64]tally // by account and session

// expected returns the tallies that follow from the answers.
func (l *life) expected() byAccount {
	want := byAccount{}
	for i, a := range l.sessions {
		for n, outcome := range a.outcomes {
			if outcome[0] != '!' {
				p := draw(l.seed, i, int64(n)+1)
				k := [2]int64{int64(p.from), int64(i)}
				t := want[k]
				t.apply(p.seq)
				want[k] = t
			}
		}
	}
	return want
}

func parsePairs(text string) (map[int64]int64, error) {
	var list []int64
	err := json.Unmarshal([]byte(text), &list)
	return mapOf(list), err
}

func mapOf(list []int64) map[int64]int64 {
	m := make(map[int64]int64)
	for i := 0; i+1 < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

func (r *run) takeNotes(text string) (err error) {
	r.notes, err = parsePairs(text)
	if t := r.notes[-1]; err == nil && t < r.life.ticks {
		err = fmt.Errorf("the log had %d notes of the ticker, and has %d now", r.life.ticks, t)
	}
	r.life.ticks = r.notes[-1]
	return err
}

// takeDump compares what the accounts have applied with what was answered: all of it, once, and
// nothing else but requests without an answer, which are applied now or not.
func (r *run) takeDump(text string) error {
	var in []int64
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return err
	}
	got := byAccount{}
	for range accounts {
		id, notes, n := in[0], in[2], in[3]
		in = in[4:]
		for range n {
			got[[2]int64{id, in[0]}] = tally{in[1], in[2], in[3]}
			in = in[4:]
		}
		switch had := r.notes[id]; {
		case had > notes:
			return fmt.Errorf("account %d has issued %d notes, and the log has got %d", id, notes, had)
		case r.dumps == 2 && had != notes:
			return fmt.Errorf("at rest, account %d has issued %d notes, and the log has got %d", id, notes, had)
		}
	}
	want := r.life.expected()
	f := &r.life.figures
	for i, a := range r.life.sessions {
		p := draw(r.life.seed, i, a.next())
		k := [2]int64{int64(p.from), int64(i)}
		t := want[k]
		before := a.applied
		if a.applied = got[k].last == p.seq; a.applied {
			t.apply(p.seq)
			want[k] = t
		}
		switch {
		case before && !a.applied:
			return fmt.Errorf("session %d, request %d had been applied, and is no longer", i, p.seq)
		case a.refused && a.applied && !before:
			return fmt.Errorf("session %d, request %d was refused, and has been applied", i, p.seq)
		case !a.asked:
		case a.applied && !before:
			f.applied++
		case !a.applied:
			f.unapplied++
		}
		a.asked, a.refused = false, false
	}
	if !maps.Equal(got, want) {
		return difference(got, want)
	}
	return nil
}

// difference names what is not as it should be.
func difference(got, want byAccount) error {
	for k, w := range want {
		if g := got[k]; g != w {
			return fmt.Errorf("account %d, session %d: applied %+v (how many, sum of their numbers, last one), but answered were %+v", k[0], k[1], g, w)
		}
	}
	for k, g := range got {
		if want[k] == (tally{}) {
			return fmt.Errorf("account %d, session %d: applied %+v, and nothing was answered", k[0], k[1], g)
		}
	}
	return nil
}

// takeRest compares the receipts and steps of the next account, at the end, one by one.
func (r *run) takeRest(text string) error {
	var lists [2][]int64
	if err := json.Unmarshal([]byte(text), &lists); err != nil {
		return err
	}
	l, id := r.life, r.rests
	r.rests++
	receipts, steps := map[int64]int64{}, map[int64]int64{}
	for i, a := range l.sessions {
		for n, outcome := range a.outcomes {
			p := draw(l.seed, i, int64(n)+1)
			if outcome[0] == '!' {
				continue
			}
			if p.from == id {
				receipts[p.key()] = 1
			}
			if n := p.steps()[id]; n > 0 {
				steps[p.key()] = n
			}
		}
	}
	for i, pair := range []struct {
		what string
		want map[int64]int64
	}{{"applied", receipts}, {"followed", steps}} {
		got := mapOf(lists[i])
		for k := range maps.Keys(pair.want) {
			if got[k] != pair.want[k] {
				return fmt.Errorf("account %d: request %d of session %d was %s %d times, and should be %d times", id, k%1_000_000, k/1_000_000, pair.what, got[k], pair.want[k])
			}
		}
		if len(got) != len(pair.want) {
			return fmt.Errorf("account %d has %s %d requests, and should have %d", id, pair.what, len(got), len(pair.want))
		}
	}
	return nil
}
