package door

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/door"
	"github.com/aeon-lang/aeon/runtime/door/httpdoor"
	"github.com/aeon-lang/aeon/runtime/watch"
	"github.com/aeon-lang/aeon/sim/door/shop"
)

// A follower that reads nothing delays no event. It loses what does not fit, and a line tells how much that was: no event is neither
// told nor counted. From then on it gets all again.
func TestAFollowerThatReadsNothing(t *testing.T) {
	s := open(t, &shop.AeonPackage)
	cfg := httpdoor.Config{Control: true, Program: "shop"}
	cfg.Log, cfg.Door = discard, s.door
	listener := &pipes{made: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: httpdoor.New(cfg).Handler()}
	served := make(chan error)
	go func() { served <- server.Serve(listener) }() // ends with the server
	defer func() {
		_ = server.Close() // the connection of the test is all it has
		<-served
	}()
	mine, its := net.Pipe()
	defer mine.Close()
	listener.made <- its
	if _, err := io.WriteString(mine, "GET "+httpdoor.EventsPath+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(mine), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", answer, err)
	}
	class, err := s.door.Class("Shop")
	if err != nil {
		t.Fatal(err)
	}
	method, err := class.Method("count")
	if err != nil {
		t.Fatal(err)
	}
	target, err := s.door.Actor(t.Context(), class, "main")
	if err != nil {
		t.Fatal(err)
	}
	args, err := method.Params.Read([]byte("{}"), s.door.Names(t.Context(), ""))
	if err != nil {
		t.Fatal(err)
	}
	perform := func(events int) {
		t.Helper()
		done := make(chan error, 1)
		go func() { // ends with the events
			for range events {
				if _, err := s.door.Call(t.Context(), &door.Call{Target: target, Method: method, Args: args}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("events wait for a follower that does not read")
		}
	}
	const events = 6000 // two lines each: more than wait for a follower
	perform(events)
	lines := json.NewDecoder(answer.Body)
	told, lost, last := uint64(0), uint64(0), time.Time{}
	read := func(want uint64) {
		t.Helper()
		if err := mine.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		for told+lost < want {
			var l watch.Line
			if err := lines.Decode(&l); err != nil {
				t.Fatal(err)
			}
			switch {
			case l.Kind == watch.Dropped:
				lost += l.Count
				continue
			case l.Time.Before(last), l.Actor != "Shop/main", l.Method != "count":
				t.Fatalf("after %d lines comes %+v, and %v before", told, l, last)
			}
			told, last = told+1, l.Time
		}
		if told+lost != want {
			t.Fatalf("%d lines are told, %d are lost, and there were %d", told, lost, want)
		}
	}
	read(2 * events)
	if told < 4096 || lost == 0 {
		t.Errorf("%d lines are told, %d are lost", told, lost)
	}
	before := lost
	perform(100)
	read(2*events + 200)
	if lost != before {
		t.Errorf("%d lines are lost, though the follower reads", lost-before)
	}
	t.Logf("%d lines told, %d lost", told, lost)
}
