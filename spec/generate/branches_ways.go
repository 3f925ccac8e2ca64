package generate

// way is a statement of a generated branch, with places for filled. A loud one issues what runs after the event.
type way struct {
	weight int
	loud   bool
	text   string
}

// cellWays are what a cell does, which is below all others.
var cellWays = []way{
	{2, false, "list.push(by + $9);"},
	{2, false, "marks[by % 80] = n;"},
	{1, false, "if (len(list) > 1) {\nlist[by % len(list)] += $9;\nlist.pop();\n}"},
	{1, false, "marks.remove(by % 80);"},
	{1, false, "print(\"cell\", n, len(list));"},
	{1, false, "require((n + by) % 31 != $9, \"cell at {n}\");"},
	{1, true, "if (n % 6 == 1) {\nevent this.plus(by);\n}"},
}

// hubWays are what a named actor does, beside counting.
var hubWays = []way{
	{2, false, "counts[\"n{by % 5}\"] = by;"},
	{2, false, "for (Cell c : cells) {\nasync c.put1(by);\n}"},
	{1, false, "cells.push(new Cell(by, $3));\ncells.push(new Cell(n, 1));"},
	{1, false, "if (len(cells) > 1) {\ndelete cells.pop();\n}"},
	{1, false, "print(\"hub\", key() ?? \"\", n);"},
	{1, true, "event this.plus(by + 1);"},
}

// leafWays are what a leaf does: it changes fields of all kinds, forks to its cells, sets and cancels timers, prints, issues, fails.
var leafWays = []way{
	{2, false, "log.push(by);"},
	{2, false, "if (len(log) > 0) {\nlog[by % len(log)] += $9;\n}"},
	{2, false, "other = log;\nlog.push(n);"},
	{2, false, "other = log;\nif (len(other) > 0) {\nother[by % len(other)] = n;\n}"},
	{2, false, "other = log[len(log) / 3:];\nlog.push(by);"},
	{1, false, "other.insert(len(other) / 2, by);\nlog = other.reversed();"},
	{1, false, "if (len(log) > 9) {\nlog.remove(by % 9);\nlog.pop();\n}"},
	{2, false, "vector<int> $x = log;\nfor (int i = 0 upto len(log)) {\nlog[i] += 1;\n}\nother = $x;"},
	{1, false, "log.sort();\nother = log;"},
	{1, false, "other.sort();\nlog = other;\nrequire(n % 4 != $3, \"sorted at {n}\");"},
	{2, false, "for (int i = 0 upto min(len(log), 120)) {\nlog[i] = by + i;\n}\nother = log;"},
	{1, false, "for (int i = 0 upto 90) {\nother.push(by + i);\n}\nif (len(other) > 400) {\nother = other[200:];\n}\nlog = other;"},
	{1, false, "log.clear();\nfor (int k, Val v : kept) {\nlog.push(v.a + k);\n}"},
	{2, false, "counts[\"k{by % 90}\"] = n;"},
	{1, false, "counts.remove(\"k{by % 90}\");"},
	{2, false, "map<string, int> $x = counts;\ncounts[\"k{by % 7}\"] = by;\nspare = $x;"},
	{2, false, "spare = counts;\nspare[\"k1\"] = by;\ncounts.clear();\ncounts[\"a\"] = n;"},
	{2, false, "seen.insert(by % 90);\nseen.remove(n % 90);"},
	{2, false, "text = \"{text}{by % 10}\";\nif (len(text) > 90) {\ntext = text[80:];\n}"},
	{2, false, "val.grow(by);"},
	{1, false, "val.list[0] = n;\nvals.push(val);\nval.grow(n);"},
	{1, false, "if (len(vals) > 0) {\nvals[by % len(vals)].grow(by);\nval = vals[0];\n}"},
	{2, false, "Val? $x = kept.get(by % 3);\nkept[by % 3] = val;\nkept[by % 3].grow(by);\nif ($x != null) {\nval = $x;\n}"},
	{2, false, "rows.put(new Row(\"r{by % 90}\", by % 4, n, [by]));"},
	{1, false, "rows.insert(new Row(\"i{n}-{rows.size()}\", by % 4, by, log.limit(3)));"},
	{1, false, "rows.remove(\"r{by % 90}\");"},
	{2, false, "for (Row $x : rows.find(group, by % 4)) {\nrows[$x.id].n += by;\nrows[$x.id].list.push(by);\n}"},
	{1, false, "for (Row $x : rows.range(group, by % 4, n, 0, 500)) {\nrows[$x.id].group = ($x.group + 1) % 4;\nn += 1;\n}"},
	{3, false, "for (Cell c : cells) {\nasync c.$put(by + $5);\n}"},
	{3, false, "if (len(cells) > 0) {\n$async$cell.$put(by);\n$async$cell.$put(n);\n}"},
	{2, false, "cells.push(new Cell(by, $3));\ncells.push(new Cell(by + 1, 66));"},
	{2, false, "Cell $x = new Cell(n, 2);\n$async$x.$put(by);\ncells.push($x);"},
	{2, false, "if (len(cells) > 1) {\ndelete cells.pop();\n}"},
	{1, false, "Cell $x = new Cell(by, 1);\n$async$x.$put(by);\nn += $x.get();\ndelete $x;"},
	{1, false, "map<Cell, int> $x = [];\nfor (Cell c : cells) {\n$x[c] = c.get();\n}\nfor (Cell c, int k : $x) {\nasync c.plus(k % 5);\n}"},
	{1, false, "if (len(cells) > 0) {\nn += digest($cell.both(log.limit(2)));\n}"},
	{1, false, "print(\"leaf\", n, text);"},
	{1, true, "if (n % 5 == 1) {\nevent this.plus(by) after 7ms as \"t{by % 2}\";\n}"},
	{1, false, "cancel \"t{by % 2}\";"},
	{1, true, "if (n % 5 == 2) {\nevent this.gain(log.limit(4)) after 9ms;\nevent this.plus(1) after 3ms as \"t1\";\ncancel \"t0\";\n}"},
	{1, true, "if (len(cells) > 1 && n % 5 == 3) {\nevent $cell.plus(1) after 5ms;\n}"},
	{2, true, "if (n % 7 == 3) {\nevent this.plus(1) every 30ms as \"p\";\n}"},
	{1, false, "cancel \"p\";"},
	{2, false, "require((n + by) % 23 != $9, \"leaf at {n}\");"},
	{1, false, "n += 100 / (by % 37);"},
	{1, true, "event screen.show(n, \"leaf\");"},
	{1, true, "event screen.list(log.limit(5), counts.keys().limit(3));"},
	{1, true, "if (n % 5 == 4) {\nevent this.plus(by);\n}"},
	{1, true, "if (n % 5 == 2) {\nevent this.step(by % 3);\n}"},
	{1, true, "if (n % 4 == 1) {\nevent this.mark(by);\n}"},
	{1, true, "if (len(cells) > 0 && n % 4 == 0) {\nevent $cell.plus(by);\n}"},
	{2, true, "if (len(peers) > 0 && n % 3 == 0) {\nevent peers[by % len(peers)].plus($3);\n}"},
	{1, true, "if (by % 5 == 1) {\nevent this.refuse($9);\n}"},
}

