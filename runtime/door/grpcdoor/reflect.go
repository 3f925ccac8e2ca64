package grpcdoor

import (
	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/durationpb"  // registers the file that those of programs import
	_ "google.golang.org/protobuf/types/known/timestamppb" // and this one

	"github.com/aeon-lang/aeon/runtime/door/access"
	"github.com/aeon-lang/aeon/runtime/protocodec"
)

// view is what one caller learns by reflection: what it may call.
type view struct {
	files    protoregistry.Files
	services map[string]grpc.ServiceInfo
}

// view returns the view of a caller.
func (s *Server) view(by *access.Caller) (*view, error) {
	if v, ok := s.views.Load(by); ok {
		return v.(*view), nil
	}
	schema, err := schemaOf(s.door, by.May, by.MayBe)
	if err != nil {
		return nil, err
	}
	v := &view{services: map[string]grpc.ServiceInfo{
		healthv1.Health_ServiceDesc.ServiceName: {}, reflectionv1.ServerReflection_ServiceDesc.ServiceName: {},
	}}
	for _, f := range schema.Files {
		if err := v.add(f); err != nil {
			return nil, err
		}
	}
	for name := range schema.Services {
		v.services[name] = grpc.ServiceInfo{}
	}
	for _, c := range schema.Clients {
		v.services[c.Name] = grpc.ServiceInfo{}
	}
	s.views.Store(by, v)
	return v, nil
}

// add adds a file of the program.
func (v *view) add(f *protocodec.File) error {
	var of descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal(f.Descriptor(), &of); err != nil {
		return err
	}
	made, err := protodesc.NewFile(&of, v)
	if err != nil {
		return err
	}
	return v.files.RegisterFile(made)
}

// FindFileByPath implements protodesc.Resolver.
func (v *view) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if f, err := v.files.FindFileByPath(path); err == nil {
		return f, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName implements protodesc.Resolver.
func (v *view) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := v.files.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (v *view) GetServiceInfo() map[string]grpc.ServiceInfo { return v.services }

// options are those of a server of reflection for one caller.
func (s *Server) options(stream grpc.ServerStream) (o reflection.ServerOptions, err error) {
	q, err := s.request(stream.Context())
	if err != nil {
		return o, failed(err)
	}
	v, err := s.view(q.By)
	if err != nil {
		return o, failed(err)
	}
	return reflection.ServerOptions{Services: v, DescriptorResolver: v}, nil
}

// reflectionNow serves reflection.
type reflectionNow struct {
	reflectionv1.UnimplementedServerReflectionServer
	*Server
}

// ServerReflectionInfo implements reflectionv1.ServerReflectionServer.
func (r reflectionNow) ServerReflectionInfo(stream reflectionv1.ServerReflection_ServerReflectionInfoServer) error {
	o, err := r.options(stream)
	if err != nil {
		return err
	}
	return reflection.NewServerV1(o).ServerReflectionInfo(&grpc.GenericServerStream[reflectionv1.ServerReflectionRequest, reflectionv1.ServerReflectionResponse]{ServerStream: asking{stream}})
}

// reflectionBefore serves reflection as many tools still ask for it.
type reflectionBefore struct {
	reflectionv1alpha.UnimplementedServerReflectionServer
	*Server
}

// ServerReflectionInfo implements reflectionv1alpha.ServerReflectionServer.
func (r reflectionBefore) ServerReflectionInfo(stream reflectionv1alpha.ServerReflection_ServerReflectionInfoServer) error {
	o, err := r.options(stream)
	if err != nil {
		return err
	}
	return reflection.NewServer(o).ServerReflectionInfo(&grpc.GenericServerStream[reflectionv1alpha.ServerReflectionRequest, reflectionv1alpha.ServerReflectionResponse]{ServerStream: asking{stream}})
}

func (s *Server) registerReflection() {
	reflectionv1.RegisterServerReflectionServer(s.grpc, reflectionNow{Server: s})
	reflectionv1alpha.RegisterServerReflectionServer(s.grpc, reflectionBefore{Server: s})
}
