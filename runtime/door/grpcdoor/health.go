package grpcdoor

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// health serves whether calls are performed: to all, without a token, as /readyz does.
type health struct {
	healthv1.UnimplementedHealthServer
	*Server
}

func (s *Server) registerHealth() { healthv1.RegisterHealthServer(s.grpc, health{Server: s}) }

// now is the state of the program. It has no other service: their names are for callers with rights.
func (h health) now(r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	if r.GetService() != "" {
		return nil, status.Error(codes.NotFound, "the program tells its health as a whole: ask for the service \"\"")
	}
	if h.door.Ready() != nil {
		return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &healthv1.HealthCheckResponse{Status: healthv1.HealthCheckResponse_SERVING}, nil
}

// Check implements healthv1.HealthServer.
func (h health) Check(_ context.Context, r *healthv1.HealthCheckRequest) (*healthv1.HealthCheckResponse, error) {
	return h.now(r)
}

// lookEach is how often Watch looks.
const lookEach = time.Second

// Watch implements healthv1.HealthServer.
func (h health) Watch(r *healthv1.HealthCheckRequest, stream grpc.ServerStreamingServer[healthv1.HealthCheckResponse]) error {
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	lasting(stream.Context())
	said := healthv1.HealthCheckResponse_UNKNOWN
	for {
		now, err := h.now(r)
		if err != nil {
			return err
		}
		if now.Status != said {
			said = now.Status
			if err := h.send(stream, now); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		case <-h.gate.Ending():
			return status.Error(codes.Unavailable, "the program is ending")
		}
	}
}