// ownerWays are what a root and a mid do with their leaves.
var ownerWays = []way{
	{4, false, "for (Leaf e : leaves) {\nasync e.$add(by + $5);\n}"},
	{4, false, "$async$leaf.$add(by + $5);"},
	{2, false, "$async$leaf.$add(n);\n$async$leaf.$add(by + 1);"},
	{1, false, "$async$leaf.guard($3, by);"},
	{1, true, "$async$leaf.say(\"say $9\");"},
	{1, false, "n += $leaf.get();"},
	{1, true, "event screen.show(n, \"at\");"},
	{1, true, "event $leaf.gain([by, $5]);"},
	{1, true, "event $leaf.step($2);"},
	{2, false, "if (len(own) < 5) {\nown.push(new Leaf(by, screen));\nown.push(new Leaf(n, screen));\nasync own[0].$add(by);\nasync own[len(own) - 1].$add(by);\n}"},
	{2, false, "for (int i = 0 upto 3) {\nif (len(leaves) < 5) {\nleaves.push(new Leaf(by + i, screen));\n}\n}"},
	{1, false, "Leaf $x = new Leaf(by, screen);\n$async$x.$add(by);\nn += $x.get();\ndelete $x;"},
	{2, false, "if (len(own) > 1) {\n$async own[0].$add(by);\ndelete own.pop();\n}"},
	{1, false, "for (Leaf e : own) {\nasync e.$add(by);\n}"},
	{2, false, "$async$leaf.give([by, $9, n], [\"a\": by, \"b$3\": n]);"},
	{2, false, "log = $leaf.take(log, [\"c\": by]);"},
	{2, false, "$async$leaf.give($leaf.take(log, [\"d\": n]), [\"e\": by]);"},
	{1, false, "Val $x = $leaf.worth();\n$x.grow(by);\n$async$leaf.prize([$x, $leaf.worth()]);"},
	{2, false, "$async$leaf.meet($leaf, [$leaf, $leaf]);"},
	{1, false, "log.push(by);\nlog[0] = n;\nlog = log[len(log) / 2:];"},
	{1, false, "Leaf $x = leaves[0];\nfor (Leaf e : leaves) {\nasync $x.$add(by);\n$x = e;\n}"},
	{1, false, "Pair $x = new Pair($leaf, $leaf);\n$async$x.turn().$add(by);\n$async$x.turn().$add(n);"},
	{1, false, "set<Leaf> $x = [$leaf, $leaf];\nfor (Leaf e : $x) {\nasync e.plus(by);\n}"},
	{1, false, "byKey[by % 4] = $leaf;\nbyKey[$3] = $leaf;"},
	{1, false, "if (Leaf $x = byKey.get(by % 4)) {\n$async$x.$add(by);\n}"},
	{1, false, "require((n + by) % 13 != $5, \"owner at {n}\");"},
	{1, false, "if ((n + by) % 17 == $3) {\nabort \"given up at {n}\";\n}"},
	{1, false, "n += log[by % 70 % (len(log) + 1)];"},
	{1, false, "print(\"owner\", n);"},
}

