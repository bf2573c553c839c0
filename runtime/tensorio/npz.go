package tensorio

import (
	"archive/zip"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/kera-lang/kera/core/types"
)

// maxRatio is the most that deflate can expand: 1032 to 1. A member that claims
// more is refused before it is opened.
const maxRatio = 1032

// maxMembers bounds the directory of an .npz file.
const maxMembers = 1 << 16

type npzMember struct {
	io.ReadCloser
	label string
	size  int64
}

// openMember finds a member: the one asked for, else the one called name, else
// the only one.
func openMember(file string, f *os.File, size int64, member, name string) (*npzMember, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return nil, formatErr(file, "not an .npz file: %v", err)
	}
	if len(z.File) > maxMembers {
		return nil, formatErr(file, "more than %d members", maxMembers)
	}
	find := func(name string) *zip.File {
		for _, m := range z.File {
			if m.Name == name+".npy" || m.Name == name {
				return m
			}
		}
		return nil
	}
	var m *zip.File
	switch {
	case member != "":
		m = find(member)
	case find(name) != nil:
		m = find(name)
	case len(z.File) == 1:
		m = z.File[0]
	default:
		member = name
	}
	if m == nil {
		names := []string{}
		for _, m := range z.File {
			names = append(names, strings.TrimSuffix(m.Name, ".npy"))
		}
		if len(names) > 10 {
			names = append(names[:10], "...")
		}
		return nil, formatErr(file, "no member %q; it has %s", member, strings.Join(names, ", "))
	}
	label := file + ":" + strings.TrimSuffix(m.Name, ".npy")
	packed, plain := m.CompressedSize64, m.UncompressedSize64
	if packed > uint64(size) || plain > MaxBytes || plain > packed*maxRatio+1024 ||
		(m.Method == zip.Store && packed != plain) {
		return nil, formatErr(label, "%d bytes cannot hold the %d it claims", packed, plain)
	}
	if m.Method != zip.Store && m.Method != zip.Deflate {
		return nil, formatErr(label, "compression method %d is not known (stored and deflate are)", m.Method)
	}
	r, err := m.Open()
	if err != nil {
		return nil, formatErr(label, "%v", err)
	}
	return &npzMember{r, label, int64(plain)}, nil
}

func readNpz(file string, f *os.File, size int64, member, name string, want *types.Type) (Tensor, error) {
	m, err := openMember(file, f, size, member, name)
	if err != nil {
		return Tensor{}, err
	}
	defer m.Close()
	t, err := readNpy(m.label, m, m.size, want)
	if err != nil {
		return t, err
	}
	// The checksum is compared at the end of the member.
	if n, err := io.Copy(io.Discard, m); err != nil || n != 0 {
		return t, formatErr(m.label, "damaged after its data: %d more bytes, %v", n, err)
	}
	return t, nil
}

// writeNpz stores the tensors in the given order, without compression and without
// a time, so equal tensors give equal files.
func writeNpz(w io.Writer, list []Named) error {
	z := zip.NewWriter(w)
	for _, n := range list {
		head, err := npyHead(n.Tensor)
		if err != nil {
			return err
		}
		sum := crc32.NewIEEE()
		io.WriteString(sum, head)
		sum.Write(n.Tensor.Data)
		size := uint64(len(head) + len(n.Tensor.Data))
		m, err := z.CreateRaw(&zip.FileHeader{Name: n.Name + ".npy", Method: zip.Store,
			CRC32: sum.Sum32(), CompressedSize64: size, UncompressedSize64: size})
		if err != nil {
			return err
		}
		if err := writeNpy(m, n.Tensor); err != nil {
			return err
		}
	}
	return z.Close()
}
