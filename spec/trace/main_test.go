package trace

import "flag"

var long = flag.Bool("long", false, "run the long tests: more programs, more events, more histories")
