package lock

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var wordTriples = flag.Int("word.triples", 4, "sets of three events whose interleavings are explored in full; 0 for all")

func wants(list ...wordWant) []wordWant { return list }

// actorPrograms are events in a world where node 1 is an actor, virtualPrograms where it
// is virtual.
var (
	actorPrograms = []wordProgram{
		{kind: "fast", mode: Read},
		{kind: "fast", mode: Write},
		{kind: "fast", mode: Read, wants: wants(wordWant{2, Write})},
		{kind: "fast", mode: Read, wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "fast", mode: Read, wants: wants(wordWant{2, Read}, wordWant{3, Write})},
		{kind: "fast", mode: Write, wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "fast", mode: Read, wants: wants(wordWant{2, Write}, wordWant{3, Write}), gives: true},
		{kind: "one", wants: wants(wordWant{2, Write})},
		{kind: "one", wants: wants(wordWant{2, Read})},
		{kind: "one", wants: wants(wordWant{3, Write})},
		{kind: "settled", mode: Read, wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "settled", mode: Read, wants: wants(wordWant{3, Write}, wordWant{2, Read}), gives: true},
		{kind: "settled", mode: None, wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "settled", mode: Write},
		{kind: "lazy", mode: Read, wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "lazy", mode: Read, wants: wants(wordWant{3, Write}, wordWant{2, Write})},
		{kind: "lazy", mode: Write, wants: wants(wordWant{3, Write})},
		{kind: "shared", mode: Read, wants: wants(wordWant{2, Read}, wordWant{3, Read})},
		{kind: "shared", mode: Read, wants: wants(wordWant{3, Read}, wordWant{2, Read}), gives: true},
		{kind: "spread", wants: wants(wordWant{1, Read})},
		{kind: "spread", wants: wants(wordWant{2, Read})},
	}
	virtualPrograms = []wordProgram{
		{kind: "roots", wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "roots", wants: wants(wordWant{2, Read}, wordWant{3, Write})},
		{kind: "roots", wants: wants(wordWant{2, Write}, wordWant{3, Read})},
		{kind: "roots", wants: wants(wordWant{2, Read}, wordWant{3, Read})},
		{kind: "roots", wants: wants(wordWant{2, Write}, wordWant{3, Write}), gives: true},
		{kind: "pass", wants: wants(wordWant{2, Write}, wordWant{3, Write})},
		{kind: "pass", wants: wants(wordWant{2, Read}, wordWant{3, Write})},
		{kind: "one", wants: wants(wordWant{2, Write})},
		{kind: "one", wants: wants(wordWant{2, Read})},
		{kind: "one", wants: wants(wordWant{3, Write})},
		{kind: "spread", wants: wants(wordWant{2, Read})},
	}
)

// exploreWords visits all states that the programs can reach and returns how many there
// are, and what is wrong with one of them, with the way to it.
func exploreWords(start Word, broken string, programs ...wordProgram) (states int, err error) {
	type node struct {
		w    *wordWorld
		from int
		by   string
	}
	seen := map[string]bool{}
	nodes := []node{{w: newWordWorld(start, broken, programs...)}}
	var key []byte
	for i := 0; i < len(nodes); i++ {
		w := nodes[i].w
		stuck := true
		for e := range w.threads {
			if w.err != nil || !w.able(e) {
				continue
			}
			stuck = false
			n := w.clone()
			n.step(e)
			key = n.key(key[:0])
			if n.err == nil && seen[string(key)] {
				continue
			}
			seen[string(key)] = true
			t := &w.threads[e]
			o := t.stack[len(t.stack)-1]
			nodes = append(nodes, node{n, i, fmt.Sprintf("%d: %s %d", e+1, opNames[o.kind], o.x)})
		}
		if stuck && w.err == nil && !w.over() {
			w.fail("some wait for ever")
		}
		if w.err != nil {
			var way []string
			for k := i; k > 0; k = nodes[k].from {
				way = append(way, nodes[k].by)
			}
			slices.Reverse(way)
			return len(nodes), fmt.Errorf("%v: %w\n%s", programs, w.err, strings.Join(way, "\n"))
		}
		nodes[i].w = nil
	}
	return len(nodes), nil
}

