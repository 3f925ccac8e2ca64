package snapshot_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// counting is a target that counts what it is sent and asked for, and fails at one call.
type counting struct {
	snapshot.Target
	sent, got int64
	left      int // calls until one fails; 0: none does
}

var faultSeeds = flag.Uint64("increments.seeds", 2, "how many histories TestIncrementsSurviveFaults draws")

var errBroken = errors.New("the network is broken")

func (c *counting) fails() bool {
	c.left--
	return c.left == 0
}

func (c *counting) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	if c.fails() {
		return errBroken
	}
	c.sent += size
	return c.Target.Put(ctx, name, r, size)
}

func (c *counting) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if c.fails() {
		return nil, errBroken
	}
	r, err := c.Target.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return &counted{r, &c.got}, nil
}

func (c *counting) List(ctx context.Context, prefix string) ([]snapshot.Entry, error) {
	if c.fails() {
		return nil, errBroken
	}
	return c.Target.List(ctx, prefix)
}

func (c *counting) Delete(ctx context.Context, names ...string) error {
	if c.fails() {
		return errBroken
	}
	return c.Target.Delete(ctx, names...)
}

type counted struct {
	io.ReadCloser
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.n += int64(n)
	return n, err
}

// rowsOfAccounts returns rows of 100 bytes, so many that they have a size.
func rowsOfAccounts(bytes int) map[string]string {
	content := map[string]string{}
	for i := range bytes / 100 {
		content[fmt.Sprintf("account %08d", i)] = fmt.Sprintf("%084d", i)
	}
	return content
}

// scatter does n operations at random places, and returns how many bytes the rows have that it has written.
func scatter(rng *rand.Rand, content map[string]string, keys *[]string, n int) (changed int64) {
	for range n {
		key := (*keys)[rng.IntN(len(*keys))]
		switch rng.IntN(10) {
		case 0:
			delete(content, key)
		case 1:
			key += fmt.Sprint(rng.Uint32())
			*keys = append(*keys, key)
			fallthrough
		default:
			content[key] = fmt.Sprintf("%0*d", 80+rng.IntN(5), rng.Uint64())
		}
		changed += int64(len(key) + len(content[key]) + 3)
	}
	return changed
}

// A snapshot after a few scattered operations sends about what they have changed, however much there is, and so do the
// many after it. Each of them can be restored, at bounded cost, also when others have been deleted.
func TestIncrementsAreAsSmallAsTheChange(t *testing.T) {
	for size, rounds := range map[int]int{4 << 20: 8, 16 << 20: 2} {
		if size > 4<<20 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprint(size>>20, "MB"), func(t *testing.T) {
			ctx, to := context.Background(), &counting{Target: snapshot.Dir(t.TempDir())}
			rng := rand.New(rand.NewPCG(1, uint64(size)))
			content := rowsOfAccounts(size)
			keys := slices.Sorted(maps.Keys(content))
			last := take(t, to, 1, content)
			_, whole := last.Size()
			var changed, sent int64
			var kept []map[string]string
			for n := range rounds {
				now := scatter(rng, content, &keys, 100)
				to.sent = 0
				saved := take(t, to, uint64(n+2), content)
				last = saved
				changed, sent = changed+now, sent+saved.NewBytes
				// The manifest tells of each chunk, of a third of a megabyte, in some hundred bytes.
				index := to.sent - saved.NewBytes
				if n == 0 {
					t.Logf("of %d bytes %d have changed; sent are %d, and a manifest of %d", whole, now, saved.NewBytes, index)
				}
				if n == 0 && saved.NewBytes > now*3/2+100 {
					t.Errorf("%d bytes have changed, and %d are sent", now, saved.NewBytes)
				}
				if index > whole/200+4096 {
					t.Errorf("the manifest %d has %d bytes, of %d", n, index, whole)
				}
				for _, c := range saved.Chunks {
					for i := range len(c.Edits) - 1 { // so there are logarithmically many
						if one, next := c.Edits[i].Bytes, c.Edits[i+1].Bytes; 2*one <= 3*next {
							t.Errorf("a chunk of %d bytes has an edit of %d bytes before one of %d", c.Bytes, one, next)
						}
					}
				}
				if n >= rounds-2 {
					kept = append(kept, maps.Clone(content))
				}
			}
			if sent > 3*changed {
				t.Errorf("in %d snapshots %d bytes have changed, and %d are sent", rounds, changed, sent)
			}
			t.Logf("in %d snapshots %d bytes have changed, and %d are sent", rounds, changed, sent)
			if _, err := snapshot.Prune(ctx, to, &last.Manifest, 2); err != nil {
				t.Fatal(err)
			}
			list, _, err := snapshot.List(ctx, to, "ab12")
			if err != nil || len(list) != 2 {
				t.Fatalf("List: %d, %v", len(list), err)
			}
			for i := range list {
				to.got = 0
				if got := read(t, to, &list[i]); !maps.Equal(got, kept[i]) {
					t.Errorf("snapshot %d has not what it was taken of", i)
				}
				if to.got > whole*5/4 {
					t.Errorf("to restore %d bytes, %d were read", whole, to.got)
				}
			}
		})
	}
}

