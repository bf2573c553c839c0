package sdk

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/core/digest"
	"github.com/kera-lang/kera/core/keg/section"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// backendServer turns wire calls into calls of a vendor's Backend.
type backendServer struct {
	pb.UnimplementedBackendServer
	impl     Backend
	executor bool
	store    *store
	log      hclog.Logger
}

func (s *backendServer) info() Info {
	i := s.impl.Info()
	i.ProtocolMajor, i.ProtocolMinor = wire.Major, wire.Minor
	i.Capabilities = []Capability{spi.CapGraphFile, spi.CapContentStore}
	if _, ok := s.impl.(Supporter); ok {
		i.Capabilities = append(i.Capabilities, spi.CapSupport)
	}
	if _, ok := s.impl.(Estimator); ok {
		i.Capabilities = append(i.Capabilities, spi.CapEstimate)
	}
	if s.executor {
		i.Capabilities = append(i.Capabilities, spi.CapExecutor, spi.CapSharedFile)
	}
	return i
}

func (s *backendServer) GetInfo(ctx context.Context, _ *pb.GetInfoRequest) (*pb.GetInfoResponse, error) {
	i, err := call(ctx, s.log, "GetInfo", func() (Info, error) { return s.info(), nil })
	return wire.ToInfo(i), err
}

func (s *backendServer) DescribeTargets(ctx context.Context, _ *pb.DescribeTargetsRequest) (*pb.DescribeTargetsResponse, error) {
	ts, err := call(ctx, s.log, "DescribeTargets", func() ([]Target, error) { return s.impl.Targets(ctx) })
	if err != nil {
		return nil, err
	}
	out := new(pb.DescribeTargetsResponse)
	for _, t := range ts {
		out.Targets = append(out.Targets, wire.ToTarget(t))
	}
	return out, nil
}

func (s *backendServer) Configure(ctx context.Context, r *pb.ConfigureRequest) (*pb.ConfigureResponse, error) {
	ds, err := call(ctx, s.log, "Configure", func() ([]Diagnostic, error) {
		return s.impl.Configure(ctx, r.GetTriple(), r.GetOptions())
	})
	return &pb.ConfigureResponse{Diagnostics: wire.ToDiagnostics(ds)}, err
}

// jobRequest is the shape that all requests about a graph share.
type jobRequest interface {
	GetGraph() *pb.GraphRef
	GetEntries() []string
	GetTriple() string
	GetFeatures() []string
	GetOptions() map[string]string
}

func (s *backendServer) job(r jobRequest) (Job, error) {
	g, err := s.store.resolve(r.GetGraph())
	if err != nil {
		return Job{}, err
	}
	return Job{
		Graph: g, Entries: r.GetEntries(), Triple: r.GetTriple(), Features: r.GetFeatures(), Options: r.GetOptions(),
	}, nil
}

func (s *backendServer) GetSupport(ctx context.Context, r *pb.GetSupportRequest) (*pb.GetSupportResponse, error) {
	impl, ok := s.impl.(Supporter)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "this backend takes every node of the ops it declares")
	}
	out, err := call(ctx, s.log, "GetSupport", func() (Support, error) {
		job, err := s.job(r)
		if err != nil {
			return Support{}, err
		}
		return impl.Support(ctx, job)
	})
	if err != nil {
		return nil, err
	}
	return wire.ToSupport(out), nil
}

func (s *backendServer) Estimate(ctx context.Context, r *pb.EstimateRequest) (*pb.EstimateResponse, error) {
	impl, ok := s.impl.(Estimator)
	if !ok {
		return nil, status.Error(codes.Unimplemented, "this backend makes no estimates")
	}
	return call(ctx, s.log, "Estimate", func() (*pb.EstimateResponse, error) {
		job, err := s.job(r)
		if err != nil {
			return nil, err
		}
		e, ds, err := impl.Estimate(ctx, job)
		if err != nil {
			return nil, err
		}
		return wire.ToEstimate(e, ds), nil
	})
}

