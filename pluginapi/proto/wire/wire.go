// Package wire is the edge between the generated protocol types and the typed
// form in package spi: the handshake both sides agree on, the limits, and the
// conversions, one pair of functions a message.
//
// What must hold: no generated type leaves pluginapi; an unknown enum value
// becomes "unspecified" and an absent field its documented default, never an
// error, so that newer peers are understood; digests of a wrong length are
// errors that name the field.
package wire

import (
	"fmt"

	plugin "github.com/hashicorp/go-plugin"

	"github.com/kera-lang/kera/core/digest"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// The protocol version this tree speaks. The major version is negotiated by
// the handshake, the minor one is stated in GetInfo.
const (
	Major = 1
	Minor = 0
)

// Names of the plugin types in the handshake's plugin set.
const (
	BackendType  = "backend"
	ExecutorType = "executor"
)

// Environment of a plugin process, beside go-plugin's own.
const (
	// EnvRole is BackendType or ExecutorType.
	EnvRole = "KERA_PLUGIN_ROLE"
	// EnvLifeline is the descriptor of a pipe that reaches its end when the
	// host dies.
	EnvLifeline = "KERA_PLUGIN_LIFELINE"
	// EnvDir is the process's private directory, for the plugin to remove when
	// the host died without doing so.
	EnvDir = "KERA_PLUGIN_DIR"
	// DirPrefix starts the name of every private directory.
	DirPrefix = "kera-"
)

// Limits of both sides.
const (
	MaxMessage = 64 << 20
	// MaxChunk is the most a chunk may hold.
	MaxChunk = 4 << 20
	// SendChunk is what this side sends: well below gRPC's default limit of
	// 4 MiB a message, which a peer may have left as it is.
	SendChunk = 1 << 20
)

// Handshake is the agreement that tells a plugin from any other program. It is
// no secret.
func Handshake() plugin.HandshakeConfig {
	return plugin.HandshakeConfig{
		MagicCookieKey:   "KERA_PLUGIN_COOKIE",
		MagicCookieValue: "6b6572612e6261636b656e64",
	}
}

var capabilities = []struct {
	typed spi.Capability
	wire  pb.Capability
}{
	{spi.CapGraphFile, pb.Capability_CAPABILITY_GRAPH_FILE},
	{spi.CapContentStore, pb.Capability_CAPABILITY_CONTENT_STORE},
	{spi.CapSupport, pb.Capability_CAPABILITY_SUPPORT},
	{spi.CapEstimate, pb.Capability_CAPABILITY_ESTIMATE},
	{spi.CapExecutor, pb.Capability_CAPABILITY_EXECUTOR},
	{spi.CapSharedFile, pb.Capability_CAPABILITY_SHARED_FILE},
}

// ToCapabilities converts capabilities.
func ToCapabilities(list []spi.Capability) []pb.Capability {
	var out []pb.Capability
	for _, row := range capabilities {
		for _, c := range list {
			if c == row.typed {
				out = append(out, row.wire)
			}
		}
	}
	return out
}

// FromCapabilities converts capabilities and drops unknown ones.
func FromCapabilities(list []pb.Capability) []spi.Capability {
	var out []spi.Capability
	for _, row := range capabilities {
		for _, c := range list {
			if c == row.wire {
				out = append(out, row.typed)
				break
			}
		}
	}
	return out
}

// FromDigest converts a 32-byte digest.
func FromDigest(field string, b []byte) (digest.D, error) {
	var d digest.D
	if len(b) != len(d) {
		return d, fmt.Errorf("%s is %d bytes long, want %d", field, len(b), len(d))
	}
	copy(d[:], b)
	return d, nil
}

// FromDigests converts a list of digests.
func FromDigests(field string, list [][]byte) ([]digest.D, error) {
	var out []digest.D
	for _, b := range list {
		d, err := FromDigest(field, b)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// ToDigests converts a list of digests.
func ToDigests(list []digest.D) [][]byte {
	var out [][]byte
	for _, d := range list {
		out = append(out, d[:])
	}
	return out
}

// each converts a list.
func each[A, B any](in []A, f func(A) B) []B {
	var out []B
	for _, a := range in {
		out = append(out, f(a))
	}
	return out
}
