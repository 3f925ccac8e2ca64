package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// labels are members that the check does not look at: a mutant that differs in them tells of the same run.
var labels = map[string]string{
	"header program": "a name", "header test": "a name", "header seed": "a label", "header started": "a label", "header states": "a label",
	"event attempt": "how often it was withdrawn is not checked", "event method": "a name", "event abort": "a text", "event position": "the place in the journal",
	"event batch": "counts only where a process was killed", "callback callback": "a name",
	"header store": "the section of another store, whose runs before are elsewhere", "header run": "a run of the store whose runs before are elsewhere",
	"header recovered": "events of the run before that have gone, or were not traced",
	"answers answers":  "an answer that has not left forbids less",
}

// fieldMutants changes each member of each record, and leaves it out.
func (r *recording) fieldMutants() (list []mutant) {
	for i, l := range r.lines {
		what := map[string]string{"trace": "header", "order": "event"}[l.first]
		if what == "" {
			what = l.first
		}
		for _, key := range slices.Sorted(maps.Keys(l.members)) {
			name := what + " " + key
			if l.has("kind") && key != "kind" {
				name = what + " " + key + " of a " + l.str("kind")
			}
			edits := r.edits(i, key)
			for _, how := range slices.Sorted(maps.Keys(edits)) { // the same mutants each time
				edit := edits[how]
				harmless := r.harmless(i, what, key, how)
				how = strings.TrimRight(how, " 0123456789")
				list = append(list, mutant{how + ": " + name, harmless, r.edited(i, edit)})
			}
		}
	}
	return list
}

// edits returns what can be done to a member, by name.
func (r *recording) edits(i int, key string) map[string]func(line) {
	l := r.lines[i]
	edits := map[string]func(line){}
	if key != l.first || !l.is("order") {
		edits["drop"] = func(l line) { delete(l.members, key) }
	}
	change := func(how string, to any) { edits[how] = func(l line) { l.set(key, to) } }
	switch v := l.members[key].(type) {
	case json.Number:
		change("raise", numeral(number(v)+1))
		change("raise far", numeral(number(v)+1<<50))
		if number(v) > 0 {
			change("lower", numeral(number(v)-1))
			change("lower far", numeral(0))
		}
	case bool:
		change("flip", !v)
	case string:
		change("rename", "no such thing")
		switch key {
		case "event", "parent":
			change("rename", "1-dddd")
			for _, id := range slices.Sorted(maps.Keys(r.byID)) {
				if id != v {
					change("take another", id)
				}
			}
		case "kind":
			for _, k := range []string{"client", "sub", "tail", "timer"} {
				if k != v {
					change("make it a "+k, k)
				}
			}
		case "target", "issuer":
			for _, actor := range slices.Sorted(maps.Keys(r.access)) {
				if !slices.Contains(r.access[actor], i) && !slices.Contains(r.access[actor], r.parentOf(i)) {
					change("take another", actor)
				}
			}
		}
	case []any:
		for k, item := range v {
			inside := func(how string, edit func(list []any) []any) {
				edits[fmt.Sprintf("%s %d", how, k)] = func(l line) { l.set(key, edit(l.list(key))) }
			}
			inside("leave out", func(list []any) []any { return slices.Delete(list, k, k+1) })
			inside("double", func(list []any) []any { return slices.Insert(list, k, list[k]) })
			switch item := item.(type) {
			case json.Number:
				inside("change", func(list []any) []any { list[k] = numeral(number(list[k]) + 1); return list })
			case []any:
				for n, part := range item {
					at := fmt.Sprintf("change part %d of", n)
					if _, ok := part.(json.Number); ok {
						inside(at, func(list []any) []any { p := list[k].([]any); p[n] = numeral(number(p[n]) + 1); return list })
						continue
					}
					inside(at, func(list []any) []any { p := list[k].([]any); p[n] = "ff"; return list })
				}
			case map[string]any:
				for m, part := range item {
					to := map[bool]any{true: "no such thing", false: numeral(1 << 41)}[m != "set"]
					if _, ok := part.(bool); ok {
						to = false
					}
					inside("change "+m+" of", func(list []any) []any { list[k].(map[string]any)[m] = to; return list })
				}
			}
		}
	}
	return edits
}