// midWays are what a mid does beside.
var midWays = []way{
	{2, false, "async this.at(by % 4, by);"},
	{2, false, "vector<Cell> $x = [new Cell(by, 1), new Cell(n, 2)];\n$async$leaf.hold($x, by);"},
	{2, false, "vector<Cell> $x = $leaf.share();\nfor (Cell c : $x) {\nasync c.$put(by);\n}\n$async$leaf.hold($x, by);"},
	{1, true, "event this.plus(by) after 4ms as \"m{by % 2}\";\ncancel \"m{n % 2}\";"},
	{1, true, "event this.plus(by);\nfor (Leaf e : leaves) {\nevent e.mark(by);\n}"},
}

// rootWays are what the root does beside.
var rootWays = []way{
	{3, false, "for (Mid e : mids) {\nasync e.$spread(by + $5);\n}"},
	{3, false, "$async$mid.$spread(by);"},
	{2, false, "$async$mid.$spread(n);\n$async$leaf.$add(by);\n$async$mid.$spread(by + 1);"},
	{1, false, "$async$mid.adopt($leaf);"},
	{1, false, "$async$mid.adopt(new Leaf(by, screen));"},
	{1, false, "$async$mid.useAll(leaves, by);"},
	{1, false, "$async$mid.useAll([$leaf, new Leaf(by, screen)], by);"},
	{1, false, "Leaf $x = new Leaf(by, screen);\n$async$mid.useAll([$x], by);\n$async$mid.useAll([$x], n);\ndelete $x;"},
	{1, false, "for (Mid e : mids) {\nasync e.make(by);\n}"},
	{2, false, "$async$mid.at($3, by);\n$async$mid.mayAt(by % 3, by);\n$async$mid.mayAt(null, by);"},
	{1, false, "for (Leaf e : $mid.all()) {\nasync e.$add(by);\n}"},
	{1, false, "if (len(leaves) < 5) {\nleaves.push($mid.lend());\n}"},
	{1, false, "if (len(mids) < 3) {\nmids.push(new Mid(by, screen));\nmids.push(new Mid(n, screen));\n}"},
	{1, true, "event $mid.spare(by);\nevent this.report(by);"},
}

// namedWays are what the root does with the named actor that it is given, which need not have begun to be.
var namedWays = []way{
	{3, false, "for (Leaf e : leaves) {\nasync e.peek(h);\n}"},
	{3, false, "for (Mid e : mids) {\nasync e.peekAll(h);\n}"},
	{2, false, "$async$leaf.note(h, by);\n$async$leaf.peek(h);"},
	{2, false, "$async$mid.noteAll(h, by);"},
	{1, false, "async h.note(by);\n$async$leaf.$add(by);"},
	{1, false, "$async$mid.hand(h, by);"},
	{1, false, "n += h.look();"},
	{1, true, "$async$leaf.peek(h);\nevent h.plus(by);\nevent $leaf.tell(h, by);"}, // it is here that h begins: its constructor prints,
	{1, false, "if (by % 3 == 0) {\nasync $mid.end(h);\n}"},
}

// mainWays are what main does. by is a number there.
var mainWays = []way{
	{2, false, "event root.begin$2($9, actor<Hub>(\"h$1\"));"}, // an event of the root's own store
	{6, false, "try {\nint $x = await event root.run$2($9, actor<Hub>(\"h$1\"));\nsettle();\nprint($x);\n} catch (string why) {\nprint(\"failed:\", why);\n}"},
	{2, false, "try {\nint $x = await event root.chain($9, actor<Hub>(\"h$1\"));\nsettle();\nprint($x);\n} catch (string why) {\nprint(\"failed:\", why);\n}"},
	{1, false, "print(await event root.audit());"},
	{1, false, "sleep(6ms);"},
	{1, false, "delete actor<Hub>(\"h$1\");"},
}