// What is appended behind all rows is sent once, and so is what is taken from the front.
func TestQueuesAreSentOnce(t *testing.T) {
	to := snapshot.Dir(t.TempDir())
	content := rowsOfAccounts(1 << 20)
	first, next := 0, len(content)
	take(t, to, 1, content)
	var changed, sent int64
	for n := range 40 {
		for range 300 {
			delete(content, fmt.Sprintf("account %08d", first))
			content[fmt.Sprintf("account %08d", next)] = fmt.Sprintf("%084d", next)
			first, next, changed = first+1, next+1, changed+2*17+84
		}
		saved := take(t, to, uint64(n+2), content)
		sent += saved.NewBytes
		if n%10 == 9 && !maps.Equal(read(t, to, &saved.Manifest), content) {
			t.Errorf("snapshot %d has not what it was taken of", n)
		}
	}
	t.Logf("%d bytes have changed, and %d are sent", changed, sent)
	if sent > 4*changed {
		t.Errorf("%d bytes have changed, and %d are sent", changed, sent)
	}
}

// Snapshots are taken of content that changes in all ways, beside deletions of old ones, failures at every call, and
// damage. Each that is listed has what it was taken of, or names what is damaged.
func TestIncrementsSurviveFaults(t *testing.T) {
	failures, damages, edits := 0, 0, 0
	for seed := range *faultSeeds {
		ctx, root := context.Background(), t.TempDir()
		rng := rand.New(rand.NewPCG(seed, 2))
		to := &counting{Target: snapshot.Dir(root)}
		content := rowsOfAccounts(600_000)
		keys := slices.Sorted(maps.Keys(content))
		taken := map[string]map[string]string{}
		broken := map[string]bool{} // files
		for n := range 25 {
			scatter(rng, content, &keys, []int{0, 1, 30, 3000}[rng.IntN(4)])
			if rng.IntN(10) == 0 { // a part goes
				at := rng.IntN(len(keys))
				for _, k := range keys[at:min(len(keys), at+rng.IntN(3000))] {
					delete(content, k)
				}
			}
			m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: uint64(n), Taken: time.Unix(int64(n), 0)}
			if rng.IntN(2) == 0 {
				to.left = 1 + rng.IntN(12)
			}
			saved, err := snapshot.Save(ctx, to, m, rowsOf(content))
			switch {
			case err == nil:
				taken[saved.Name] = maps.Clone(content)
				for _, c := range saved.Chunks {
					edits += len(c.Edits)
				}
			case errors.Is(err, errBroken):
				failures++
			default:
				t.Fatal(err)
			}
			if rng.IntN(3) == 0 {
				if _, err := snapshot.Prune(ctx, to, &m, 1+rng.IntN(5)); err != nil && !errors.Is(err, errBroken) {
					t.Fatal(err)
				}
			}
			to.left = 0
			if rng.IntN(8) == 0 {
				damages++
				damageOne(t, rng, to, root, broken)
			}
			list, bad, err := snapshot.List(ctx, to, "")
			if err != nil || len(bad) > 0 {
				t.Fatal(bad, err)
			}
			for i := range list {
				got := map[string]string{}
				err := snapshot.Read(ctx, to, &list[i], func(key, value []byte) error {
					got[string(key)] = string(value)
					return nil
				})
				damage := new(snapshot.DamageError)
				switch {
				case errors.As(err, &damage) && broken[damage.Name]:
				case err != nil:
					t.Fatalf("seed %d, round %d: %v", seed, n, err)
				case !maps.Equal(got, taken[list[i].Name]):
					t.Fatalf("seed %d, round %d: %s has not what it was taken of", seed, n, list[i].Name)
				}
			}
		}
		// A place that is repaired as the manual says, by deleting what is named, has a whole snapshot again.
		for name := range broken {
			if err := os.Remove(filepath.Join(root, filepath.FromSlash(name))); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if saved := take(t, to, 1000, content); !maps.Equal(read(t, to, &saved.Manifest), content) {
			t.Errorf("seed %d: after all damage was deleted, the next snapshot is not whole", seed)
		}
	}
	t.Logf("%d failures, %d damages, %d edits", failures, damages, edits)
	if failures == 0 || damages == 0 || edits == 0 {
		t.Error("the test has tested nothing")
	}
}

