package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aeon-lang/aeon/bench/load"
)

// contender is a system that a row opens only if it is to be measured.
type contender struct {
	name string
	open func() (load.System, error)
}

// opened makes contenders of systems that are open already.
func opened(systems ...load.System) []contender {
	var all []contender
	for _, s := range systems {
		all = append(all, contender{s.Name, func() (load.System, error) { return s, nil }})
	}
	return all
}

// open opens the contenders whose name contains only, under their names.
func open(all []contender, only string) (systems []load.System, err error) {
	for _, c := range all {
		if !strings.Contains(c.name, only) {
			continue
		}
		s, err := c.open()
		if err != nil {
			for _, s := range systems {
				if s.Close != nil {
					s.Close()
				}
			}
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		s.Name = c.name
		systems = append(systems, s)
	}
	if len(systems) == 0 && only == "" {
		return nil, errors.New("a row without systems")
	}
	return systems, nil
}
