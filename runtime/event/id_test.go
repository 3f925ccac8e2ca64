package event

import "testing"

func TestDerivedIdsAreDeterministicAndDistinct(t *testing.T) {
	seen := map[EventID]bool{}
	add := func(id EventID) {
		if seen[id] {
			t.Fatalf("%v occurs twice", id)
		}
		seen[id] = true
	}
	for client := uint64(1); client <= 20; client++ {
		for seq := uint64(1); seq <= 50; seq++ {
			id := EventID{Origin: client, Seq: seq}
			add(id)
			for k := range 20 {
				c := id.Child(k)
				if c != id.Child(k) {
					t.Fatal("a repeated attempt gives other ids")
				}
				add(c)
				add(c.Child(k))
			}
		}
	}
	for actor := uint64(0); actor < 50; actor++ {
		for tick := uint64(0); tick < 50; tick++ {
			add(SerialActor(3, actor).TimerEvent(actor%7, tick))
		}
	}
}

func TestNamedActorsAreToldFromCountedOnes(t *testing.T) {
	a, b := NamedActor("bank.Bank", "main", 0, Partitions), NamedActor("bank.Bank", "other", 0, Partitions)
	if a == b || !a.Named() || a.Birth >= Partitions || a != NamedActor("bank.Bank", "main", 0, Partitions) {
		t.Errorf("ids %v, %v", a, b)
	}
	if NamedActor("ab", "c", 0, 64) == NamedActor("a", "bc", 0, 64) {
		t.Error("class and name run together")
	}
	if SerialActor(1, 1<<63|5).Named() {
		t.Error("a counted actor looks like a named one")
	}
}
