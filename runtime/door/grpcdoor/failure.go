package grpcdoor

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/aeon-lang/aeon/runtime/door"
)

// statuses are the codes of gRPC of failures, by their own. Aborted of gRPC is not among them: it asks for a repetition, and
// a program that aborts a call does so again.
var statuses = map[string]codes.Code{
	door.Aborted: codes.FailedPrecondition, door.Fault: codes.FailedPrecondition, door.TooMuch: codes.FailedPrecondition,
	door.KeyReused: codes.FailedPrecondition, door.BadResult: codes.FailedPrecondition,
	door.NotThere: codes.NotFound, door.BadArgs: codes.InvalidArgument, door.NoClient: codes.InvalidArgument, door.Forgotten: codes.OutOfRange,
	door.Full: codes.Unavailable, door.TimedOut: codes.DeadlineExceeded, door.NoOutcome: codes.Unavailable, door.Closing: codes.Unavailable,
	door.Unauthenticated: codes.Unauthenticated, door.Forbidden: codes.PermissionDenied,
	door.TooLarge: codes.ResourceExhausted,
}

// domain is that of the reasons of failures.
const domain = "aeon"

// retryAfter is after which time a client is to send again what may succeed later.
const retryAfter = time.Second

// failed returns the status of a failure.
func failed(err error) error {
	f := door.Explain(err)
	return statusOf(statuses[f.Code], f)
}

// statusOf returns a status with all that is known of a failure.
func statusOf(code codes.Code, f *door.Failure) error {
	info := &errdetails.ErrorInfo{Reason: f.Code, Domain: domain, Metadata: map[string]string{"happened": string(f.Happened)}}
	if f.Away {
		info.Metadata["away"] = "true"
	}
	if f.At != "" {
		info.Metadata["at"] = text(f.At)
	}
	details := []protoadapt.MessageV1{info}
	if len(f.Path) > 0 {
		path := &errdetails.DebugInfo{}
		for _, p := range f.Path {
			path.StackEntries = append(path.StackEntries, text(p))
		}
		details = append(details, path)
	}
	if f.Later {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
	}
	s, err := status.New(code, text(f.Msg)).WithDetails(details...)
	if err != nil {
		panic(err) // they are messages of protobuf
	}
	return s.Err()
}

// The metadata by which what forwards an answer knows that it may be sent elsewhere, and what has happened, without reading the status. They
// are those of package httpdoor.
const (
	codeKey     = "aeon-code"
	happenedKey = "aeon-happened"
	awayKey     = "aeon-away"
)

// tell puts the metadata of a failure into an answer whose headers were not sent.
func tell(stream grpc.ServerStream, err error) {
	if code := status.Code(err); code != codes.Unavailable && code != codes.DeadlineExceeded {
		return
	}
	for _, d := range status.Convert(err).Details() {
		if info, is := d.(*errdetails.ErrorInfo); is {
			md := metadata.Pairs(codeKey, info.Reason, happenedKey, info.Metadata["happened"])
			if away := info.Metadata["away"]; away != "" {
				md.Set(awayKey, away)
			}
			_ = stream.SetHeader(md) // they may have been sent
		}
	}
}

// Fail answers a request that has come by HTTP/2 with a failure that door.Explain explains, for what serves requests before a Server does. It returns the code of
// the answer.
func Fail(w http.ResponseWriter, err error) (code uint32) {
	f := door.Explain(err)
	s := status.Convert(failed(err))
	details, err := proto.Marshal(s.Proto())
	if err != nil {
		panic(err) // it has what statusOf put in
	}
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set(codeKey, f.Code)
	h.Set(happenedKey, string(f.Happened))
	if f.Away {
		h.Set(awayKey, "true")
	}
	h.Set("Grpc-Status", strconv.Itoa(int(s.Code())))
	h.Set("Grpc-Message", percent(s.Message()))
	h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
	w.WriteHeader(http.StatusOK)
	return uint32(s.Code())
}

// percent writes a text as the header grpc-message has it.
func percent(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// text replaces what is no UTF-8 in a text for people: programs may abort with any bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
