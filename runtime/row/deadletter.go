package row

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/aeon-lang/aeon/runtime/event"
	"github.com/aeon-lang/aeon/runtime/store"
)

// DeadLetterKeyMin is how many bytes the key of a dead letter has behind its section.
const DeadLetterKeyMin = 8

// AppendDeadLetterKey appends the key of a dead letter.
func AppendDeadLetterKey(k []byte, p event.PartitionID, seq uint64) []byte {
	return store.AppendSerial(store.AppendSection(k, p, store.DeadLetters), seq)
}

// ReadDeadLetterKey reads the part of such a key behind its section.
func ReadDeadLetterKey(rest []byte) (seq uint64) { return binary.BigEndian.Uint64(rest) }

// AppendDeadLetter appends the payload of a dead letter. Its count of dropped letters comes first, so that it is found without
// the rest.
func AppendDeadLetter(b []byte, l *event.DeadLetter) []byte {
	b = binary.AppendUvarint(b, l.Dropped)
	b = binary.AppendVarint(b, l.At)
	b = AppendEvent(b, l.Event)
	b = append(b, byte(l.Kind))
	for _, text := range []string{l.Issuer, l.Target, l.Class, l.Method, l.Signature, l.Failure} {
		b = AppendText(b, text)
	}
	b = AppendBool(b, l.Fault)
	b = appendTexts(b, l.Params)
	b = appendTexts(b, l.Path)
	b = binary.AppendUvarint(b, uint64(l.ArgsSize))
	return append(b, l.Args...)
}

// ReadDeadLetter reads the row of a dead letter, by the part of its key behind the section. The arguments are part of the payload.
func ReadDeadLetter(p event.PartitionID, rest, payload []byte) (l event.DeadLetter, err error) {
	in := Read(payload)
	l = event.DeadLetter{Partition: p, Seq: ReadDeadLetterKey(rest), Dropped: in.Uint(), At: in.Int(), Event: in.Event(), Kind: event.LetterKind(in.Byte())}
	for _, text := range []*string{&l.Issuer, &l.Target, &l.Class, &l.Method, &l.Signature, &l.Failure} {
		*text = in.Text()
	}
	l.Fault = in.Bool()
	l.Params, l.Path = in.texts(), in.texts()
	l.ArgsSize = int(in.Uint())
	l.Args = in.Rest()
	return l, in.End()
}

// DeadLetters reads the dead letters of all partitions of a view, the oldest first. A damaged row is an error.
func DeadLetters(view store.Reader, partitions int) (list []event.DeadLetter, err error) {
	for p := range partitions {
		p := event.PartitionID(p)
		err := Section(view, p, store.DeadLetters, DeadLetterKeyMin, func(key, rest, _, payload []byte) error {
			l, err := ReadDeadLetter(p, rest, bytes.Clone(payload))
			list = append(list, l)
			return Damage(key, err)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(list, func(a, b event.DeadLetter) int { return cmp.Compare(a.Seq, b.Seq) })
	return list, nil
}

// DroppedLetters reads how many letters a store had dropped when it got the letter with this payload.
func DroppedLetters(payload []byte) (uint64, error) {
	in := Read(payload)
	n := in.Uint()
	in.Rest()
	return n, in.End()
}

func appendTexts(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, text := range list {
		b = AppendText(b, text)
	}
	return b
}

func (p *Reader) texts() (list []string) {
	for n := p.Uint(); n > 0 && !p.bad; n-- {
		list = append(list, p.Text())
	}
	return list
}
