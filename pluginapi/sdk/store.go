package sdk

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/core/digest"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// storeLimit bounds the bytes of content a plugin keeps.
const storeLimit = 2 << 30

// store keeps content by digest, verified, the least recently used going first.
// Graphs are kept decoded once for all targets of a build.
type store struct {
	mu    sync.Mutex
	items map[digest.D]*spi.Graph
	order []digest.D // least recently used first
	bytes int64
}

func newStore() *store { return &store{items: map[digest.D]*spi.Graph{}} }

func (s *store) get(d digest.D) (*spi.Graph, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.items[d]
	if ok {
		s.touch(d)
	}
	return g, ok
}

func (s *store) touch(d digest.D) {
	for i, x := range s.order {
		if x == d {
			s.order = append(append(s.order[:i:i], s.order[i+1:]...), d)
			return
		}
	}
	s.order = append(s.order, d)
}

// put verifies b and keeps it under d.
func (s *store) put(d digest.D, b []byte) (*spi.Graph, error) {
	g := spi.NewGraph(b)
	if g.Digest != d {
		return nil, status.Errorf(codes.DataLoss, "content has digest %s, not %s", g.Digest.Short(), d.Short())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.items[d]; ok {
		s.touch(d)
		return old, nil
	}
	s.items[d] = g
	s.touch(d)
	s.bytes += int64(len(b))
	for s.bytes > storeLimit && len(s.order) > 1 {
		s.bytes -= int64(len(s.items[s.order[0]].Bytes))
		delete(s.items, s.order[0])
		s.order = s.order[1:]
	}
	return g, nil
}

// resolve gets at the bytes a GraphRef names.
func (s *store) resolve(ref *pb.GraphRef) (*spi.Graph, error) {
	d, err := wire.FromDigest("graph.digest", ref.GetDigest())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if g, ok := s.get(d); ok {
		return g, nil
	}
	if ref.GetPath() == "" {
		return nil, status.Errorf(codes.FailedPrecondition, "graph %s is not in the content store", d.Short())
	}
	b, err := readExact(ref.GetPath(), ref.GetLength())
	if err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "graph file: %v", err)
	}
	return s.put(d, b)
}

// readExact reads a regular file of the stated length.
func readExact(path string, length uint64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || uint64(info.Size()) != length {
		return nil, fmt.Errorf("%s is not a file of %d bytes", path, length)
	}
	b := make([]byte, length)
	_, err = io.ReadFull(f, b)
	return b, err
}

type contentServer struct {
	pb.UnimplementedContentStoreServer
	store *store
}

func (c *contentServer) FindMissing(_ context.Context, r *pb.FindMissingRequest) (*pb.FindMissingResponse, error) {
	out := new(pb.FindMissingResponse)
	for _, b := range r.GetDigests() {
		d, err := wire.FromDigest("digests", b)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		if _, ok := c.store.get(d); !ok {
			out.Digests = append(out.Digests, b)
		}
	}
	return out, nil
}

func (c *contentServer) WriteBlobs(stream grpc.ClientStreamingServer[pb.WriteBlobsRequest, pb.WriteBlobsResponse]) error {
	out := new(pb.WriteBlobsResponse)
	var buf []byte
	var current digest.D
	for {
		m, err := stream.Recv()
		if err == io.EOF {
			if len(buf) > 0 {
				return status.Errorf(codes.InvalidArgument, "blob %s is not complete", current.Short())
			}
			return stream.SendAndClose(out)
		}
		if err != nil {
			return err
		}
		d, err := wire.FromDigest("digest", m.GetDigest())
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
		switch {
		case len(buf) > 0 && d != current, m.GetOffset() != uint64(len(buf)):
			return status.Errorf(codes.InvalidArgument, "blob %s: chunk out of order", d.Short())
		case m.GetLength() > storeLimit, uint64(len(m.GetData())) > m.GetLength()-m.GetOffset():
			return status.Errorf(codes.ResourceExhausted, "blob %s is too long", d.Short())
		case len(m.GetData()) == 0 && m.GetLength() > 0:
			return status.Errorf(codes.InvalidArgument, "blob %s: empty chunk", d.Short())
		}
		current = d
		buf = append(buf, m.GetData()...)
		if uint64(len(buf)) < m.GetLength() {
			continue
		}
		if _, err := c.store.put(d, buf); err != nil {
			return err
		}
		out.Stored = append(out.Stored, append([]byte(nil), d[:]...))
		buf = nil
	}
}
