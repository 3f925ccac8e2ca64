// Package settings has the flags with which a program, and the tools that start
// programs, are told where state is kept.
package settings

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aeon-lang/aeon/internal/cmdline"
	"github.com/aeon-lang/aeon/runtime/store"
)

// State says where a program keeps its state. The zero value keeps it in memory.
type State struct {
	Dir        string // the data directory; "": none
	Durability store.Durability
	MemoryMax  int64 // bytes of actors' state kept in memory; 0: as much as there is

	Snapshots     string        // where snapshots go; "": none are taken
	SnapshotActor string        // what they are of, as the flag says it; "": everything
	SnapshotEvery time.Duration // and how often
	SnapshotKeep  int           // how many are kept

	DropFields []store.Part // of which the stored values may be lost

	mode, memory, every, keep, drop string // as given, "" if not

	flags *flag.FlagSet
}

// flagNames are the names that Flags declares.
var flagNames = []string{"data", "durability", "memory", "snapshots", "snapshot-actor", "snapshot-every", "snapshot-keep", "drop-fields"}

// Flags declares the flags.
func (s *State) Flags(fs *flag.FlagSet) {
	s.flags = fs
	fs.StringVar(&s.Dir, "data", "", "keep state in the directory `DIR`, and go on with what is there")
	fs.StringVar(&s.mode, "durability", "", "what an answer waits for, a `MODE`: sync (default with --data), relaxed=10ms or memory")
	fs.StringVar(&s.memory, "memory", "", "with --data: bring back from disk what does not fit in `SIZE`, as in 512MB or 2GiB")
	fs.StringVar(&s.Snapshots, "snapshots", "", "with --data: take snapshots, and keep them at `PLACE`, a directory or s3://BUCKET/PREFIX")
	fs.StringVar(&s.SnapshotActor, "snapshot-actor", "", "with --snapshots: only of this `ACTOR` and what it owns; CLASS/NAME, or CLASS:ID as a trace shows an actor without a name")
	fs.StringVar(&s.every, "snapshot-every", "", "with --snapshots: how often, a `TIME` of 1s or more, as in 15m; 1h if not given")
	fs.StringVar(&s.keep, "snapshot-keep", "", "with --snapshots: how many, a `NUMBER`; 24 if not given")
	fs.StringVar(&s.drop, "drop-fields", "", "with --data: give up what is stored in these `FIELDS`, which the program does not have, as in shop.Item.color,shop.Entry.note")
}

// Among reports whether one of the flags is among unparsed arguments.
func Among(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, isFlag := strings.CutPrefix(a, "-")
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "-"), "=")
		return isFlag && IsFlag(name)
	})
}

// IsFlag reports whether one of the types of this package declares a flag of this name.
func IsFlag(name string) bool {
	return slices.Contains(flagNames, name) || slices.Contains(listenNames, name) || slices.Contains(spanNames, name) || slices.Contains(clusterNames, name)
}

// Check fills in the fields from the flags that were parsed. Its error is one of usage.
func (s *State) Check() (err error) {
	if s.flags != nil {
		if err := cmdline.NotEmpty(s.flags, flagNames...); err != nil {
			return err
		}
	}
	s.Durability = store.Sync()
	if s.Dir == "" {
		s.Durability = store.InMemory()
	}
	if s.mode != "" {
		if s.Durability, err = parseMode(s.mode); err != nil {
			return fmt.Errorf("--durability: %w", err)
		}
	}
	switch {
	case s.Dir != "" && s.Durability.Memory():
		return errors.New("--durability memory writes nothing, so what is in --data would be out of date; leave out one of the two")
	case s.Dir == "" && !s.Durability.Memory():
		return fmt.Errorf("--durability %s needs a directory to write to; name it with --data", s.mode)
	case s.Dir == "" && s.memory != "":
		return errors.New("--memory needs a directory from which state can be brought back; name it with --data")
	case s.memory != "":
		if s.MemoryMax, err = ParseSize(s.memory); err != nil {
			return fmt.Errorf("--memory: %w", err)
		}
		if s.MemoryMax < memoryMin {
			return fmt.Errorf("--memory: %s is too little to work with; at least 1MB", s.memory)
		}
	}
	switch {
	case s.Dir == "" && s.drop != "":
		return errors.New("--drop-fields gives up what is stored in a directory; name it with --data")
	case s.drop != "":
		if s.DropFields, err = store.ParseFields(s.drop); err != nil {
			return fmt.Errorf("%s: %w", store.DropFlag, err)
		}
	}
	return s.checkSnapshots()
}

func (s *State) checkSnapshots() (err error) {
	s.SnapshotEvery, s.SnapshotKeep = snapshotEvery, snapshotKeep
	switch {
	case s.Snapshots == "" && s.SnapshotActor != "":
		return errors.New("--snapshot-actor needs --snapshots PLACE, which says where they go")
	case s.Snapshots == "" && s.every != "":
		return errors.New("--snapshot-every needs --snapshots PLACE, which says where they go")
	case s.Snapshots == "" && s.keep != "":
		return errors.New("--snapshot-keep needs --snapshots PLACE, which says where they go")
	case s.Snapshots != "" && s.Dir == "":
		return errors.New("--snapshots copies what is in a directory; name it with --data")
	case s.Snapshots != "" && Within(s.Snapshots, s.Dir):
		return fmt.Errorf("--snapshots: %s is in the data directory %s, and would be lost with it; name another place", s.Snapshots, s.Dir)
	}
	if s.every != "" {
		if s.SnapshotEvery, err = time.ParseDuration(s.every); err != nil || s.SnapshotEvery < time.Second {
			return fmt.Errorf("--snapshot-every: %q is no time, or shorter than a second; write 15m or 1h", s.every)
		}
	}
	if s.keep != "" {
		if s.SnapshotKeep, err = strconv.Atoi(s.keep); err != nil || s.SnapshotKeep < 1 {
			return fmt.Errorf("--snapshot-keep: %q is no number from 1 on", s.keep)
		}
	}
	return nil
}

// parseMode reads a mode; relaxed alone stands for the usual time.
func parseMode(text string) (store.Durability, error) {
	if text == "relaxed" {
		text = relaxedUsual
	}
	return store.ParseDurability(text)
}

const (
	relaxedUsual = "relaxed=10ms"
	memoryMin    = 1_000_000

	snapshotEvery = time.Hour
	snapshotKeep  = 24
)

// Arguments returns the flags as they are to be passed on.
func (s *State) Arguments() []string {
	var args []string
	for i, value := range []string{s.Dir, s.mode, s.memory, s.Snapshots, s.SnapshotActor, s.every, s.keep, s.drop} {
		if value != "" {
			args = append(args, "--"+flagNames[i], value)
		}
	}
	return args
}
