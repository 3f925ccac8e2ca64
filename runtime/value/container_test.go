package value_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aeon-lang/aeon/runtime/value"
)

func rowText(r value.Vector[int64]) string { return value.VectorText(r, value.StrInt) }

// TestVectorsAreValues drives copies of nested vectors through random operations
// beside plain slices that are copied deeply.
func TestVectorsAreValues(t *testing.T) {
	type nested = value.Vector[value.Vector[int64]]
	rapid.Check(t, func(t *rapid.T) {
		vars := make([]nested, 3)
		model := make([][][]int64, 3)
		deep := func(m [][]int64) (c [][]int64) {
			for _, r := range m {
				c = append(c, slices.Clone(r))
			}
			return c
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, 2).Draw(t, "var")
			j := rapid.IntRange(0, 2).Draw(t, "other")
			size := len(model[i])
			k := rapid.IntRange(0, max(0, size-1)).Draw(t, "index")
			x := rapid.Int64Range(0, 9).Draw(t, "x")
			op := rapid.IntRange(0, 8).Draw(t, "op")
			if size == 0 && (op == 1 || op == 2 || op == 4 || op == 5 || op == 8) {
				op = 0
			}
			switch op {
			case 0:
				value.Push(&vars[i], value.VectorOf(x))
				model[i] = append(model[i], []int64{x})
			case 1:
				value.Push(value.RefAt(&vars[i], int64(k)), x)
				model[i][k] = append(model[i][k], x)
			case 2:
				last := value.Pop(&vars[i])
				if !slices.Equal(last.Items(), model[i][size-1]) {
					t.Fatalf("pop gave %v, want %v", last.Items(), model[i][size-1])
				}
				model[i] = model[i][:size-1]
			case 3:
				vars[i] = vars[j].Share()
				model[i] = deep(model[j])
			case 4:
				value.RemoveAt(&vars[i], int64(k))
				model[i] = slices.Delete(model[i], k, k+1)
			case 5:
				value.InsertAt(&vars[i], int64(k), vars[i].At(int64(k)).Share())
				model[i] = slices.Insert(model[i], k, slices.Clone(model[i][k]))
			case 6:
				vars[i] = value.SliceOf(vars[j], 0, int64(len(model[j])/2))
				model[i] = deep(model[j][:len(model[j])/2])
			case 7:
				value.Clear(&vars[i])
				model[i] = nil
			case 8:
				row := vars[i].At(int64(k)).Share()
				value.Push(&row, x)
				value.Sort(&row)
				value.Push(&vars[j], row)
				plain := append(slices.Clone(model[i][k]), x)
				slices.Sort(plain)
				model[j] = append(model[j], plain)
			}
			for n := range vars {
				got := value.VectorText(vars[n], rowText)
				var want nested
				for _, r := range model[n] {
					value.Push(&want, value.VectorOf(slices.Clone(r)...))
				}
				if w := value.VectorText(want, rowText); got != w {
					t.Fatalf("after op %d on %d: variable %d is %s, want %s", op, i, n, got, w)
				}
			}
		}
	})
}

// TestMapsAreValues does the same for maps of vectors.
func TestMapsAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var vars [2]value.Map[string, value.Vector[int64]]
		model := [2]map[string][]int64{{}, {}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			i := rapid.IntRange(0, 1).Draw(t, "var")
			k := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key")
			x := rapid.Int64Range(0, 9).Draw(t, "x")
			_, has := model[i][k]
			switch op := rapid.IntRange(0, 5).Draw(t, "op"); op {
			case 0:
				if _, had := value.SetEntry(&vars[i], k, value.VectorOf(x)); had != has {
					t.Fatalf("set %s: had %v, want %v", k, had, has)
				}
				model[i][k] = []int64{x}
			case 1:
				if _, had := value.RemoveKey(&vars[i], k); had != has {
					t.Fatalf("remove %s: had %v, want %v", k, had, has)
				}
				delete(model[i], k)
			case 2:
				vars[1-i] = vars[i].Share()
				model[1-i] = map[string][]int64{}
				for k, v := range model[i] {
					model[1-i][k] = slices.Clone(v)
				}
			case 3:
				msg := fault(func() { value.UpdateEntry(&vars[i], k, func(v *value.Vector[int64]) { value.Push(v, x) }) })
				if has != (msg == "") {
					t.Fatalf("update %s: fault %q, present %v", k, msg, has)
				}
				if has {
					model[i][k] = append(model[i][k], x)
				}
			case 4:
				value.Clear(&vars[i])
				clear(model[i])
			case 5:
				values := value.ValuesOf(vars[i])
				if values.Size() > 0 {
					value.Push(value.RefAt(&values, 0), 99) // a copy: no map changes
				}
			}
			for n, m := range model {
				if keys := slices.Sorted(maps.Keys(m)); !slices.Equal(keys, vars[n].Keys().Items()) {
					t.Fatalf("keys %v, want %v", vars[n].Keys().Items(), keys)
				}
				for k, want := range m {
					if got := vars[n].At(k).Items(); !slices.Equal(got, want) {
						t.Fatalf("map %d, key %s: %v, want %v", n, k, got, want)
					}
				}
			}
		}
	})
}

// TestConcurrentCopies is meaningful under -race: goroutines copy one field, read it and
// write their copies at the same time.
func TestConcurrentCopies(t *testing.T) {
	var field value.Map[int64, value.Vector[int64]]
	for i := range int64(20) {
		value.SetEntry(&field, i, value.VectorOf(i))
	}
	done := make(chan int64)
	for range 4 {
		go func() {
			var sum int64
			for range 50 {
				mine := field.Share()
				for _, k := range mine.Keys().Items() {
					sum += mine.At(k).At(0)
				}
				value.UpdateEntry(&mine, 3, func(v *value.Vector[int64]) { value.Push(v, 1) })
				value.RemoveKey(&mine, 4)
			}
			done <- sum
		}()
	}
	for range 4 {
		if sum := <-done; sum != 50*190 {
			t.Errorf("a reader saw the sum %d, want %d", sum, 50*190)
		}
	}
	if field.Size() != 20 || field.At(3).Size() != 1 {
		t.Error("a write to a copy reached the original")
	}
}

