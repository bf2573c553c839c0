package host

import (
	"context"
	"os"
	"path/filepath"

	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// send makes the graph's bytes available to the process and returns how they
// are named: a read-only file where the plugin takes one, else its store.
func (p *process) send(ctx context.Context, g *spi.Graph) (*pb.GraphRef, error) {
	ref := &pb.GraphRef{Digest: append([]byte(nil), g.Digest[:]...), Length: uint64(len(g.Bytes))}
	if p.info.Has(spi.CapGraphFile) {
		path, err := p.graphFile(g)
		ref.Path = path
		return ref, err
	}
	store := pb.NewContentStoreClient(p.conn)
	missing, err := store.FindMissing(ctx, &pb.FindMissingRequest{Digests: [][]byte{ref.Digest}})
	if err != nil || len(missing.GetDigests()) == 0 {
		return ref, err
	}
	stream, err := store.WriteBlobs(ctx)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(g.Bytes); at += wire.SendChunk {
		end := min(at+wire.SendChunk, len(g.Bytes))
		err := stream.Send(&pb.WriteBlobsRequest{
			Digest: ref.Digest, Length: ref.Length, Offset: uint64(at), Data: g.Bytes[at:end],
		})
		if err != nil {
			break // CloseAndRecv has the reason
		}
	}
	r, err := stream.CloseAndRecv()
	if err != nil {
		return nil, err
	}
	if len(r.GetStored()) != 1 || string(r.GetStored()[0]) != string(ref.Digest) {
		return nil, malformed("WriteBlobs did not store the graph it was sent")
	}
	return ref, nil
}

// graphFile writes the graph into the private directory, once.
func (p *process) graphFile(g *spi.Graph) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := g.Digest.String()
	path := filepath.Join(p.dir, name[:16]+".keg")
	if p.graphs[name] {
		return path, nil
	}
	if err := os.WriteFile(path, g.Bytes, 0o400); err != nil {
		return "", err
	}
	p.graphs[name] = true
	return path, nil
}