// parentOf returns the line of the event that the record of line i comes from, -1 if there is none.
func (r *recording) parentOf(i int) int {
	if at, ok := r.byID[r.lines[i].str("parent")]; ok {
		return at
	}
	return -1
}

// harmless says why a mutant is the trace of a sound run, "" if it is not.
func (r *recording) harmless(i int, what, key, how string) string {
	l := r.lines[i]
	name := what + " " + key
	if why := labels[name]; why != "" {
		return r.spoilt(i, name, how, why)
	}
	item := -1
	if at := strings.LastIndexByte(how, ' '); at > 0 {
		if _, err := fmt.Sscanf(how[at:], " %d", &item); err != nil {
			item = -1
		}
	}
	switch name {
	case "header trace":
		if how == "lower" {
			return "an older version promises less"
		}
	case "end end":
		return "a section that was interrupted promises less"
	case "event event":
		if how == "rename" && len(r.children[l.str("event")]) == 0 && !r.timed(i) {
			return "an id is a name, and nothing refers to this one"
		}
	case "event issued":
		return "an event that its client awaited may have the same record"
	case "event client":
		if how != "drop" && how != "lower far" {
			return "whose event it is matters to the order of that client alone"
		}
	case "callback client":
		if !l.has("parent") {
			return "posted by a client, to anybody"
		}
	case "event kind":
		p := r.parentOf(i)
		switch {
		case how == "make it a tail" && p >= 0 && l.num("index") == r.lines[p].num("subs") && l.str("issuer") == r.lines[p].str("target") && !r.lines[p].has("keeps") && l.str("kind") == "sub":
			return "the last sub-event, by the actor that the event was called on, may be a step"
		case how == "make it a sub" && p >= 0 && !r.lines[p].has("keeps") && l.str("kind") == "tail":
			return "a step on another actor waits its turn as a sub-event does"
		}
	case "event target", "event reads", "event writes":
		return r.harmlessAccess(i, key, how, item)
	case "event start":
		if strings.HasPrefix(how, "lower") || how == "drop" {
			if p := r.parentOf(i); p < 0 || how == "lower" && l.num("start")-1 > r.lines[p].num("order") {
				return "it was issued earlier, which forbids less"
			}
		}
		if how == "raise" {
			return "it was issued a moment later, before any answer in between"
		}
	case "callback start":
		if p := r.parentOf(i); p < 0 || how != "lower far" && how != "drop" {
			return "when exactly a callback ran is no matter of order"
		}
	case "event keeps":
		return "to keep an actor is a promise; without it there are more orders"
	case "event callbacks":
		if item >= 0 && r.gone[l.list("callbacks")[item].(json.Number)] && !r.ran[l.str("event")+fmt.Sprint(item+1)] {
			return "the callback of a client that has gone was dropped"
		}
	case "event timers":
		return r.harmlessTimer(i, how, item)
	case "event timer":
		return ""
	case "gone gone":
		return "no callback was dropped, or it is told by the count of those that are missing"
	}
	return ""
}

// spoilt returns why, unless the mutant of a label is one that is no trace at all, or must be refused for another reason.
func (r *recording) spoilt(i int, name, how, why string) string {
	l := r.lines[i]
	switch {
	case name == "answers answers" && !strings.HasPrefix(how, "leave out") && how != "drop":
		if strings.HasPrefix(how, "change part 1") {
			return "an answer that left a moment later forbids less"
		}
		return ""
	case name == "event abort" && how == "drop" && l.str("kind") == "timer":
		return ""
	case name == "callback callback" && how == "drop":
		return ""
	}
	return why
}

// timed reports whether the event of line i has set a timer that has fired.
func (r *recording) timed(i int) bool {
	for _, o := range r.lines[i].list("timers") {
		if n, ok := o.(map[string]any)["set"].(json.Number); ok && len(r.firings[n]) > 0 {
			return true
		}
	}
	return false
}

