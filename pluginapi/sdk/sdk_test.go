package sdk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/core/digest"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
)

func TestCallAnswersInTime(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	start := time.Now()
	_, err := call(ctx, hclog.NewNullLogger(), "Compile", func() (int, error) { <-release; return 1, nil })
	if status.Code(err) != codes.Canceled {
		t.Errorf("got %v", err)
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("answered after %v", d)
	}
}

func TestCallStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fn   func() (int, error)
		code codes.Code
		text string
	}{
		{func() (int, error) { return 1, nil }, codes.OK, ""},
		{func() (int, error) { return 0, errors.New("disk full") }, codes.Unknown, "disk full"},
		{func() (int, error) { return 0, status.Error(codes.DataLoss, "torn") }, codes.DataLoss, "torn"},
		{func() (int, error) { panic("BUG: impossible") }, codes.Internal, "BUG: impossible"},
		{func() (int, error) { var p *int; return *p, nil }, codes.Internal, "BUG: panic: runtime error"},
	} {
		_, err := call(context.Background(), hclog.NewNullLogger(), "Call", c.fn)
		if status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.text) {
			t.Errorf("got %v, want %v %q", err, c.code, c.text)
		}
	}
}

type closer struct {
	bytes.Buffer
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

func TestFilterStdout(t *testing.T) {
	t.Parallel()
	const shake = "1|1|unix|/tmp/x|grpc|\n"
	for _, c := range []struct{ in, handshake, rest string }{
		{shake, shake, ""},
		{"hello\n" + shake + "world", shake, "hello\nworld"},
		{"no newline " + shake, shake, "no newline "},
		{shake + shake, shake, shake},
		{"1|1|\n", "", "1|1|\n"},
	} {
		var h closer
		var rest bytes.Buffer
		filterStdout(strings.NewReader(c.in), &h, &rest)
		if h.String() != c.handshake || rest.String() != c.rest || h.closed != (c.handshake != "") {
			t.Errorf("%q: handshake %q, rest %q", c.in, h.String(), rest.String())
		}
	}
}

// blobs is the stream of a WriteBlobs call.
type blobs struct {
	grpc.ServerStream
	in  []*pb.WriteBlobsRequest
	out *pb.WriteBlobsResponse
}

func (b *blobs) Recv() (*pb.WriteBlobsRequest, error) {
	if len(b.in) == 0 {
		return nil, io.EOF
	}
	m := b.in[0]
	b.in = b.in[1:]
	return m, nil
}

func (b *blobs) SendAndClose(r *pb.WriteBlobsResponse) error { b.out = r; return nil }

func chunk(d digest.D, length, offset uint64, data string) *pb.WriteBlobsRequest {
	return &pb.WriteBlobsRequest{Digest: d[:], Length: length, Offset: offset, Data: []byte(data)}
}

func TestWriteBlobs(t *testing.T) {
	t.Parallel()
	a, b := digest.Plain([]byte("aaaa")), digest.Plain([]byte("bb"))
	for _, c := range []struct {
		name string
		in   []*pb.WriteBlobsRequest
		code codes.Code
	}{
		{"two blobs", []*pb.WriteBlobsRequest{chunk(a, 4, 0, "aa"), chunk(a, 4, 2, "aa"), chunk(b, 2, 0, "bb")}, codes.OK},
		{"wrong content", []*pb.WriteBlobsRequest{chunk(a, 2, 0, "bb")}, codes.DataLoss},
		{"cut", []*pb.WriteBlobsRequest{chunk(a, 4, 0, "aa")}, codes.InvalidArgument},
		{"gap", []*pb.WriteBlobsRequest{chunk(a, 4, 0, "a"), chunk(a, 4, 2, "aa")}, codes.InvalidArgument},
		{"mixed", []*pb.WriteBlobsRequest{chunk(a, 4, 0, "aa"), chunk(b, 4, 2, "aa")}, codes.InvalidArgument},
		{"too long", []*pb.WriteBlobsRequest{chunk(a, 2, 0, "aaaa")}, codes.ResourceExhausted},
		{"huge", []*pb.WriteBlobsRequest{chunk(a, 1<<60, 0, "aaaa")}, codes.ResourceExhausted},
		{"empty chunk", []*pb.WriteBlobsRequest{chunk(a, 4, 0, "")}, codes.InvalidArgument},
		{"short digest", []*pb.WriteBlobsRequest{{Digest: []byte{1}}}, codes.InvalidArgument},
	} {
		s := newStore()
		stream := &blobs{in: c.in}
		err := (&contentServer{store: s}).WriteBlobs(stream)
		if status.Code(err) != c.code {
			t.Errorf("%s: %v, want %v", c.name, err, c.code)
		}
		if c.code == codes.OK && len(stream.out.Stored) != 2 {
			t.Errorf("%s: stored %d", c.name, len(stream.out.Stored))
		}
		if _, ok := s.get(a); ok != (c.code == codes.OK) {
			t.Errorf("%s: in the store: %v", c.name, ok)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := newStore()
	d := digest.Plain([]byte("graph"))
	for _, c := range []struct {
		ref  *pb.GraphRef
		code codes.Code
	}{
		{&pb.GraphRef{Digest: d[:]}, codes.FailedPrecondition},
		{&pb.GraphRef{Digest: d[:4]}, codes.InvalidArgument},
		{nil, codes.InvalidArgument},
		{&pb.GraphRef{Digest: d[:], Path: "/nonexistent", Length: 5}, codes.FailedPrecondition},
		{&pb.GraphRef{Digest: d[:], Path: "/dev/zero", Length: 5}, codes.FailedPrecondition},
		{&pb.GraphRef{Digest: d[:], Path: "sdk_test.go", Length: 5}, codes.FailedPrecondition},
	} {
		if _, err := s.resolve(c.ref); status.Code(err) != c.code {
			t.Errorf("%v: %v, want %v", c.ref, err, c.code)
		}
	}
	if _, err := s.put(d, []byte("graph")); err != nil {
		t.Fatal(err)
	}
	if g, err := s.resolve(&pb.GraphRef{Digest: d[:]}); err != nil || string(g.Bytes) != "graph" {
		t.Errorf("%v", err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := NewMemory()
	b, err := m.Alloc(ctx, 5000, 64)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := m.Bytes(b)
	if err != nil || len(mem) != 5000 || bytes.Count(mem, []byte{0}) != 5000 {
		t.Fatalf("%d bytes, %v", len(mem), err)
	}
	if err := m.CopyIn(ctx, b, 4996, []byte("abcd")); err != nil {
		t.Fatal(err)
	}
	f, err := m.File(b)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 4996); err != nil || string(got) != "abcd" {
		t.Errorf("file holds %q, %v", got, err)
	}
	for _, r := range [][2]uint64{{4997, 4}, {5001, 0}, {1 << 63, 1 << 63}} {
		if _, err := m.window(b, r[0], r[1]); err == nil {
			t.Errorf("window %v accepted", r)
		}
	}
	if err := m.Free(ctx, b); err != nil {
		t.Fatal(err)
	}
	if m.Free(ctx, b) == nil || m.CopyOut(ctx, b, 0, nil) == nil {
		t.Error("freed buffer still there")
	}
	if _, err := m.Alloc(ctx, 1<<60, 64); err == nil {
		t.Error("huge buffer allocated")
	}
	if _, err := m.Alloc(ctx, 1, 1<<20); err == nil {
		t.Error("huge alignment accepted")
	}
}
