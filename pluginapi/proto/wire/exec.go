package wire

import (
	"github.com/kera-lang/kera/core/digest"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

var runModes = []struct {
	typed spi.RunMode
	wire  pb.RunMode
}{
	{spi.RunNone, pb.RunMode_RUN_MODE_NONE},
	{spi.RunNative, pb.RunMode_RUN_MODE_NATIVE},
	{spi.RunEmulated, pb.RunMode_RUN_MODE_EMULATED},
	{spi.RunSimulated, pb.RunMode_RUN_MODE_SIMULATED},
}

// ToProbe converts a probe's answer.
func ToProbe(p spi.Probe) *pb.ProbeResponse {
	out := &pb.ProbeResponse{Mode: pb.RunMode_RUN_MODE_NONE, Reason: p.Reason, Device: p.Device}
	for _, row := range runModes {
		if row.typed == p.Mode {
			out.Mode = row.wire
		}
	}
	return out
}

// FromProbe converts a probe's answer; an unknown mode is "not at all".
func FromProbe(r *pb.ProbeResponse) spi.Probe {
	out := spi.Probe{Reason: r.GetReason(), Device: r.GetDevice()}
	for _, row := range runModes {
		if row.wire == r.GetMode() {
			out.Mode = row.typed
		}
	}
	return out
}

// ToOutcome converts the outcome of a call.
func ToOutcome(o spi.Outcome) *pb.InvokeCompleted {
	out := &pb.InvokeCompleted{Trap: o.Trap, Nanoseconds: o.Nanoseconds}
	if f := o.Fault; f != nil {
		out.Fault = &pb.Fault{Kind: f.Kind, Detail: f.Detail, CodeOffset: f.CodeOffset}
		if f.Node != (digest.D{}) {
			out.Fault.Node = append([]byte(nil), f.Node[:]...)
		}
	}
	return out
}

// FromOutcome converts the outcome of a call.
func FromOutcome(r *pb.InvokeCompleted) spi.Outcome {
	out := spi.Outcome{Trap: r.GetTrap(), Nanoseconds: r.GetNanoseconds()}
	if f := r.GetFault(); f != nil {
		out.Fault = &spi.Fault{Kind: f.GetKind(), Detail: f.GetDetail(), CodeOffset: f.GetCodeOffset()}
		if n, err := FromDigest("fault.node", f.GetNode()); err == nil {
			out.Fault.Node = n
		}
	}
	return out
}
