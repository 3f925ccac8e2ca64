//go:build linux

package cluster

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// rung is a callback that an ear has got.
type rung struct {
	number uint64
	bell   string
	n      int64
}

// ear is a client of one node that receives callbacks.
type ear struct {
	w      *world
	at     int
	conn   *grpc.ClientConn // nil: it goes by HTTP
	id     string
	object string // the reference to its object
}

// dial connects to a node by gRPC.
func (w *world) dial(i int) *grpc.ClientConn {
	w.t.Helper()
	soon := backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.5, MaxDelay: 200 * time.Millisecond}
	conn, err := grpc.NewClient(w.http[i], grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: time.Second}))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// field appends a field of a message that is text, or a number.
func field(b []byte, number protowire.Number, v any) []byte {
	switch v := v.(type) {
	case string:
		return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
	case uint64:
		return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
	}
	panic(fmt.Sprintf("%T", v))
}

// fields returns the fields of a message, of which none is there twice.
func fields(b []byte) (texts map[protowire.Number][]byte, numbers map[protowire.Number]uint64) {
	texts, numbers = make(map[protowire.Number][]byte), make(map[protowire.Number]uint64)
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		b = b[max(n, 0):]
		if kind == protowire.BytesType {
			texts[number], n = protowire.ConsumeBytes(b)
		} else {
			numbers[number], n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			panic(protowire.ParseError(n))
		}
		b = b[n:]
	}
	return texts, numbers
}

// invoke calls a method by gRPC.
func invoke(ctx context.Context, conn *grpc.ClientConn, path string, in []byte) (out []byte, err error) {
	err = conn.Invoke(ctx, path, &in, &out, grpc.ForceCodec(plain{}))
	return out, err
}

// begin begins the client, with an object of class Ear.
func (e *ear) begin(ctx context.Context) error {
	if e.conn != nil {
		out, err := invoke(ctx, e.conn, "/counter.Clients/begin", field(nil, 1, "Ear"))
		if err != nil {
			return err
		}
		answer, _ := fields(out)
		reference, _ := fields(answer[2])
		e.id, e.object = string(answer[1]), string(reference[2])
		return nil
	}
	answer, err := e.send(ctx, http.MethodPost, "/v1/clients", `{"classes": ["Ear"]}`)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var begun struct {
		ID         string
		References map[string]string
	}
	if err := json.NewDecoder(answer.Body).Decode(&begun); err != nil {
		return err
	}
	e.id, e.object = begun.ID, begun.References["Ear"]
	return nil
}

// send sends a request by HTTP. The error has what is answered to one that is refused.
func (e *ear) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+e.w.http[e.at]+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := sender.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		defer answer.Body.Close()
		b, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, b)
	}
	return answer, nil
}

// listen has a bell tell the ear.
func (e *ear) listen(ctx context.Context, bell string) error {
	if e.conn != nil {
		_, err := invoke(ctx, e.conn, "/counter.Bell/listen", field(field(field(nil, 1, bell), 2, bell), 3, e.object))
		return err
	}
	body, err := json.Marshal(map[string]string{"called": bell, "ear": e.object})
	if err != nil {
		return err
	}
	answer, err := e.send(ctx, http.MethodPost, "/v1/Bell/"+bell+"/listen", string(body))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// end ends the client.
func (e *ear) end(ctx context.Context) error {
	if e.conn != nil {
		_, err := invoke(ctx, e.conn, "/counter.Clients/end", field(nil, 1, e.id))
		return err
	}
	answer, err := e.send(ctx, http.MethodDelete, "/v1/clients/"+e.id, "")
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// hear takes the callbacks behind a number until the stream ends; the error says why it does.
func (e *ear) hear(ctx context.Context, after uint64, take func(rung)) error {
	if e.conn != nil {
		return e.hearGRPC(ctx, after, take)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.w.http[e.at]+"/v1/clients/"+e.id+"/events", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Last-Event-ID", strconv.FormatUint(after, 10))
	answer, err := sender.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s: %s", answer.Status, b)
	}
	lines := bufio.NewScanner(answer.Body)
	var heard rung
	kind := ""
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			kind = text
		case "id":
			if heard.number, err = strconv.ParseUint(text, 10, 64); err != nil {
				return err
			}
		case "data":
			if kind == "end" {
				return errors.New(text)
			}
			var said struct {
				Class, Method string
				Arguments     struct {
					Bell string
					N    int64
				}
			}
			if err := json.Unmarshal([]byte(text), &said); err != nil || said.Class != "Ear" || said.Method != "rang" {
				return fmt.Errorf("the callback is %s (%v)", text, err)
			}
			heard.bell, heard.n = said.Arguments.Bell, said.Arguments.N
			take(heard)
		}
	}
	return cmp.Or(lines.Err(), io.EOF)
}

func (e *ear) hearGRPC(ctx context.Context, after uint64, take func(rung)) error {
	stream, err := e.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/counter.Clients/receive", grpc.ForceCodec(plain{}))
	if err != nil {
		return err
	}
	in := field(field(nil, 1, e.id), 2, after)
	if err := stream.SendMsg(&in); err != nil {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for {
		var out []byte
		if err := stream.RecvMsg(&out); err != nil {
			return err
		}
		callback, number := fields(out)
		of, _ := fields(callback[2])
		name, n := fields(of[1])
		take(rung{number[1], string(name[1]), int64(n[2])})
	}
}

// callGRPC is call by gRPC, of a method that has a number as its result.
func (c *crowd) callGRPC(conn *grpc.ClientConn, path, key string, in []byte) (result int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 12*time.Second)
	defer cancel()
	out, err := invoke(metadata.AppendToOutgoingContext(ctx, "idempotency-key", key), conn, path, in)
	switch status.Code(err) {
	case codes.OK:
	case codes.Unavailable, codes.DeadlineExceeded, codes.Internal: // the last is an answer that was cut off
		return 0, err
	default:
		c.fail("%s: %v", path, err)
		return 0, nil
	}
	_, answer := fields(out)
	return int64(answer[1]), nil
}
