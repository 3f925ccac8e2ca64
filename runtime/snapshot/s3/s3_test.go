package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/aeon-lang/aeon/runtime/snapshot"
)

// bucket answers like S3 does, for one bucket and objects that come in one piece.
type bucket struct {
	name string
	mu   struct {
		sync.Mutex
		objects map[string][]byte
		fail    map[string]int // requests of a kind that are refused from now on
		private string         // an object that cannot be read; "": none
	}
}

// ServeHTTP implements http.Handler.
func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b.mu.Lock()
	defer b.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused</Message><BucketName>%s</BucketName><Key>%s</Key></Error>", code, name, key)
	}
	object, there := b.mu.objects[key]
	switch {
	case name != b.name:
		refuse(http.StatusNotFound, "NoSuchBucket")
	case b.mu.fail[r.Method] > 0:
		b.mu.fail[r.Method]--
		refuse(http.StatusForbidden, "AccessDenied")
	case b.mu.private != "" && key == b.mu.private && r.Method != http.MethodDelete:
		refuse(http.StatusForbidden, "AccessDenied")
	case r.Method == http.MethodPut && key != "":
		data, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength >= 0 && int64(len(data)) != r.ContentLength {
			refuse(http.StatusBadRequest, "IncompleteBody")
			return
		}
		b.mu.objects[key] = unchunked(r, data)
		w.Header().Set("ETag", `"e"`)
	case key == "" && r.Method == http.MethodHead:
	case key == "" && r.URL.Query().Has("location"):
		_, _ = io.WriteString(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></LocationConstraint>`)
	case key == "":
		b.list(w, r)
	case r.Method == http.MethodDelete:
		delete(b.mu.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		refuse(http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("ETag", `"e"`)
		http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(object))
	}
}

// list answers a page of two objects at a time.
func (b *bucket) list(w http.ResponseWriter, r *http.Request) {
	type content struct {
		Key          string
		Size         int
		LastModified string
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
	}
	q := r.URL.Query()
	for _, key := range slices.Sorted(maps.Keys(b.mu.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") {
			continue
		}
		if len(page.Contents) == 2 {
			page.IsTruncated, page.NextContinuationToken = true, page.Contents[1].Key
			break
		}
		page.Contents = append(page.Contents, content{key, len(b.mu.objects[key]), "2026-01-01T00:00:00.000Z"})
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// unchunked takes the signatures out of a body that was signed piece by piece.
func unchunked(r *http.Request, data []byte) []byte {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return data
	}
	var out []byte
	for {
		head, rest, ok := bytes.Cut(data, []byte("\r\n"))
		var n int
		if _, err := fmt.Sscanf(string(head), "%x", &n); !ok || err != nil || n == 0 {
			return out
		}
		out, data = append(out, rest[:n]...), rest[n+2:]
	}
}

func serve(t *testing.T) (*bucket, string) {
	t.Helper()
	b := &bucket{name: "backups"}
	b.mu.objects, b.mu.fail = map[string][]byte{}, map[string]int{}
	srv := httptest.NewServer(b)
	t.Cleanup(srv.Close)
	return b, "s3://backups/aeon/one?insecure=true&region=us-east-1&endpoint=" + strings.TrimPrefix(srv.URL, "http://")
}

func dial(t *testing.T, address string) *target {
	t.Helper()
	to, err := open(address, credentials.NewStaticV4("id", "secret", ""))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func rows(n int) snapshot.Rows {
	return func(emit func(key, value []byte) error) error {
		for i := range n {
			if err := emit(fmt.Appendf(nil, "%04d", i), []byte(strings.Repeat("x", 1000))); err != nil {
				return err
			}
		}
		return nil
	}
}

// A snapshot goes to a bucket and comes back; the second sends only what is new.
func TestSnapshotInABucket(t *testing.T) {
	ctx := context.Background()
	b, address := serve(t)
	to := dial(t, address)
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: 1, Taken: time.Unix(1, 0)}
	s, err := snapshot.Save(ctx, to, m, rows(5000))
	if err != nil || s.New != len(s.Chunks) || s.New < 2 {
		t.Fatalf("Save: %d of %d chunks, %v", s.New, len(s.Chunks), err)
	}
	m.Number, m.Taken = 2, time.Unix(2, 0)
	if s, err = snapshot.Save(ctx, to, m, rows(5000)); err != nil || s.New != 0 {
		t.Fatalf("the second Save: %+v, %v", s, err)
	}
	for key := range b.mu.objects {
		if !strings.HasPrefix(key, "aeon/one/ab12/") {
			t.Errorf("an object %q outside of the prefix", key)
		}
	}
	found, err := snapshot.Find(ctx, to, snapshot.Wanted{})
	if err != nil || found.Parts[0].Number != 2 {
		t.Fatalf("Find: %+v, %v", found, err)
	}
	newest := &found.Parts[0].Manifest
	n := 0
	err = snapshot.Read(ctx, to, newest, func(key, value []byte) error {
		if string(key) != fmt.Sprintf("%04d", n) || len(value) != 1000 {
			return fmt.Errorf("row %q", key)
		}
		n++
		return nil
	})
	if n != 5000 || err != nil {
		t.Errorf("Read: %d rows, %v", n, err)
	}
	if n, err := snapshot.Prune(ctx, to, &snapshot.Manifest{Store: "ab12", Kind: snapshot.Node}, 1); n != 1 || err != nil {
		t.Errorf("Prune: %d, %v", n, err)
	}
	if err := snapshot.Verify(ctx, to, newest); err != nil {
		t.Error(err)
	}
	if _, err := to.Get(ctx, "ab12/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get of nothing: %v", err)
	}
}

// An object that this process may not read hides no other one: it may be whole, and is told.
func TestAnObjectThatCannotBeRead(t *testing.T) {
	b, address := serve(t)
	to := dial(t, address)
	var names []string
	for n := range uint64(3) {
		m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: n + 1, Taken: time.Unix(int64(n), 0)}
		s, err := snapshot.Save(t.Context(), to, m, rows(1))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, s.Name)
	}
	b.mu.private = "aeon/one/ab12/snapshots/" + names[1] + ".json"
	for _, store := range []string{"", "ab12"} {
		list, bad, err := snapshot.List(t.Context(), to, store)
		if err != nil || len(list) != 2 || list[0].Name != names[0] || list[1].Name != names[2] {
			t.Errorf("List of %q: %v, %v", store, list, err)
		}
		if len(bad) != 1 || bad[0].Trouble != snapshot.Unread || bad[0].Snapshot() != names[1] || !strings.Contains(bad[0].Error(), "Access Denied") {
			t.Errorf("List of %q: troubles %v", store, bad)
		}
	}
	if found, err := snapshot.Find(t.Context(), to, snapshot.Wanted{}); err != nil || found.Name != names[2] {
		t.Errorf("Find: %v, %v", found, err)
	}
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Program: "bank", Number: 4, Taken: time.Unix(4, 0)}
	if _, err := snapshot.Save(t.Context(), to, m, rows(1)); err != nil {
		t.Errorf("the next snapshot: %v", err)
	}
}

// What the bucket refuses is an error, and no snapshot.
func TestRefusedPut(t *testing.T) {
	ctx := context.Background()
	b, address := serve(t)
	to := dial(t, address)
	b.mu.fail[http.MethodPut] = 1
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Number: 1, Taken: time.Unix(1, 0)}
	if _, err := snapshot.Save(ctx, to, m, rows(1)); err == nil || !strings.Contains(err.Error(), "ab12/chunks/") {
		t.Errorf("Save: %v", err)
	}
	if list, _, err := snapshot.List(ctx, to, ""); len(list) > 0 || err != nil {
		t.Errorf("List: %v, %v", list, err)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"s3://b":                         "s3://b/",
		"s3://b/":                        "s3://b/",
		"s3://b/p/q/":                    "s3://b/p/q/",
		"s3://b/p?region=x&endpoint=e:1": "s3://b/p/?region=x&endpoint=e:1",
		"http://b/p":                     "an address is s3://",
		"s3:///p":                        "an address is s3://",
		"s3://b/p?endpont=x":             `no parameter "endpont"`,
		"s3://b/p?endpoint=http://x":     "Endpoint",
	} {
		to, err := open(address, credentials.NewStaticV4("id", "secret", ""))
		below := func(address string) string { // the parameters stay at its end
			path, parameters, some := strings.Cut(address, "?")
			if some {
				parameters = "?" + parameters
			}
			return path + "node1" + parameters
		}
		switch {
		case err == nil && to.String() != want:
			t.Errorf("%s is %s, want %s", address, to, want)
		case err == nil && snapshot.Below(to, "node1", nil).String() != below(want):
			t.Errorf("a place below %s is %s", address, snapshot.Below(to, "node1", nil))
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}

func TestMissingBucketIsNamed(t *testing.T) {
	_, address := serve(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	if _, err := Open(context.Background(), strings.Replace(address, "backups", "backup", 1)); err == nil || !strings.Contains(err.Error(), `no bucket "backup"`) {
		t.Errorf("Open: %v", err)
	}
	if _, err := Open(context.Background(), address); err != nil {
		t.Errorf("Open: %v", err)
	}
}

// A bucket that does not answer, or only that it cannot now, may do so later, by the target that was opened. One that refuses does not.
func TestABucketIsAway(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b := &bucket{name: "backups"}
	b.mu.objects, b.mu.fail = map[string][]byte{}, map[string]int{}
	var busy atomic.Bool
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		b.ServeHTTP(w, r)
	}))
	defer srv.Close()
	ctx := func() context.Context { // the client tries until it is done
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	address := "s3://backups/p?insecure=true&region=us-east-1&endpoint="
	away := new(snapshot.AwayError)
	if to, err := Open(ctx(), address+"127.0.0.1:1"); to == nil || !errors.As(err, &away) || !strings.Contains(err.Error(), "127.0.0.1:1 does not answer") {
		t.Errorf("where nothing listens: %v, %v", to, err)
	}
	address += strings.TrimPrefix(srv.URL, "http://")
	busy.Store(true)
	to, err := Open(ctx(), address)
	if to == nil || !errors.As(err, &away) {
		t.Fatalf("a busy one: %v, %v", to, err)
	}
	busy.Store(false)
	m := snapshot.Manifest{Kind: snapshot.Node, Store: "ab12", Number: 1, Taken: time.Unix(1, 0)}
	if _, err := snapshot.Save(t.Context(), to, m, rows(1)); err != nil {
		t.Errorf("when it answers: %v", err)
	}
	b.mu.fail[http.MethodHead] = 1
	if to, err := Open(t.Context(), address); to != nil || err == nil || errors.As(err, &away) || !strings.Contains(err.Error(), "Access Denied") {
		t.Errorf("one that refuses: %v, %v", to, err)
	}
	if to, err := Open(t.Context(), strings.Replace(address, "backups", "B", 1)); to != nil || err == nil || errors.As(err, &away) {
		t.Errorf("a name that no bucket can have: %v, %v", to, err)
	}
}