func TestFaultsNameTheOperand(t *testing.T) {
	v := value.VectorOf[int64](1, 2)
	var m value.Map[string, int64]
	var tm value.Map[value.Duration, int64]
	cases := map[string]func(){
		"index 2 out of range, size 2":      func() { v.At(2) },
		"index -1 out of range, size 2":     func() { value.SetAt(&v, -1, 0) },
		"index 3 out of range, size 2":      func() { value.InsertAt(&v, 3, 0) },
		"index 5 out of range, size 2":      func() { value.RemoveAt(&v, 5) },
		"slice 1 to 3 out of range, size 2": func() { value.SliceOf(v, 1, 3) },
		"slice 2 to 1 out of range, size 2": func() { value.SliceOf(v, 2, 1) },
		"index 7 out of range, size 3":      func() { value.StringAt("abc", 7) },
		"slice 0 to 4 out of range, size 3": func() { value.StringSlice("abc", 0, 4) },
		"missing key \"ann\"":               func() { m.At("ann") },
		"missing key 1.5s":                  func() { tm.At(value.Duration(1500_000_000)) },
		value.MsgEmpty:                      func() { value.Pop(new(value.Vector[int64])) },
		"null value: a.b":                   func() { value.Opt[int64]{}.Must("a.b") },
		"null value: c":                     func() { new(value.Opt[int64]).Ref("c") },
		"null value: d[1]":                  func() { value.Box[int64]{}.Must("d[1]") },
		"null value: e":                     func() { new(value.Box[int64]).Ref("e") },
		"null value: f(x)":                  func() { value.NonNull(value.Opt[int64]{}, "f(x)") },
	}
	for want, f := range cases {
		if got := fault(f); got != want {
			t.Errorf("fault %q, want %q", got, want)
		}
	}
	if v.Size() != 2 || v.At(0) != 1 {
		t.Error("a faulting write changed the vector")
	}
}

func TestOrders(t *testing.T) {
	if got := value.SetOf(true, false).Str(value.StrBool); got != "{false, true}" {
		t.Errorf("bools in the order %s", got)
	}
	if got := value.SetOf[uint64](1<<63, 2, 10).Str(value.StrInt); got != "{2, 10, 9223372036854775808}" {
		t.Errorf("uint64 in the order %s", got)
	}
	keys := value.SetOf(value.BytesOf([]byte{200}).Key(), value.BytesOf([]byte{1, 1}).Key())
	if first := keys.Keys().At(0).Bytes(); first.At(0) != 1 {
		t.Errorf("bytes are not ordered as bytes: first is %v", first.Data())
	}
	times := value.VectorOf(value.Time(3), value.Time(-1))
	value.Sort(&times)
	if times.At(0) != -1 {
		t.Error("times are not sorted")
	}
}

// TestBoxesAreValues covers a list built of nested optional values.
func TestBoxesAreValues(t *testing.T) {
	type node struct {
		next value.Box[node]
		n    int64
	}
	a := node{n: 1, next: value.BoxOf(node{n: 2})}
	b := a
	b.next.Ref("b.next").n = 5
	if a.next.Must("a.next").n != 2 || b.next.Must("b.next").n != 5 {
		t.Errorf("a.next.n = %d, b.next.n = %d, want 2 and 5", a.next.Must("a.next").n, b.next.Must("b.next").n)
	}
}

func TestText(t *testing.T) {
	if s := value.Join(value.Split("a,b,,c", ","), "+"); s != "a+b++c" {
		t.Errorf("split and join gave %q", s)
	}
	for s, want := range map[string]string{"12": "12", "-7": "-7", "+3": "3", "": "null", "1x": "null", "9223372036854775808": "null", " 1": "null", "1_0": "null"} {
		if got := value.OptText(value.ParseInt(s), value.StrInt); got != want {
			t.Errorf("parseInt(%q) = %s, want %s", s, got, want)
		}
	}
	if s := value.Time(0).Add(90_000_000_000).Str(); s != "1970-01-01T00:01:30Z" {
		t.Errorf("time is %s", s)
	}
}

func BenchmarkAdd(b *testing.B) {
	b.Run("checked", func(b *testing.B) {
		var s int64
		for i := range b.N {
			s = value.Add(s, int64(i)) & 0xffff
		}
		sink = s
	})
	b.Run("plain", func(b *testing.B) {
		var s int64
		for i := range b.N {
			s = (s + int64(i)) & 0xffff
		}
		sink = s
	})
}

var sink int64

func BenchmarkVectorPush(b *testing.B) {
	b.Run("vector", func(b *testing.B) {
		var v value.Vector[int64]
		for i := range b.N {
			value.Push(&v, int64(i))
		}
	})
	b.Run("slice", func(b *testing.B) {
		var v []int64
		for i := range b.N {
			v = append(v, int64(i))
		}
		sink = v[0]
	})
}

func BenchmarkMapSet(b *testing.B) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = strings.Repeat("k", 5) + strconv.Itoa(i)
	}
	b.Run("map", func(b *testing.B) {
		var m value.Map[string, int64]
		for i := range b.N {
			value.SetEntry(&m, keys[i%1000], int64(i))
		}
	})
	b.Run("go", func(b *testing.B) {
		m := map[string]int64{}
		for i := range b.N {
			m[keys[i%1000]] = int64(i)
		}
	})
}
