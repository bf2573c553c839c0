// Command v1plugin is a backend written against protocol v1.0 without Kera's
// SDK, as a vendor would who has only the .proto files and go-plugin. It takes
// graphs through its ContentStore only and writes the section descriptor by
// hand. The current host must go on working with it, byte for byte.
package main

import (
	"context"
	"crypto/sha3"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	v1 "kera.test/v1plugin/v1"
)

func main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey:   "KERA_PLUGIN_COOKIE",
			MagicCookieValue: "6b6572612e6261636b656e64",
		},
		VersionedPlugins: map[int]plugin.PluginSet{1: {"backend": &served{}}},
		GRPCServer:       plugin.DefaultGRPCServer,
	})
}

type served struct{ plugin.NetRPCUnsupportedPlugin }

func (*served) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	b := &backend{blobs: map[string][]byte{}}
	v1.RegisterBackendServer(s, b)
	v1.RegisterContentStoreServer(s, (*store)(b))
	return nil
}

func (*served) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a plugin")
}

type backend struct {
	v1.UnimplementedBackendServer
	v1.UnimplementedContentStoreServer
	mu    sync.Mutex
	blobs map[string][]byte
}

type store backend

func (b *backend) GetInfo(context.Context, *v1.GetInfoRequest) (*v1.GetInfoResponse, error) {
	return &v1.GetInfoResponse{
		Name: "v1plugin", Version: "1.0.0",
		Capabilities: []v1.Capability{v1.Capability_CAPABILITY_CONTENT_STORE},
	}, nil
}

func (b *backend) DescribeTargets(context.Context, *v1.DescribeTargetsRequest) (*v1.DescribeTargetsResponse, error) {
	return &v1.DescribeTargetsResponse{Targets: []*v1.Target{{
		Triple: "v1-none", ArtifactKind: "v1-digest", Determinism: v1.Determinism_DETERMINISM_STRICT,
		FeatureSets: []*v1.FeatureSet{{Name: "base"}},
	}}}, nil
}

// Compile gives the digest of the graph as the artifact.
func (b *backend) Compile(r *v1.CompileRequest, stream grpc.ServerStreamingServer[v1.CompileResponse]) error {
	b.mu.Lock()
	graph, ok := b.blobs[string(r.GetGraph().GetDigest())]
	b.mu.Unlock()
	if !ok {
		return status.Error(codes.FailedPrecondition, "no such graph")
	}
	if err := stream.Send(&v1.CompileResponse{Event: &v1.CompileResponse_Progress{Progress: &v1.Progress{Stage: "hashing", Total: 1}}}); err != nil {
		return err
	}
	art := sha3.Sum256(graph)
	if err := stream.Send(&v1.CompileResponse{Event: &v1.CompileResponse_SectionChunk{
		SectionChunk: &v1.SectionChunk{Data: art[:]},
	}}); err != nil {
		return err
	}
	sum := sha3.Sum256(art[:])
	return stream.Send(&v1.CompileResponse{Event: &v1.CompileResponse_Result{Result: &v1.CompileResult{
		SectionDescriptor: descriptor(r), ArtifactLength: uint64(len(art)), ArtifactDigest: sum[:],
	}}})
}

// descriptor writes version 1.0 of the descriptor's encoding.
func descriptor(r *v1.CompileRequest) []byte {
	u32 := binary.LittleEndian.AppendUint32
	u64 := binary.LittleEndian.AppendUint64
	str := func(b []byte, s string) []byte { return append(u32(b, uint32(len(s))), s...) }
	var out []byte
	record := func(tag uint32, payload []byte) {
		out = append(u32(u32(out, tag), uint32(len(payload))), payload...)
	}
	record(1, u32(str(str(nil, r.GetTriple()), "v1-digest"), 0))
	record(2, u32(u32(append(str(str(nil, "v1plugin"), "1.0.0"), make([]byte, 32)...), 1), 0))
	entries := u32(nil, uint32(len(r.GetEntries())))
	for _, name := range r.GetEntries() {
		entries = append(str(entries, name), make([]byte, 32)...)
		entries = u32(entries, 0) // inputs
		entries = u32(entries, 1) // outputs: u8[32], aligned to 1
		entries = append(entries, 6, 1)
		entries = u32(u64(entries, 32), 1)
		entries = u32(u64(entries, 0), 1) // work
		entries = u32(entries, 1)         // phases
		entries = u64(u64(str(entries, "digest"), 0), 1)
		entries = append(entries, 0)
	}
	if len(r.GetEntries()) > 0 {
		record(4, entries)
	}
	return out
}

func (s *store) FindMissing(_ context.Context, r *v1.FindMissingRequest) (*v1.FindMissingResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := new(v1.FindMissingResponse)
	for _, d := range r.GetDigests() {
		if _, ok := s.blobs[string(d)]; !ok {
			out.Digests = append(out.Digests, d)
		}
	}
	return out, nil
}

func (s *store) WriteBlobs(stream grpc.ClientStreamingServer[v1.WriteBlobsRequest, v1.WriteBlobsResponse]) error {
	var buf []byte
	out := new(v1.WriteBlobsResponse)
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(out)
		}
		if err != nil {
			return err
		}
		if len(m.GetData()) > 4<<20 || m.GetOffset() != uint64(len(buf)) {
			return status.Error(codes.InvalidArgument, "bad chunk")
		}
		buf = append(buf, m.GetData()...)
		if uint64(len(buf)) < m.GetLength() {
			continue
		}
		if sum := sha3.Sum256(buf); string(sum[:]) != string(m.GetDigest()) {
			return status.Error(codes.DataLoss, "wrong digest")
		}
		s.mu.Lock()
		s.blobs[string(m.GetDigest())] = buf
		s.mu.Unlock()
		out.Stored = append(out.Stored, m.GetDigest())
		buf = nil
	}
}
