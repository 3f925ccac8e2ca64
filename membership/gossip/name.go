package gossip

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/aeon-lang/aeon/runtime/event"
)

// name returns what a node is called in the gossip.
func name(n event.NodeID, incarnation uint64) string { return fmt.Sprintf("%d-%x", n, incarnation) }

// parseName reads what name has returned; ok is false if it is none.
func parseName(text string) (n event.NodeID, incarnation uint64, ok bool) {
	node, rest, ok := strings.Cut(text, "-")
	id, err := strconv.ParseUint(node, 10, 64)
	incarnation, err2 := strconv.ParseUint(rest, 16, 64)
	n = event.NodeID(id)
	return n, incarnation, ok && err == nil && err2 == nil && id != 0 && name(n, incarnation) == text
}

// metaFormat begins what a node says of itself.
const metaFormat = 1

// encodeMeta returns what a node says of itself: the address at which it is reached, as it was configured, and its load.
func encodeMeta(address string, load []byte) []byte {
	b := binary.AppendUvarint([]byte{metaFormat}, uint64(len(address)))
	return append(append(b, address...), load...)
}

// decodeMeta reads what encodeMeta has written. What is of another version says nothing.
func decodeMeta(b []byte) (address string, load []byte, ok bool) {
	if len(b) == 0 || b[0] != metaFormat {
		return "", nil, false
	}
	size, n := binary.Uvarint(b[1:])
	if n <= 0 || size > uint64(len(b)-1-n) {
		return "", nil, false
	}
	b = b[1+n:]
	return string(b[:size]), append([]byte(nil), b[size:]...), true
}
