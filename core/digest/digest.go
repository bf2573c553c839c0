// Package digest computes Kera's domain-separated SHA3-256 digests and the
// Merkle trees over blobs.
//
// A digest is SHA3-256(tag16 || payload) where tag16 is "KERA:<domain>:1"
// zero-padded to 16 bytes, so that no payload of one domain can be taken for
// another's. Payloads are written by Enc: fixed-width little-endian and
// length-prefixed (docs/spec/encoding.md).
package digest

import (
	"crypto/sha3"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"runtime"
	"sync"
)

// Size is the length of a digest in bytes.
const Size = 32

// D is a digest.
type D [Size]byte

// String returns the digest in hexadecimal.
func (d D) String() string { return hex.EncodeToString(d[:]) }

// Short returns the first 12 hexadecimal digits, for people.
func (d D) Short() string { return hex.EncodeToString(d[:6]) }

// IsZero reports whether d is the zero digest (none).
func (d D) IsZero() bool { return d == D{} }

// Parse reads a digest from 64 hexadecimal digits.
func Parse(s string) (D, error) {
	var d D
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != Size {
		return d, fmt.Errorf("digest %q is not %d hexadecimal digits", s, 2*Size)
	}
	copy(d[:], b)
	return d, nil
}

// Domain separates what a digest is of.
type Domain string

// The domains of version 1.
const (
	Type      Domain = "type"
	Blob      Domain = "blob"
	Leaf      Domain = "leaf"
	Parent    Domain = "parent"
	Value     Domain = "value"
	Node      Domain = "node"
	Region    Domain = "region"
	Graph     Domain = "graph"
	Placement Domain = "placement"
	Plan      Domain = "plan"
	Artifact  Domain = "artifact"
	Policy    Domain = "policy"
	Receipt   Domain = "receipt"
)

// Domains lists every domain, in documentation order.
func Domains() []Domain {
	return []Domain{Type, Blob, Leaf, Parent, Value, Node, Region, Graph, Placement, Plan, Artifact, Policy, Receipt}
}

// Tag returns the 16-byte prefix of d.
func (d Domain) Tag() [16]byte {
	var t [16]byte
	s := "KERA:" + string(d) + ":1"
	if len(s) > len(t) {
		panic("BUG: digest domain too long: " + s)
	}
	copy(t[:], s)
	return t
}

// Of returns the digest of payload parts in domain d.
func Of(d Domain, parts ...[]byte) D {
	h := sha3.New256()
	tag := d.Tag()
	h.Write(tag[:])
	for _, p := range parts {
		h.Write(p)
	}
	var out D
	h.Sum(out[:0])
	return out
}

// Plain returns SHA3-256 of b with no tag: the digest of file sections.
func Plain(b []byte) D { return sha3.Sum256(b) }

// ChunkSize is the size of a Merkle leaf.
const ChunkSize = 1 << 20

// Root returns the Merkle root of b: leaf = H(u64 index || chunk), parent =
// H(left || right), an odd node is promoted. An empty b has one empty leaf.
// Leaves are hashed in parallel.
func Root(b []byte) D {
	n := (len(b) + ChunkSize - 1) / ChunkSize
	if n == 0 {
		n = 1
	}
	level := make([]D, n)
	leaf := func(i int) {
		end := min((i+1)*ChunkSize, len(b))
		var idx [8]byte
		binary.LittleEndian.PutUint64(idx[:], uint64(i))
		level[i] = Of(Leaf, idx[:], b[i*ChunkSize:end])
	}
	if workers := min(n, runtime.GOMAXPROCS(0)); workers > 1 {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := w; i < n; i += workers {
					leaf(i)
				}
			})
		}
		wg.Wait()
	} else {
		for i := range n {
			leaf(i)
		}
	}
	return Combine(level)
}

// Combine folds leaf digests to a Merkle root. It overwrites level.
func Combine(level []D) D {
	if len(level) == 0 {
		panic("BUG: Merkle tree without leaves")
	}
	for len(level) > 1 {
		n := 0
		for i := 0; i < len(level); i += 2 {
			if i+1 < len(level) {
				level[n] = Of(Parent, level[i][:], level[i+1][:])
			} else {
				level[n] = level[i]
			}
			n++
		}
		level = level[:n]
	}
	return level[0]
}

// OfArtifact returns the digest of compiled code: H(u64 length || root) in the
// domain artifact.
func OfArtifact(b []byte) D { return ofTree(Artifact, b) }

// OfBlob returns the blob digest of b: H(u64 length || root).
func OfBlob(b []byte) D { return ofTree(Blob, b) }

func ofTree(d Domain, b []byte) D {
	root := Root(b)
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
	return Of(d, n[:], root[:])
}