// damageOne deletes, cuts or flips one file of content.
func damageOne(t *testing.T, rng *rand.Rand, to *counting, root string, broken map[string]bool) {
	t.Helper()
	entries, err := to.List(context.Background(), "ab12/chunks/")
	if err != nil || len(entries) == 0 {
		return
	}
	e := entries[rng.IntN(len(entries))]
	file := filepath.Join(root, filepath.FromSlash(e.Name))
	broken[e.Name] = true
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch rng.IntN(3) {
	case 0:
		err = os.Remove(file)
	case 1:
		err = os.Truncate(file, int64(rng.IntN(len(text))))
	default:
		text[rng.IntN(len(text))] ^= 1
		err = os.WriteFile(file, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Manifests with edits that cannot be are damaged, whatever their checksum says.
func TestImpossibleEdits(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	to := snapshot.Dir(root)
	content := rowsOfAccounts(20_000)
	take(t, to, 1, content)
	content["account 00000007"] = "changed"
	saved := take(t, to, 2, content)
	if len(saved.Packs) != 1 || len(saved.Chunks) != 1 || len(saved.Chunks[0].Edits) != 1 || saved.Version != snapshot.FormatVersion-1 {
		t.Fatalf("%+v", saved.Manifest)
	}
	e := saved.Chunks[0].Edits[0]
	for name, change := range map[string]func(m *snapshot.Manifest){
		"another pack":   func(m *snapshot.Manifest) { m.Chunks[0].Edits[0].Pack = 1 },
		"negative pack":  func(m *snapshot.Manifest) { m.Chunks[0].Edits[0].Pack = -1 },
		"negative place": func(m *snapshot.Manifest) { m.Chunks[0].Edits[0].Offset = -1 },
		"too long":       func(m *snapshot.Manifest) { m.Chunks[0].Edits[0].Bytes = e.Bytes + 1 },
		"far too long":   func(m *snapshot.Manifest) { m.Chunks[0].Edits[0].Bytes = 1<<63 - 1 },
		"no base":        func(m *snapshot.Manifest) { m.Chunks[0].Base = nil },
		"no edits":       func(m *snapshot.Manifest) { m.Chunks[0].Edits = nil },
		"another base":   func(m *snapshot.Manifest) { m.Chunks[0].Base.SHA256 = "../x" },
		"another file":   func(m *snapshot.Manifest) { m.Packs[0].SHA256 = "../x" },
	} {
		m := saved.Manifest
		base := *m.Chunks[0].Base
		m.Chunks, m.Packs = slices.Clone(m.Chunks), slices.Clone(m.Packs)
		m.Chunks[0].Base, m.Chunks[0].Edits = &base, slices.Clone(m.Chunks[0].Edits)
		change(&m)
		text := encoded(t, &m)
		if err := to.Put(ctx, "ab12/snapshots/"+m.Name+".json", strings.NewReader(text), int64(len(text))); err != nil {
			t.Fatal(err)
		}
		if list, damaged, err := snapshot.List(ctx, to, ""); err != nil || len(list) != 1 || len(damaged) != 1 {
			t.Errorf("%s: %d listed, %v, %v", name, len(list), damaged, err)
		}
	}
}

// encoded writes a manifest with its checksum.
func encoded(t *testing.T, m *snapshot.Manifest) string {
	t.Helper()
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\n\"sha256:%x\"\n", text, sha256.Sum256(text))
}
