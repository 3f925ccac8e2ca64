package pebbledb

import "hash/maphash"

// keys are the hashes of the keys that a batch changes.
type keys struct {
	hashes []uint16
	ranges bool // there are ranges, too, whose keys are not known
}

var keySeed = maphash.MakeSeed()

func keyHash(key []byte) uint16 { return uint16(maphash.Bytes(keySeed, key)) % keyBits }

func (k *keys) add(key []byte) { k.hashes = append(k.hashes, keyHash(key)) }

// keysKept is of how many hashes the room is kept for reuse.
const keysKept = 1024

func (k *keys) clear() {
	if k.hashes, k.ranges = k.hashes[:0], false; cap(k.hashes) > keysKept {
		k.hashes = nil
	}
}

// keyBits is how many hashes there are: some ten times the rows of a group.
const keyBits = 8 << 10

// keySet is a set of hashes of keys.
type keySet struct {
	bits   [keyBits / 64]uint64
	ranges bool
}

func (s *keySet) add(k *keys) {
	for _, h := range k.hashes {
		s.bits[h/64] |= 1 << (h % 64)
	}
	s.ranges = s.ranges || k.ranges
}

// has reports whether a key may be in the set; it is not told if it is in a range only.
func (s *keySet) has(key []byte) bool {
	h := keyHash(key)
	return s.bits[h/64]&(1<<(h%64)) != 0
}
