package grammar

// The dispatchers decide what a statement or member is before a production
// reads it: by its first token, and where that is a name by skipping over what
// would be a type. Skipping is iterative and allocates nothing.

// skipType returns the index behind the type that starts at token i, or -1 if
// there is none.
func (p *parser) skipType(i int) int {
	level := 0
	for {
		if i = p.skipTypeHead(i); i < 0 {
			return -1
		}
		if p.kind(i) == Less {
			level++
			i++
			continue
		}
		var again bool
		if i, level, again = p.skipTypeEnd(i, level); again {
			continue
		}
		if level == 0 {
			return i
		}
		return -1
	}
}

// skipTypeEnd skips suffixes and closing brackets; again means that another
// type argument follows.
func (p *parser) skipTypeEnd(i, level int) (next, levelOut int, again bool) {
	for {
		switch k := p.kind(i); {
		case k == Quest || k == QuestQuest:
			i++
		case k == LBrack && p.kind(i+1) == RBrack:
			i += 2
		case k == Greater && level > 0:
			i++
			level--
		case k == Comma && level > 0:
			return i + 1, level, true
		default:
			return i, level, false
		}
	}
}

// skipTypeArgs returns the index of the `(` if token i, a `<`, opens type
// arguments of a call, else -1. A comparison of comparisons looks the same but
// has no type, so nothing is lost: this is what C# does.
func (p *parser) skipTypeArgs(i int) int {
	const deep = 64 // bounds the work for a<a<a<…
	level := 1
	for i++; ; {
		next := p.skipTypeHead(i)
		if next < 0 {
			return -1
		}
		i = next
		if p.kind(i) == Less {
			if level++; level > deep {
				return -1
			}
			i++
			continue
		}
		var again bool
		if i, level, again = p.skipTypeEnd(i, level); again {
			continue
		}
		if level == 0 && p.kind(i) == LParen {
			return i
		}
		return -1
	}
}

// skipTypeHead skips the name of a type.
func (p *parser) skipTypeHead(i int) int {
	switch k := p.kind(i); {
	case k == Void || k == Pending:
		return i + 1
	case k.IsName():
		if p.kind(i+1) == Dot && p.kind(i+2).IsName() {
			return i + 3
		}
		return i + 1
	}
	return -1
}

// declaresVar reports whether token i starts `T name`, as a declaration does.
// The index behind the type is returned too.
func (p *parser) declaresVar(i int) (name int, ok bool) {
	if p.kind(i) == Var && p.kind(i+1).IsName() {
		return i + 1, true
	}
	name = p.skipType(i)
	return name, name >= 0 && (p.kind(name).IsName() || p.misnamed(name))
}

// misnamed reports whether token i is a keyword that stands where a name must
// have been meant. What reads the name reports it.
func (p *parser) misnamed(i int) bool {
	k := p.kind(i)
	return k.IsKeyword() && p.endsName(i+1) && (!startsStmt[k] || p.kind(i+1) == Assign)
}

// declaresFunc reports whether token i starts `T name(` or `T name<`.
func (p *parser) declaresFunc(i int) bool {
	name, ok := p.declaresVar(i)
	return ok && p.kind(i) != Var && (p.kind(name+1) == LParen || p.kind(name+1) == Less)
}
