package node

import (
	"fmt"
	"strings"

	aeonrt "github.com/aeon-lang/aeon/runtime"
	"github.com/aeon-lang/aeon/runtime/span"
	"github.com/aeon-lang/aeon/runtime/span/collector"
)

// openSpans opens the place of --spans: a collector, or a file.
func openSpans(place string) (p aeonrt.SpanPlace, err error) {
	if p.Service, p.Further, err = collector.Resource(); err != nil {
		return p, err
	}
	switch {
	case collector.IsURL(place):
		c, err := collector.Open(place)
		if err != nil {
			return p, err
		}
		p.Sink, p.Close = c, c.Close
	case strings.Contains(place, "://"):
		return p, fmt.Errorf("--spans: %s is neither a file nor http:// or https://", place)
	default:
		f, err := span.OpenFile(place)
		if err != nil {
			return p, err
		}
		p.Sink, p.Close = &span.Lines{To: f}, f.Close
	}
	return p, nil
}
