package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/row"
	"github.com/aeon-lang/aeon/runtime/store"
)

// formerKey is a key of the former format: a section of partition 3, and what is behind it.
func formerKey(s store.Section, parts ...any) []byte {
	key := store.AppendSection(nil, 3, s)
	for _, part := range parts {
		switch part := part.(type) {
		case uint64:
			key = binary.BigEndian.AppendUint64(key, part)
		case uint16:
			key = binary.BigEndian.AppendUint16(key, part)
		case event.ActorID:
			key = store.AppendActor(key, part)
		case string:
			key = append(key, part...)
		}
	}
	return key
}

// Rows of each section of the former format become those of today.
func TestUpgradedRowsAreThoseOfToday(t *testing.T) {
	a, b := event.SerialActor(3, 77), event.NamedActor("shop.Shop", "main", 0, event.Partitions)
	request := event.Request{Session: "ann", Seq: 5, Target: a}
	keyed := event.Request{Session: "key of ann", Target: a}
	parent := event.EventID{Origin: 8, Seq: 9}
	timer := event.Timer{Parent: parent, Name: "hourly", Target: b, Every: time.Hour, Args: []byte("args")}
	due := int64(1_700_000_000_000_000_000)
	formerCall := row.AppendActor(row.AppendEvent(nil, parent), a)
	formerCall = append(row.AppendActor(row.AppendText(formerCall, timer.Name), b), binary.AppendVarint(nil, int64(timer.Every))...)
	formerCall = append(formerCall, timer.Args...)
	payload := []byte("a payload")
	type pair struct{ key, payload, wantKey, want []byte }
	as := func(key, want []byte) pair { return pair{key, payload, want, payload} }
	rows := []pair{
		{store.FormatKey(), []byte{store.UpgradableFormat}, store.FormatKey(), []byte{store.Format}},
		{nil, nil, store.NumberKey(), []byte{0}},
		as(store.MetaKey("partitions"), store.MetaKey("partitions")),
		{store.StartsKey(), []byte{4}, store.StartsKey(), binary.AppendUvarint(nil, 5<<10)},
		as(formerKey(store.Continuations, a.Serial, uint64(6)), row.AppendContinuationKey(nil, a, 6)),
		as(formerKey(store.Outcomes, a.Serial, uint16(3), "ann", uint64(5)), row.AppendOutcomeKey(nil, &request)),
		as(formerKey(store.Edges, a.Serial, b), row.AppendEdgeKey(nil, b, a)),
		as(formerKey(store.Headers, a.Serial), store.HeaderKey(a)),
		as(formerKey(store.Keyed, uint64(11), a.Serial, "key of ann"), row.AppendKeyedKey(nil, 11, &keyed)),
		as(formerKey(store.Names, "shop.Shop\x00main"), formerKey(store.Names, "shop.Shop\x00main")),
		as(formerKey(store.Outbox, a.Serial, b, uint64(12)), row.AppendOutboxKey(nil, a, b, 12)),
		{formerKey(store.Timers, uint64(due)^1<<63, uint64(13)), row.AppendTimer(nil, 2, 300, formerCall),
			row.AppendTimerKey(nil, a, due, 13), row.AppendTimer(nil, 2, 300, row.AppendTimerCall(nil, &timer))},
		as(formerKey(store.Fields, a.Serial, uint16(2), "e7"), append(store.AppendField(nil, a, 2), "e7"...)),
		as(formerKey(store.Sessions, "ann"), formerKey(store.Sessions, "ann")),
		as(formerKey(store.DeadLetters, uint64(14)), row.AppendDeadLetterKey(nil, 3, 14)),
		as(store.SchemaKey("shop.Shop"), store.SchemaKey("shop.Shop")),
	}
	source := RowSource(func(f func(key, row []byte) error) error {
		for _, r := range rows {
			if r.key == nil {
				continue // which is new
			}
			if err := f(r.key, store.AppendRow(nil, r.key, r.payload)); err != nil {
				return err
			}
		}
		return nil
	})
	i := 0
	check := func(key, value []byte) error {
		payload, err := store.Payload(key, value)
		if err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		if w := rows[i]; !bytes.Equal(key, w.wantKey) || !bytes.Equal(payload, w.want) {
			t.Errorf("row %x, %x\nbecame %x, %x\n  want %x, %x", w.key, w.payload, key, payload, w.wantKey, w.want)
		}
		i++
		return nil
	}
	if err := source.Upgraded()(check); err != nil || i != len(rows) {
		t.Fatalf("%d rows of %d, %v", i, len(rows), err)
	}
	// Those of today stay as they are.
	i = 0
	if err := RowSource(source.Upgraded()).Upgraded()(check); err != nil || i != len(rows) {
		t.Fatalf("%d rows of %d, %v", i, len(rows), err)
	}
}

// What the former format cannot have is damage, and names the row; a store that was opened too often is refused.
func TestUpgradeRefuses(t *testing.T) {
	for want, r := range map[string][2][]byte{
		"its key is too short":         {formerKey(store.Headers, "short"), nil},
		"its key is of another length": {formerKey(store.Timers, uint64(1)), nil},
		"it ends too early":            {formerKey(store.Timers, uint64(1), uint64(2)), []byte("no timer")},
		"the store was opened 8191 times, and can be upgraded after 8190 at most": {store.StartsKey(), binary.AppendUvarint(nil, 8191)},
	} {
		source := RowSource(func(f func(key, row []byte) error) error {
			key := store.FormatKey()
			return errors.Join(f(key, store.AppendRow(nil, key, []byte{store.UpgradableFormat})), f(r[0], store.AppendRow(nil, r[0], r[1])))
		})
		err := source.Upgraded()(func(_, _ []byte) error { return nil })
		if bad := new(store.CorruptError); !errors.As(err, &bad) || bad.Reason != want {
			t.Errorf("%x: %v, want %s", r[0], err, want)
		}
	}
}
