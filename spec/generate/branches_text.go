package generate

// branchesText is a program of branches, which lacks most methods of its actors.
const branchesText = `package generated

class Val {
	int a;
	string s;
	vector<int> list;
	map<string, int> parts;
	void grow(int by) {
		a += by;
		s = "{s}{by %% 10}";
		if (len(s) > 9) {
			s = s[5:];
		}
		list.push(by);
		parts["p{by %% 9}"] = a;
	}
}

class Row {
	string id;
	int group;
	int n;
	vector<int> list;
}

class Pair {
	Leaf a;
	Leaf b;
	Leaf turn() {
		Leaf was = a;
		a = b;
		b = was;
		return was;
	}
}

int digest(vector<int> list) {
	int sum = len(list);
	for (int x : list) {
		sum = (sum * 31 + x) %% 1000003;
	}
	return sum;
}

client class Screen {
	int shown = 0;
	void show(int n, string s) {
		shown++;
		print("screen", shown, n, s);
	}
	void list(vector<int> numbers, vector<string> names) {
		shown++;
		print("screen", shown, numbers, names);
	}
}

actorclass Cell {
	int n;
	vector<int> list;
	map<int, int> marks;
	Cell(int k, int size) {
		n = k;
		for (int i = 0 upto size) {
			list.push(k + i);
			marks[i] = k;
		}
	}
%v	void plus(int by) {
		n += by;
	}
	vector<int> both(vector<int> more) {
		for (int x : more) {
			list.push(x);
		}
		return list;
	}
	ro int get() {
		return n;
	}
	ro string audit() {
		return "{n}-{digest(list)}-{digest(marks.keys())}-{digest(marks.values())}";
	}
}

actorclass Hub {
	int n = 1;
	map<string, int> counts = ["n": 1];
	vector<Cell> cells;
	Hub() {
		print("born", key() ?? "");
		for (int i = 0 upto %d) {
			cells.push(new Cell(i, %d));
		}
		event this.plus(3);
	}
%v	void plus(int by) {
		n += by;
	}
	ro int look() {
		int sum = n;
		for (Cell c : cells) {
			sum += c.get();
		}
		return sum;
	}
	ro string audit() {
		string s = "{n} {counts}";
		for (Cell c : cells) {
			s += " {c.audit()}";
		}
		return s;
	}
}

actorclass Leaf {
	int n;
	vector<int> log;
	vector<int> other;
	map<string, int> counts;
	map<string, int> spare;
	set<int> seen;
	string text = "";
	Val val = new Val(1, "v", [1], ["p": 1]);
	vector<Val> vals;
	map<int, Val> kept;
	map<int, int> marked;
	table<Row> rows key(id) index(group) index(group, n);
	vector<Cell> cells;
	yield vector<Leaf> peers;
	yield Screen screen;
	Leaf(int k, yield Screen s) {
		n = k;
		screen = s;
		for (int i = 0 upto %d) {
			log.push(k + i);
			counts["k{i}"] = i;
			seen.insert(i);
		}
		for (int i = 0 upto %d) {
			cells.push(new Cell(k + i, 1));
		}
		for (int i = 0 upto %d) {
			rows.insert(new Row("r{i}", i %% 4, k, []));
		}
	}
%v	void give(vector<int> list, map<string, int> parts) {
		log.push(list[0]);
		for (string k, int v : parts) {
			counts[k] = v;
		}
		other = list;
		other.push(n);
	}
	vector<int> take(vector<int> list, map<string, int> parts) {
		other = list;
		other.push(n);
		spare = parts;
		return log;
	}
	ro Val worth() {
		return val;
	}
	void prize(vector<Val> list) {
		vals = list;
		vals[0].grow(n);
	}
	void meet(yield Leaf one, yield vector<Leaf> all) {
		peers = all;
		peers.push(one);
	}
	vector<Cell> share() {
		cells.push(new Cell(n, 1));
		return cells.limit(2);
	}
	void hold(vector<Cell> of, int by) {
		for (Cell c : of) {
			async c.put1(by);
			n += 1;
		}
		async of[0].put1(n);
	}
	ro int peek(Hub h) {
		print("peek", n, h.look());
		return n;
	}
	void note(Hub h, int by) {
		async h.note(n %% 50 + by);
		n += 1;
		log.push(n);
	}
	void tell(yield Hub h, int by) {
		event h.plus(by);
	}
	void plus(int by) {
		n += by;
	}
	void gain(vector<int> list) {
		for (int x : list) {
			n += x;
		}
	}
	void mark(int k) {
		marked[k %% 70] = (marked.get(k %% 70) ?? 0) + 1;
	}
	void step(int left) {
		n += left;
		if (left > 0) {
			tail this.step(left - 1);
		}
	}
	void refuse(int k) {
		log.push(k);
		cells.push(new Cell(k, 1));
		abort "refused {k}";
	}
	void guard(int k, int by) {
		log.push(by);
		require((n + by) %% 7 != k, "guard {k} at {n}");
	}
	ro int get() {
		return n;
	}
	ro void say(string s) {
		print(s);
		event screen.show(n, s);
	}
	ro string audit() {
		string s = "{n} {digest(log)} {digest(other)} {digest(seen.keys())} {text} {val.a} {val.s} {digest(val.list)} {digest(val.parts.values())} {len(vals)} {len(peers)}";
		for (string k, int v : counts) {
			s += "{k[len(k) - 1:]}{v %% 10}";
		}
		s += " {len(spare)} {digest(spare.values())} {digest(marked.values())}";
		for (Val v : vals) {
			s += " {v.s}{digest(v.list)}";
		}
		for (int k, Val v : kept) {
			s += " {k}{v.s}{digest(v.list)}{digest(v.parts.values())}";
		}
		int sum = rows.size();
		for (Row r : rows) {
			sum = (sum * 31 + r.n + r.group * 7 + digest(r.list)) %% 1000003;
		}
		for (Row r : rows.sorted(group, 1, n)) {
			sum = (sum * 31 + r.n + len(r.id)) %% 1000003;
		}
		s += " {sum}";
		for (Cell c : cells) {
			s += " {c.audit()}";
		}
		return s;
	}
}

actorclass Mid {
	int n = 0;
	vector<int> log;
	vector<Leaf> leaves;
	vector<Leaf> own;
	map<int, Leaf> byKey;
	Hub? hub;
	yield Screen screen;
	Mid(int k, yield Screen s) {
		screen = s;
		for (int i = 0 upto %d + 1) {
			leaves.push(new Leaf(k + i, s));
		}
		byKey[1] = leaves[0];
		byKey[2] = new Leaf(k, s);
	}
%v	void at(int k, int by) {
		n += 1;
		async byKey[k %% 2 + 1].add2(by);
		if (byKey.has(k)) {
			async byKey[k].add2(by);
		}
	}
	void mayAt(int? k, int by) {
		if (Leaf e = byKey.get(k ?? 2)) {
			async e.add2(by);
		}
		byKey[3] = leaves[0];
	}
	void useAll(vector<Leaf> all, int by) {
		for (Leaf e : all) {
			async e.add2(by);
		}
		n += all[0].get();
		for (Leaf e : leaves) {
			async e.add2(n);
		}
	}
	void make(int by) {
		Leaf e = new Leaf(by, screen);
		async e.add2(by);
		async e.add2(n);
		own.push(e);
		own.push(new Leaf(n, screen));
		for (Leaf f : own) {
			async f.add2(by);
		}
		if (len(own) > 4) {
			delete own.pop();
			delete own.remove(0);
		}
	}
	void peekAll(Hub h) {
		for (Leaf e : leaves) {
			async e.peek(h);
		}
	}
	void noteAll(Hub h, int by) {
		for (Leaf e : leaves) {
			async e.note(h, by);
		}
		n += h.look();
	}
	void hand(Hub h, int by) {
		hub = h;
		async hub!.note(by);
		async leaves[0].peek(h);
		hub = null;
	}
	void end(Hub h) {
		async h.note(n);
		async leaves[0].peek(h);
		delete h;
	}
	void plus(int by) {
		n += by;
	}
	void spare(int by) {
		for (Leaf e : leaves) {
			event e.plus(by);
			async e.plus(1);
		}
	}
	vector<Leaf> all() {
		return leaves;
	}
	Leaf lend() {
		return leaves[0];
	}
	void adopt(Leaf e) {
		if (len(leaves) < 5) {
			leaves.push(e);
		}
		async e.add2(n);
	}
	ro string audit() {
		string s = "";
		for (Leaf e : leaves) {
			s += "{e.audit()} | ";
		}
		for (Leaf e : own) {
			s += "{e.audit()} | ";
		}
		for (int k, Leaf e : byKey) {
			s += "{k} {e.get()} | ";
		}
		return "{n} {digest(log)} ({s})";
	}
}

actorclass Root {
	int n = 0;
	vector<int> log;
	vector<Leaf> leaves;
	vector<Leaf> own;
	map<int, Leaf> byKey;
	vector<Mid> mids;
	yield Screen screen;
	Root(yield Screen s) {
		screen = s;
		for (int i = 0 upto %d) {
			leaves.push(new Leaf(i, s));
		}
		for (int i = 0 upto %d) {
			mids.push(new Mid(i * 10, s));
		}
		leaves.push(mids[0].lend());
	}
	void report(int by) {
		event screen.show(n + by, "report");
	}
	ro string audit() {
		string s = "";
		for (Mid e : mids) {
			s += "{e.audit()}\n";
		}
		for (Leaf e : leaves) {
			s += "{e.audit()}\n";
		}
		for (Leaf e : own) {
			s += "{e.audit()}\n";
		}
		return "{n} {digest(log)}: {s}";
	}
%v}

void main() {
	Screen screen = new Screen();
	Root root = new Root(screen);
	settle();
%v	sleep(100ms);
	settle();
	print(await event root.audit());
	print(await event actor<Hub>("h0").audit());
}
`
