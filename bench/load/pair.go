package load

import "math/rand/v2"

// Accounts is the number of accounts of the transfer workload, HotAccounts of
// which are hot.
const (
	Accounts    = 10_000
	HotAccounts = 10
)

// Pair draws two different accounts. With hot, both are among the first
// HotAccounts with probability 0.9.
func Pair(r *rand.Rand, hot bool) (from, to int) {
	n := Accounts
	if hot && r.IntN(10) != 0 {
		n = HotAccounts
	}
	from = r.IntN(n)
	to = r.IntN(n - 1)
	if to >= from {
		to++
	}
	return from, to
}
