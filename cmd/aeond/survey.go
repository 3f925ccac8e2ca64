package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aeon-lang/aeon/dominator"
	"github.com/aeon-lang/aeon/internal/cli"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/state/archive"
	"github.com/aeon-lang/aeon/runtime/store"
)

// rowsTold is how many rows are read from one report of progress to the next.
const rowsTold = 1000

// survey counts what is in a store.
type survey struct {
	env     *cli.Env
	from    store.Reader
	counts  map[store.Section]int
	layouts map[uint32]int    // actors by the layout in their headers
	names   map[uint32]string // classes by layout
	waiting map[uint32]*calls // by the number of their signatures
	methods []store.Signature // that the schema knows
	kept    []store.Part      // fields that the last program did not have
	rows    int
	damage  []*store.CorruptError
}

// calls are those of one signature that wait.
type calls struct {
	n     int
	first []byte // key
}

func newSurvey(env *cli.Env, from store.Reader) *survey {
	return &survey{env: env, from: from, counts: map[store.Section]int{}, layouts: map[uint32]int{}, names: map[uint32]string{}, waiting: map[uint32]*calls{}}
}

// row counts a row that is whole.
func (s *survey) row(key, payload []byte) {
	if s.rows++; s.rows%rowsTold == 0 {
		s.env.Doing("%d rows read", s.rows)
	}
	_, section, ok := store.SectionOf(key)
	if !ok {
		return
	}
	s.counts[section]++
	if number, has, _ := store.SignatureOf(section, payload); has {
		of := s.waiting[number]
		if of == nil {
			of = &calls{first: slices.Clone(key)}
			s.waiting[number] = of
		}
		of.n++
	}
	if section != store.Headers {
		return
	}
	var h row.Header
	err := h.Read(payload)
	switch {
	case err != nil:
		s.damaged(&store.CorruptError{Key: slices.Clone(key), Reason: err.Error()})
	case !h.Unborn:
		s.layouts[h.Layout]++
	}
}

func (s *survey) damaged(err *store.CorruptError) { s.damage = append(s.damage, err) }

// sections reads the sections that say what goes on when the program is started again.
func (s *survey) sections() error {
	partitions, err := store.PartitionsOf(s.from)
	for p := 0; p < partitions && err == nil; p++ {
		for _, section := range []store.Section{store.Headers, store.InDoubt, store.Continuations, store.Outbox, store.Timers, store.DeadLetters} {
			if err = store.VerifySection(s.from, event.PartitionID(p), section, s.row, s.damaged); err != nil {
				break
			}
		}
	}
	return err
}

// schema reads which class a layout is of, and which methods there are calls of.
func (s *survey) schema() error {
	schema, err := store.ReadSchema(s.from)
	if bad := new(store.CorruptError); errors.As(err, &bad) {
		return nil // the damaged row is known
	}
	if err != nil {
		return err
	}
	for layout := range s.layouts {
		_, s.names[layout] = schema.ByNumber(layout)
	}
	known := map[uint32]bool{}
	s.methods, s.kept = schema.Signatures(), schema.Kept()
	for _, m := range s.methods {
		known[m.Number] = true
	}
	for _, number := range slices.Sorted(maps.Keys(s.waiting)) {
		if !known[number] {
			s.damaged(&store.CorruptError{Key: s.waiting[number].first, Reason: fmt.Sprintf("its signature %d is not in the schema", number)})
		}
	}
	return nil
}

// ownership reads which actor owns which; a program reads that bit by bit while it runs.
// part says that there are other stores beside this one.
func (s *survey) ownership(part bool) error {
	_, err := archive.ReadOwnership(s.from, part)
	if bad := new(store.CorruptError); errors.As(err, &bad) {
		s.damaged(bad)
		return nil
	}
	if errors.Is(err, dominator.ErrRestore) {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return err
}

// population is how many actors of a class there are.
type population struct {
	name   string
	actors int
}

func (s *survey) classes() []population {
	sums := map[string]int{}
	for layout, n := range s.layouts {
		sums[cmp.Or(s.names[layout], "of a class that the schema does not know")] += n
	}
	var list []population
	for name, n := range sums {
		list = append(list, population{name, n})
	}
	slices.SortFunc(list, func(a, b population) int { return cmp.Compare(a.name, b.name) })
	return list
}