// runWords performs one random schedule.
func runWords(rng *rand.Rand, start Word, broken string, programs ...wordProgram) error {
	w := newWordWorld(start, broken, programs...)
	for {
		k, moved := rng.IntN(len(programs)), false
		for i := range programs {
			if e := (k + i) % len(programs); w.able(e) {
				w.step(e)
				moved = true
				break
			}
		}
		if !moved && !w.over() {
			w.fail("some wait for ever")
		}
		if !moved || w.err != nil {
			return w.err
		}
	}
}

func TestWordsAndQueuesNeverDisagreeInPairs(t *testing.T) {
	total := 0
	for _, list := range [][]wordProgram{actorPrograms, virtualPrograms} {
		for i, a := range list {
			for _, b := range list[i:] {
				for _, start := range []Word{0, spread} {
					n, err := exploreWords(start, "", a, b)
					if total += n; err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	t.Log(total, "states")
}

func TestWordsAndQueuesNeverDisagreeInTriples(t *testing.T) {
	var all [][]wordProgram
	for _, list := range [][]wordProgram{actorPrograms, virtualPrograms} {
		for i, a := range list {
			for j, b := range list[i:] {
				for _, c := range list[i+j:] {
					all = append(all, []wordProgram{a, b, c})
				}
			}
		}
	}
	if *wordTriples > 0 {
		rng := rand.New(rand.NewPCG(1, 2))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:*wordTriples]
	}
	total, most := 0, 0
	for i, list := range all {
		n, err := exploreWords(spread*Word(i%2), "", list...)
		if total, most = total+n, max(most, n); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(len(all), "sets,", total, "states, at most", most)
}

func TestWordsAndQueuesNeverDisagreeInCrowds(t *testing.T) {
	const runs = 30_000
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 3))
		list := [][]wordProgram{actorPrograms, virtualPrograms}[seed%2]
		programs := make([]wordProgram, 3+rng.IntN(5))
		for i := range programs {
			programs[i] = list[rng.IntN(len(list))]
		}
		if err := runWords(rng, spread*Word(seed/2%2), "", programs...); err != nil {
			t.Fatalf("seed %d: %v: %v", seed, programs, err)
		}
	}
}

// wordBugs are bugs of the driver, each with the events whose exploration must find it.
var wordBugs = []struct {
	name     string
	programs []wordProgram
}{
	{"sleep: the last holder to leave wakes no entry", []wordProgram{actorPrograms[0], actorPrograms[13]}},
	{"order: children are enqueued on one by one", []wordProgram{virtualPrograms[0], virtualPrograms[0], virtualPrograms[9]}},
	{"keep: what was joined is kept while the rest is waited for", []wordProgram{virtualPrograms[0], virtualPrograms[5]}},
	{"hoard: a reader that shares keeps what it joined while it waits for the rest", []wordProgram{actorPrograms[17], actorPrograms[9], actorPrograms[7]}},
	{"nogate: the gate is never set", []wordProgram{actorPrograms[1], actorPrograms[13]}},
	{"unseen: holders that left before the gate was set are missed", []wordProgram{actorPrograms[1], actorPrograms[13]}},
	{"forget: a slot is not looked at when readers are called in", []wordProgram{actorPrograms[0], actorPrograms[1], actorPrograms[19]}},
	{"blind: a reader in a slot does not look whether the word is spread still", []wordProgram{actorPrograms[0], actorPrograms[1], actorPrograms[19]}},
	{"lost: a reader that was called in before it has looked takes itself for none", []wordProgram{actorPrograms[0], actorPrograms[13], actorPrograms[19]}},
	{"late: readers are counted after the latch was used", []wordProgram{actorPrograms[0], actorPrograms[13], actorPrograms[19]}},
	{"store: the gate is stored, not swapped", []wordProgram{actorPrograms[0], actorPrograms[13]}},
}

func TestBugsOfWordsAreCaught(t *testing.T) {
	for _, bug := range wordBugs {
		name, _, _ := strings.Cut(bug.name, ":")
		n, err := exploreWords(0, name, bug.programs...)
		if err == nil {
			t.Errorf("%s: missed in %d states", bug.name, n)
			continue
		}
		t.Logf("%s: %v", bug.name, err)
	}
}
