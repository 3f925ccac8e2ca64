// Package parallel has more tests of a package run at once than there are processors, where they wait for other processes or for time.
package parallel

import (
	"flag"
	"strconv"
)

// Tests has up to n parallel tests run at once, unless the flag -parallel says how many. TestMain calls it before it runs the tests.
func Tests(n int) {
	flag.Parse()
	if limit := flag.Lookup("test.parallel"); limit.Value.String() == limit.DefValue {
		_ = limit.Value.Set(strconv.Itoa(n)) // a number is no error
	}
}