func (r *recording) harmlessAccess(i int, key, how string, item int) string {
	l := r.lines[i]
	if key == "target" {
		if l.has("abort") {
			return "an event that has failed may have failed before it touched anything"
		}
		return ""
	}
	if how == "drop" {
		for k := range l.list(key) {
			if r.harmlessAccess(i, key, "leave out", k) == "" {
				return ""
			}
		}
		return "no access of them is missed"
	}
	a := l.list(key)[item].([]any)
	actor := a[0].(string)
	other := map[string]string{"reads": "writes", "writes": "reads"}[key]
	elsewhere := slices.ContainsFunc(l.list(other), func(o any) bool { return o.([]any)[0] == actor })
	needed := !elsewhere && !l.has("abort") && (actor == l.str("target") || r.issues(i, actor))
	first := r.access[actor][0] == i
	switch {
	case key == "reads" && strings.HasPrefix(how, "double"):
		return "it may read twice"
	case key == "reads" && strings.HasPrefix(how, "leave out") && !needed:
		return "it may touch less"
	case key == "reads" && strings.HasPrefix(how, "change part 0") && number(a[1]) == 0 && !needed:
		return "it may read an actor that does nothing else"
	case key == "reads" && strings.HasPrefix(how, "change part 2") && first:
		return "nothing has been told of the state before"
	case key == "writes" && strings.HasPrefix(how, "change part 2") && (!r.touched(actor, i) || a[2] == "deleted"):
		return "what the actor is like after it is not told again"
	case key == "writes" && strings.HasPrefix(how, "leave out") && !needed && !r.touched(actor, i):
		return "it may leave as it is what is not touched again"
	case key == "writes" && strings.HasPrefix(how, "change part 0") && number(a[1]) == 1 && !needed && !r.touched(actor, i):
		return "it may make another actor than this, which is not touched again"
	}
	return ""
}

// issues reports whether anything has come from the actor in the event of line i.
func (r *recording) issues(i int, actor string) bool {
	for _, o := range r.lines[i].list("timers") {
		if o.(map[string]any)["issuer"] == actor {
			return true
		}
	}
	return slices.ContainsFunc(r.children[r.lines[i].str("event")], func(j int) bool { return r.lines[j].str("issuer") == actor })
}

func (r *recording) harmlessTimer(i int, how string, item int) string {
	list := r.lines[i].list("timers")
	if how == "drop" {
		for k := range list {
			if r.harmlessTimer(i, "leave out", k) == "" {
				return ""
			}
		}
		return "no timer is missed"
	}
	m := list[item].(map[string]any)
	name, _ := m["name"].(string)
	n, set := m["set"].(json.Number)
	fired := len(r.firings[n])
	if !set {
		name = m["cancel"].(string)
	}
	ends := r.ends(i, item, m["issuer"].(string), name)
	switch {
	case !set && strings.HasPrefix(how, "double"):
		return "to cancel twice is to cancel"
	case !set && (strings.HasPrefix(how, "leave out") || strings.HasPrefix(how, "change cancel")) && !ends:
		return "the next tick may be to come"
	case set && fired == 0 && (strings.HasPrefix(how, "leave out") || strings.HasPrefix(how, "change set")) && !ends:
		return "a timer that has not fired"
	case strings.HasPrefix(how, "change name") && !ends && !r.foundOver(n, i, len(r.lines)):
		return "a timer that is not told to end"
	case strings.HasPrefix(how, "change every") && fired < 2:
		return "it has ticked once at most"
	}
	return ""
}

// ends reports whether it shows that item, of the timers of line i, has ended a timer: a firing has found that over, before
// anything else ended it.
func (r *recording) ends(i, item int, issuer, name string) bool {
	if name == "" {
		return false
	}
	var before json.Number
	for j, l := range r.lines {
		for k, o := range l.list("timers") {
			m := o.(map[string]any)
			if m["issuer"] != issuer || m["name"] != name && m["cancel"] != name {
				continue
			}
			if j > i || j == i && k > item {
				return r.foundOver(before, i, j)
			}
			if j < i || k < item {
				before, _ = m["set"].(json.Number)
			}
		}
	}
	return r.foundOver(before, i, len(r.lines))
}

// foundOver reports whether a firing between two lines has found its timer over.
func (r *recording) foundOver(timer json.Number, from, to int) bool {
	return slices.ContainsFunc(r.firings[timer], func(i int) bool {
		l := r.lines[i]
		return from < i && i < to && !l.has("subs") && !l.has("callbacks") && !l.has("abort")
	})
}
