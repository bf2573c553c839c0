package section

import (
	"encoding/binary"
	"fmt"
)

// The payload of a target section in a `.keg`:
//
//	0   u64 descriptor length      8  u64 artifact length
//	16  descriptor, zero padding to a multiple of PageSize, artifact
//
// Sections of a `.keg` that hold code start on a page, so the artifact can be
// mapped as it is.
const (
	PageSize   = 4096
	headerSize = 16
)

// Pack joins a descriptor and its artifact to a section payload.
func Pack(d *Descriptor, artifact []byte) ([]byte, error) {
	if err := d.CheckArtifact(uint64(len(artifact))); err != nil {
		return nil, err
	}
	enc, err := d.Marshal()
	if err != nil {
		return nil, err
	}
	at := artifactOffset(len(enc))
	out := make([]byte, at, at+len(artifact))
	binary.LittleEndian.PutUint64(out, uint64(len(enc)))
	binary.LittleEndian.PutUint64(out[8:], uint64(len(artifact)))
	copy(out[headerSize:], enc)
	return append(out, artifact...), nil
}

// Open splits and checks a section payload. The artifact aliases b.
func Open(b []byte) (*Descriptor, []byte, error) {
	if len(b) < headerSize {
		return nil, nil, &FormatError{0, fmt.Sprintf("payload of %d bytes", len(b))}
	}
	n, size := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if n > uint64(len(b)-headerSize) {
		return nil, nil, &FormatError{0, fmt.Sprintf("descriptor of %d bytes in %d", n, len(b))}
	}
	at := artifactOffset(int(n))
	if at > len(b) || size != uint64(len(b)-at) {
		return nil, nil, &FormatError{8, fmt.Sprintf("artifact of %d bytes at %d in %d", size, at, len(b))}
	}
	for i := headerSize + int(n); i < at; i++ {
		if b[i] != 0 {
			return nil, nil, &FormatError{i, "padding is not zero"}
		}
	}
	d, err := Unmarshal(b[headerSize : headerSize+int(n)])
	if err != nil {
		return nil, nil, err
	}
	if err := d.CheckArtifact(size); err != nil {
		return nil, nil, &FormatError{headerSize, err.Error()}
	}
	return d, b[at:], nil
}

func artifactOffset(descriptor int) int {
	return (headerSize + descriptor + PageSize - 1) / PageSize * PageSize
}
