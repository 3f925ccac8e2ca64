package watch

import (
	"testing"
	"time"
)

// A follower gets what its filter wants, in order; what it does not take in time is dropped and counted, and others lose nothing.
func TestFollowersGetWhatTheyWant(t *testing.T) {
	var h Hub
	if h.Followed() {
		t.Fatal("there is a follower")
	}
	all, slow := h.Follow(Filter{}), h.Follow(Filter{Slow: time.Second})
	failed, shop := h.Follow(Filter{Failed: true, Class: "Shop"}), h.Follow(Filter{Actor: "Shop/a"})
	tell := func(kind, actor, class string, took float64) {
		h.Tell(Line{Kind: kind, Actor: "Shop/a", Took: took, Event: actor}, class)
	}
	tell(Issued, "1", "Shop", 0)
	tell(Committed, "1", "Shop", 2)
	tell(Undone, "2", "Cart", 0.5)
	tell(Undone, "3", "Shop", 1)
	for _, c := range []struct {
		f    *Follower
		want string
	}{{all, "1123"}, {slow, "13"}, {failed, "3"}, {shop, "1123"}} {
		got := ""
		for len(c.f.Lines()) > 0 {
			got += (<-c.f.Lines()).Event
		}
		if got != c.want || c.f.Dropped() != 0 {
			t.Errorf("%+v gets %q, want %q", c.f.filter, got, c.want)
		}
	}
	for range lines + 3 {
		tell(Committed, "4", "Shop", 2)
		<-slow.Lines()
	}
	if n := all.Dropped(); n != 3 || len(all.Lines()) != lines || all.Dropped() != 0 || slow.Dropped() != 0 {
		t.Errorf("%d lines were dropped, %d wait", n, len(all.Lines()))
	}
	for _, f := range []*Follower{all, slow, failed, shop} {
		if !h.Followed() {
			t.Error("a follower is forgotten")
		}
		f.Close()
		f.Close()
	}
	if h.Followed() {
		t.Error("a follower that has ended is followed")
	}
}
