package driver

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"sync"

	"github.com/aeon-lang/aeon/replica"
	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// A state on its way is its rows in order, each as the lengths of key and value (uvarints), the key and the value; then two zeros, and
// the CRC-32C of all before.

// rowMax is how long a key or a value of a state can be.
const rowMax = 1 << 30

// comingBatch is how many bytes of a state that comes are applied at once.
const comingBatch = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// coming is the state that another node sends.
type coming struct {
	mu    sync.Mutex
	busy  bool // one is being taken
	index uint64
	done  chan struct{} // of what is to replace the state; nil: nothing is
}

// send has a state sent with a message: the one that its engine has, which is at least as of the entry that raft was told of.
func (m *member) send(msg replica.Message) {
	d := m.of
	m.jobs.add(func() {
		m.taken()
		view, index := m.state.Snapshot()
		sent := func(ok bool) { d.loop.add(func() { d.core.Sent(msg, ok) }) }
		if index < msg.State() {
			_ = view.Close()
			sent(false)
			return
		}
		described := d.loop.add(func() {
			if !d.core.Describe(msg) {
				_ = view.Close()
				return
			}
			d.start(func() {
				err := d.cfg.SendState(context.Background(), msg.To(), msg.Encode(), func(w io.Writer) error { return writeState(w, view) })
				if closed := view.Close(); err == nil {
					err = closed
				}
				if err != nil {
					d.cfg.Logger.Warn("a state could not be sent", "group", m.id, "to", msg.To(), "error", err)
				}
				sent(err == nil)
			})
		})
		if !described {
			_ = view.Close()
		}
	})
}

// writeState writes all rows of a state.
func writeState(w io.Writer, view store.Snapshot) error {
	b := bufio.NewWriterSize(w, 256<<10)
	sum := crc32.New(castagnoli)
	to := io.MultiWriter(b, sum)
	it := view.Scan(nil, []byte{255, 255, 255, 255})
	var buf []byte
	var err error
	for err == nil && it.Next() {
		buf = binary.AppendUvarint(buf[:0], uint64(len(it.Key())))
		buf = binary.AppendUvarint(buf, uint64(len(it.Value())))
		buf = append(append(buf, it.Key()...), it.Value()...)
		_, err = to.Write(buf)
	}
	if closed := it.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	_, _ = to.Write([]byte{0, 0}) // the error stays in b
	_, _ = b.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	return b.Flush()
}

// TakeState takes a state that another node's SendState sends. It returns nil when the state has replaced the one of this node, or is not wanted.
func (d *Driver) TakeState(from event.NodeID, header []byte, r io.Reader) error {
	msg, err := replica.DecodeMessage(header)
	if err != nil {
		return err
	}
	if !msg.HasState() || msg.From() != from || msg.To() != d.cfg.Node {
		return errors.New("a state is announced by another message")
	}
	m := d.member(msg.Group)
	if m == nil {
		return ErrNoMember
	}
	c := &m.coming
	c.mu.Lock()
	busy := c.busy
	c.busy = true
	c.mu.Unlock()
	if busy {
		return errors.New("another state of the group is on its way to this node")
	}
	defer m.over()
	if err := m.receive(r); err != nil {
		return fmt.Errorf("a state of group %d from node %d: %w", m.id, from, err)
	}
	done := make(chan struct{})
	c.mu.Lock()
	c.index, c.done = msg.State(), done
	c.mu.Unlock()
	wanted := false
	if !d.ask(&d.loop, func() { wanted = d.core.Step(msg) }) {
		return ErrClosed
	}
	if wanted {
		d.cfg.Scheduler.Wait(done)
	}
	return nil
}

// receive writes what comes into an engine of its own, which is durable and closed when it returns.
func (m *member) receive(r io.Reader) (err error) {
	e, err := m.of.cfg.Disk.coming(m.id)
	if err != nil {
		return err
	}
	defer func() {
		if closed := e.Close(); err == nil {
			err = closed
		}
	}()
	if err := readState(r, e); err != nil {
		return err
	}
	return e.Sync()
}

// readState puts the rows that writeState has written into an engine.
func readState(r io.Reader, e store.Engine) error {
	in := &summing{in: bufio.NewReaderSize(r, 256<<10), sum: crc32.New(castagnoli)}
	b := e.NewBatch()
	var row []byte
	for {
		key, err := in.length()
		if err != nil {
			return err
		}
		value, err := in.length()
		if err != nil {
			return err
		}
		if key == 0 {
			break
		}
		if row, err = in.bytes(row[:0], key+value); err != nil {
			return err
		}
		b.Set(row[:key], row[key:])
		if b.Size() >= comingBatch {
			if err := e.Apply(b); err != nil {
				return err
			}
			b = e.NewBatch()
		}
	}
	want := in.sum.Sum32()
	var got [4]byte
	if _, err := io.ReadFull(in.in, got[:]); err != nil {
		return ended(err)
	}
	if binary.BigEndian.Uint32(got[:]) != want {
		return errors.New("the state has changed on its way")
	}
	return e.Apply(b)
}

// summing reads the parts of a state and sums them.
type summing struct {
	in  *bufio.Reader
	sum hash.Hash32
}

// ReadByte implements io.ByteReader.
func (s *summing) ReadByte() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		_, _ = s.sum.Write([]byte{c})
	}
	return c, err
}

func (s *summing) length() (int, error) {
	n, err := binary.ReadUvarint(s)
	if err != nil {
		return 0, ended(err)
	}
	if n > rowMax {
		return 0, fmt.Errorf("a row has %d bytes", n)
	}
	return int(n), nil
}

// bytes appends n bytes to b. It asks for no more memory than twice what has come.
func (s *summing) bytes(b []byte, n int) ([]byte, error) {
	for n > 0 {
		k := min(n, max(64<<10, len(b)))
		from := len(b)
		b = append(b, make([]byte, k)...)
		if _, err := io.ReadFull(s.in, b[from:]); err != nil {
			return b, ended(err)
		}
		_, _ = s.sum.Write(b[from:])
		n -= k
	}
	return b, nil
}

// ended says that a state ends early, if it does.
func ended(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the state ends early")
	}
	return err
}

// hasCome reports whether the state as of index has come from another node and is to replace that of the group.
func (m *member) hasCome(index uint64) bool {
	c := &m.coming
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done != nil && c.index == index
}

// judged says that the state that has come has replaced that of the group, or never will.
func (m *member) judged() {
	c := &m.coming
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done != nil {
		close(c.done)
	}
	c.index, c.done = 0, nil
}

// over ends the taking of a state.
func (m *member) over() {
	m.judged()
	c := &m.coming
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
}
