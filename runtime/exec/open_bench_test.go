package exec

import (
	"testing"
	"time"

	"github.com/aeon-lang/aeon/replica/replicatest"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// BenchmarkOpen opens a store of banks with 999 accounts each. Beside it, what reading its rows
// alone takes.
func BenchmarkOpen(b *testing.B) {
	const banks, accounts = 100, 999
	e := replicatest.New()
	st := openStore(b, e, nil)
	s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
	mustNot(b, err)
	cl := s.Client()
	for i := range banks {
		bk := bankRef{Named(cl, &classBank, "b"+itoa(i))}
		for j := range accounts {
			_, err := bk.Open(cl, "a"+itoa(j))
			mustNot(b, err)
		}
	}
	s.Close()
	mustNot(b, st.Close())
	var opened, scanned time.Duration
	for b.Loop() {
		e = e.Reopen()
		st := openStore(b, e, nil)
		begin := time.Now()
		for p := range st.Partitions() {
			it := st.Scan(store.SectionRange(event.PartitionID(p), store.Headers))
			for it.Next() {
				_, err := store.Payload(it.Key(), it.Value())
				mustNot(b, err)
			}
			mustNot(b, it.Close())
		}
		scanned += time.Since(begin)
		begin = time.Now()
		s, err := Recover(Config{Store: st, Classes: testClasses, Log: quiet})
		mustNot(b, err)
		opened += time.Since(begin)
		s.Close()
		mustNot(b, st.Close())
	}
	actors := float64(b.N * banks * (accounts + 1))
	b.ReportMetric(float64(opened.Nanoseconds())/actors, "ns/actor")
	b.ReportMetric(float64(scanned.Nanoseconds())/actors, "ns/row-read")
}
