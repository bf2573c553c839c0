package wire

import (
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// ToInfo converts a plugin's description.
func ToInfo(i spi.Info) *pb.GetInfoResponse {
	return &pb.GetInfoResponse{
		Name: i.Name, Version: i.Version,
		KegFormat:     &pb.VersionRange{Min: i.KegMin, Max: i.KegMax},
		OpSet:         &pb.VersionRange{Min: i.OpSetMin, Max: i.OpSetMax},
		ProtocolMinor: i.ProtocolMinor,
		Capabilities:  ToCapabilities(i.Capabilities),
	}
}

// FromInfo converts a plugin's description.
func FromInfo(r *pb.GetInfoResponse) spi.Info {
	return spi.Info{
		Name: r.GetName(), Version: r.GetVersion(),
		KegMin: r.GetKegFormat().GetMin(), KegMax: r.GetKegFormat().GetMax(),
		OpSetMin: r.GetOpSet().GetMin(), OpSetMax: r.GetOpSet().GetMax(),
		ProtocolMajor: Major,
		ProtocolMinor: r.GetProtocolMinor(),
		Capabilities:  FromCapabilities(r.GetCapabilities()),
	}
}

// ToTarget converts a target's description.
func ToTarget(t spi.Target) *pb.Target {
	return &pb.Target{
		Triple: t.Triple, Summary: t.Summary, ArtifactKind: t.ArtifactKind,
		FeatureSets: each(t.FeatureSets, func(f spi.FeatureSet) *pb.FeatureSet {
			return &pb.FeatureSet{Name: f.Name, Features: f.Features, Rank: f.Rank}
		}),
		Dtypes: t.DTypes,
		Ops: each(t.Ops, func(o spi.OpSupport) *pb.OpSupport {
			return &pb.OpSupport{Op: o.Op, Dtypes: o.DTypes}
		}),
		Composites: ToDigests(t.Composites),
		MemorySpaces: each(t.MemorySpaces, func(m spi.Amount) *pb.MemorySpace {
			return &pb.MemorySpace{Name: m.Name, Bytes: m.Amount}
		}),
		VectorWidths: t.VectorWidths,
		Resources:    toResources(t.Resources),
		Clocks:       t.Clocks,
		Limits: &pb.Limits{
			MaxBufferBytes: t.Limits.MaxBufferBytes, MaxCodeBytes: t.Limits.MaxCodeBytes, MaxNodes: t.Limits.MaxNodes,
		},
		Determinism: pb.Determinism(t.Determinism),
		Options: each(t.Options, func(o spi.Option) *pb.Option {
			return &pb.Option{Name: o.Name, Summary: o.Summary, DefaultValue: o.Default, Values: o.Values}
		}),
	}
}

// FromTarget converts a target's description.
func FromTarget(t *pb.Target) (spi.Target, error) {
	composites, err := FromDigests("composites", t.GetComposites())
	if err != nil {
		return spi.Target{}, err
	}
	det := spi.DeterminismUnknown
	if d := t.GetDeterminism(); d == pb.Determinism_DETERMINISM_STRICT || d == pb.Determinism_DETERMINISM_CREATIVE {
		det = spi.Determinism(d)
	}
	return spi.Target{
		Triple: t.GetTriple(), Summary: t.GetSummary(), ArtifactKind: t.GetArtifactKind(),
		FeatureSets: each(t.GetFeatureSets(), func(f *pb.FeatureSet) spi.FeatureSet {
			return spi.FeatureSet{Name: f.GetName(), Features: f.GetFeatures(), Rank: f.GetRank()}
		}),
		DTypes: t.GetDtypes(),
		Ops: each(t.GetOps(), func(o *pb.OpSupport) spi.OpSupport {
			return spi.OpSupport{Op: o.GetOp(), DTypes: o.GetDtypes()}
		}),
		Composites: composites,
		MemorySpaces: each(t.GetMemorySpaces(), func(m *pb.MemorySpace) spi.Amount {
			return spi.Amount{Name: m.GetName(), Amount: m.GetBytes()}
		}),
		VectorWidths: t.GetVectorWidths(),
		Resources:    fromResources(t.GetResources()),
		Clocks:       t.GetClocks(),
		Limits: spi.Limits{
			MaxBufferBytes: t.GetLimits().GetMaxBufferBytes(),
			MaxCodeBytes:   t.GetLimits().GetMaxCodeBytes(),
			MaxNodes:       t.GetLimits().GetMaxNodes(),
		},
		Determinism: det,
		Options: each(t.GetOptions(), func(o *pb.Option) spi.Option {
			return spi.Option{Name: o.GetName(), Summary: o.GetSummary(), Default: o.GetDefaultValue(), Values: o.GetValues()}
		}),
	}, nil
}

func toResources(in []spi.Amount) []*pb.Resource {
	return each(in, func(a spi.Amount) *pb.Resource { return &pb.Resource{Name: a.Name, Amount: a.Amount} })
}

func fromResources(in []*pb.Resource) []spi.Amount {
	return each(in, func(r *pb.Resource) spi.Amount { return spi.Amount{Name: r.GetName(), Amount: r.GetAmount()} })
}
