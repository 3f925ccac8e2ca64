package grpcdoor

import (
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// text replaces what is no UTF-8 in a text for people: programs may abort with any bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
