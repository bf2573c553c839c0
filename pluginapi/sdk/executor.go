package sdk

import (
	"context"
	"io"
	"os"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg/section"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// maxArtifact bounds what Load accepts.
const maxArtifact = 1 << 31

// executorServer turns wire calls into calls of a vendor's Executor.
type executorServer struct {
	pb.UnimplementedExecutorServer
	impl Executor
	log  hclog.Logger
}

func descriptor(b []byte) (*section.Descriptor, error) {
	d, err := section.Unmarshal(b)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return d, nil
}

func (s *executorServer) Probe(ctx context.Context, r *pb.ProbeRequest) (*pb.ProbeResponse, error) {
	p, err := call(ctx, s.log, "Probe", func() (Probe, error) {
		d, err := descriptor(r.GetSectionDescriptor())
		if err != nil {
			return Probe{}, err
		}
		return s.impl.Probe(ctx, d)
	})
	return wire.ToProbe(p), err
}

func (s *executorServer) Load(stream grpc.ClientStreamingServer[pb.LoadRequest, pb.LoadResponse]) error {
	var head *pb.LoadRequest
	var art []byte
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if head == nil {
			head = m
			if head.GetArtifactLength() > maxArtifact {
				return status.Errorf(codes.ResourceExhausted, "artifact of %d bytes", head.GetArtifactLength())
			}
		}
		if m.GetOffset() != uint64(len(art)) || uint64(len(m.GetData())) > head.GetArtifactLength()-uint64(len(art)) {
			return status.Error(codes.InvalidArgument, "artifact chunk out of order or too long")
		}
		art = append(art, m.GetData()...)
	}
	if head == nil || uint64(len(art)) != head.GetArtifactLength() {
		return status.Error(codes.InvalidArgument, "artifact is not complete")
	}
	want, err := wire.FromDigest("artifact_digest", head.GetArtifactDigest())
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	if digest.Plain(art) != want {
		return status.Error(codes.DataLoss, "artifact does not have its digest")
	}
	d, err := descriptor(head.GetSectionDescriptor())
	if err != nil {
		return err
	}
	if err := d.CheckArtifact(uint64(len(art))); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	ctx := stream.Context()
	id, err := call(ctx, s.log, "Load", func() (uint64, error) {
		return s.impl.Load(ctx, &Section{Descriptor: d, Artifact: art})
	})
	if err != nil {
		return err
	}
	return stream.SendAndClose(&pb.LoadResponse{Module: id})
}

// do runs a call without a result.
func (s *executorServer) do(ctx context.Context, name string, fn func() error) error {
	_, err := call(ctx, s.log, name, func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

func (s *executorServer) Unload(ctx context.Context, r *pb.UnloadRequest) (*pb.UnloadResponse, error) {
	return &pb.UnloadResponse{}, s.do(ctx, "Unload", func() error { return s.impl.Unload(ctx, r.GetModule()) })
}

func (s *executorServer) Alloc(ctx context.Context, r *pb.AllocRequest) (*pb.AllocResponse, error) {
	align := r.GetAlign()
	if align == 0 {
		align = 64
	}
	if align&(align-1) != 0 {
		return nil, status.Errorf(codes.InvalidArgument, "alignment %d is not a power of two", align)
	}
	id, err := call(ctx, s.log, "Alloc", func() (uint64, error) { return s.impl.Alloc(ctx, r.GetBytes(), align) })
	return &pb.AllocResponse{Buffer: id}, err
}

func (s *executorServer) CopyIn(ctx context.Context, r *pb.CopyInRequest) (*pb.CopyInResponse, error) {
	return &pb.CopyInResponse{}, s.do(ctx, "CopyIn", func() error {
		src := r.GetInline()
		if sh := r.GetShared(); sh != nil {
			if sh.GetLength() > maxArtifact<<8 {
				return status.Errorf(codes.ResourceExhausted, "range of %d bytes", sh.GetLength())
			}
			f, err := os.Open(sh.GetPath())
			if err != nil {
				return err
			}
			defer f.Close()
			src = make([]byte, sh.GetLength())
			if _, err := f.ReadAt(src, int64(sh.GetOffset())); err != nil {
				return err
			}
		}
		return s.impl.CopyIn(ctx, r.GetBuffer(), r.GetOffset(), src)
	})
}

func (s *executorServer) CopyOut(ctx context.Context, r *pb.CopyOutRequest) (*pb.CopyOutResponse, error) {
	return call(ctx, s.log, "CopyOut", func() (*pb.CopyOutResponse, error) {
		sh := r.GetShared()
		limit := uint64(wire.MaxChunk)
		if sh != nil {
			limit = maxArtifact << 8
		}
		if r.GetLength() > limit {
			return nil, status.Errorf(codes.ResourceExhausted, "range of %d bytes", r.GetLength())
		}
		dst := make([]byte, r.GetLength())
		if err := s.impl.CopyOut(ctx, r.GetBuffer(), r.GetOffset(), dst); err != nil {
			return nil, err
		}
		if sh == nil {
			return &pb.CopyOutResponse{Inline: dst}, nil
		}
		if sh.GetLength() != r.GetLength() {
			return nil, status.Error(codes.InvalidArgument, "shared range and length differ")
		}
		f, err := os.OpenFile(sh.GetPath(), os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		_, err = f.WriteAt(dst, int64(sh.GetOffset()))
		return &pb.CopyOutResponse{}, err
	})
}

func (s *executorServer) Free(ctx context.Context, r *pb.FreeRequest) (*pb.FreeResponse, error) {
	return &pb.FreeResponse{}, s.do(ctx, "Free", func() error { return s.impl.Free(ctx, r.GetBuffer()) })
}

func (s *executorServer) Invoke(r *pb.InvokeRequest, stream grpc.ServerStreamingServer[pb.InvokeResponse]) error {
	ctx := stream.Context()
	if err := stream.Send(&pb.InvokeResponse{Event: &pb.InvokeResponse_Started{Started: &pb.InvokeStarted{}}}); err != nil {
		return err
	}
	out, err := call(ctx, s.log, "Invoke", func() (Outcome, error) {
		return s.impl.Invoke(ctx, Call{
			Module: r.GetModule(), Entry: r.GetEntry(), Inputs: r.GetInputs(), Outputs: r.GetOutputs(), Threads: r.GetThreads(),
		})
	})
	if err != nil {
		return err
	}
	return stream.Send(&pb.InvokeResponse{Event: &pb.InvokeResponse_Completed{Completed: wire.ToOutcome(out)}})
}