// reporter serialises events onto the stream and falls silent once the call
// has been answered, as vendor code may outlive it.
type reporter struct {
	mu     sync.Mutex
	stream grpc.ServerStreamingServer[pb.CompileResponse]
	closed bool
	failed bool // an error diagnostic was sent
}

func (r *reporter) send(m *pb.CompileResponse) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	return r.stream.Send(m)
}

func (r *reporter) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// Progress and Diagnose drop transport errors: the context carries them.
func (r *reporter) Progress(p Progress) {
	_ = r.send(&pb.CompileResponse{Event: &pb.CompileResponse_Progress{
		Progress: &pb.Progress{Stage: p.Stage, Done: p.Done, Total: p.Total},
	}})
}

func (r *reporter) Diagnose(d Diagnostic) {
	if d.Severity == spi.Error {
		r.mu.Lock()
		r.failed = true
		r.mu.Unlock()
	}
	_ = r.send(&pb.CompileResponse{Event: &pb.CompileResponse_Diagnostic{Diagnostic: wire.ToDiagnostic(d)}})
}

func (s *backendServer) Compile(r *pb.CompileRequest, stream grpc.ServerStreamingServer[pb.CompileResponse]) error {
	ctx := stream.Context()
	rep := &reporter{stream: stream}
	defer rep.close()
	sec, err := call(ctx, s.log, "Compile", func() (*Section, error) {
		job, err := s.job(r)
		if err != nil {
			return nil, err
		}
		return s.impl.Compile(ctx, job, rep)
	})
	if err != nil {
		return err
	}
	rep.mu.Lock()
	failed := rep.failed
	rep.mu.Unlock()
	if sec == nil || failed {
		if !failed {
			return status.Error(codes.Internal, "BUG: the backend returned neither a section nor an error diagnostic")
		}
		return nil
	}
	return sendSection(rep, s.seal(sec, r))
}

// seal fills in what the backend left out and puts lists in order.
func (s *backendServer) seal(sec *Section, r *pb.CompileRequest) *Section {
	d := *sec.Descriptor
	if d.Triple == "" {
		d.Triple = r.GetTriple()
	}
	if d.Features == nil {
		d.Features = slices.Clone(r.GetFeatures())
	}
	slices.Sort(d.Features)
	d.Features = slices.Compact(d.Features)
	d.Entries = slices.Clone(d.Entries)
	slices.SortStableFunc(d.Entries, func(a, b section.Entry) int {
		if a.Name < b.Name {
			return -1
		} else if a.Name > b.Name {
			return 1
		}
		return 0
	})
	info := s.impl.Info()
	d.Plugin = section.Plugin{Name: info.Name, Version: info.Version, ProtocolMajor: wire.Major, ProtocolMinor: wire.Minor}
	return &Section{Descriptor: &d, Artifact: sec.Artifact}
}

func sendSection(rep *reporter, sec *Section) error {
	desc, err := sec.Descriptor.Marshal()
	if err == nil {
		err = sec.Descriptor.CheckArtifact(uint64(len(sec.Artifact)))
	}
	if err != nil {
		return status.Errorf(codes.Internal, "BUG: the backend made a malformed descriptor: %v", err)
	}
	for at := 0; at < len(sec.Artifact); at += wire.SendChunk {
		end := min(at+wire.SendChunk, len(sec.Artifact))
		if err := rep.send(&pb.CompileResponse{Event: &pb.CompileResponse_SectionChunk{
			SectionChunk: &pb.SectionChunk{Offset: uint64(at), Data: sec.Artifact[at:end]},
		}}); err != nil {
			return err
		}
	}
	sum := digest.Plain(sec.Artifact)
	return rep.send(&pb.CompileResponse{Event: &pb.CompileResponse_Result{Result: &pb.CompileResult{
		SectionDescriptor: desc, ArtifactLength: uint64(len(sec.Artifact)), ArtifactDigest: sum[:],
	}}})
}
