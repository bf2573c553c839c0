package wire

import (
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/core/digest"
	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// severities in both forms. An unknown severity counts as an error: a newer
// plugin must not have its failure taken for a remark.
var severities = []struct {
	typed spi.Severity
	wire  pb.Severity
}{
	{spi.Error, pb.Severity_SEVERITY_ERROR},
	{spi.Warning, pb.Severity_SEVERITY_WARNING},
	{spi.Note, pb.Severity_SEVERITY_NOTE},
}

// ToDiagnostic converts a diagnostic.
func ToDiagnostic(d spi.Diagnostic) *pb.Diagnostic {
	out := &pb.Diagnostic{
		Severity: pb.Severity_SEVERITY_ERROR,
		Code:     d.Code, Summary: d.Summary, Detail: d.Detail,
		Nodes: ToDigests(d.Nodes),
		Spans: each(d.Spans, toSpan),
		Fixes: each(d.Fixes, func(f spi.Fix) *pb.Fix {
			return &pb.Fix{Title: f.Title, Span: toSpan(f.Span), Replacement: f.Replacement}
		}),
	}
	for _, row := range severities {
		if row.typed == d.Severity {
			out.Severity = row.wire
		}
	}
	return out
}

// FromDiagnostic converts a diagnostic. Nodes that are no digests are dropped:
// a message half understood is better than none.
func FromDiagnostic(d *pb.Diagnostic) spi.Diagnostic {
	out := spi.Diagnostic{
		Code: d.GetCode(), Summary: d.GetSummary(), Detail: d.GetDetail(),
		Spans: each(d.GetSpans(), fromSpan),
		Fixes: each(d.GetFixes(), func(f *pb.Fix) spi.Fix {
			return spi.Fix{Title: f.GetTitle(), Span: fromSpan(f.GetSpan()), Replacement: f.GetReplacement()}
		}),
	}
	for _, row := range severities {
		if row.wire == d.GetSeverity() {
			out.Severity = row.typed
		}
	}
	for _, b := range d.GetNodes() {
		if n, err := FromDigest("node", b); err == nil {
			out.Nodes = append(out.Nodes, n)
		}
	}
	return out
}

func toSpan(s spi.Span) *pb.Span {
	return &pb.Span{File: s.File, Start: s.Start, End: s.End, Line: s.Line, Column: s.Column}
}

func fromSpan(s *pb.Span) spi.Span {
	return spi.Span{File: s.GetFile(), Start: s.GetStart(), End: s.GetEnd(), Line: s.GetLine(), Column: s.GetColumn()}
}

// ToSupport converts an answer about nodes.
func ToSupport(s spi.Support) *pb.GetSupportResponse {
	return &pb.GetSupportResponse{
		Supported: each(s.Groups, func(g []digest.D) *pb.NodeGroup { return &pb.NodeGroup{Nodes: ToDigests(g)} }),
		Refused: each(s.Refused, func(r spi.Refusal) *pb.Refusal {
			return &pb.Refusal{Node: append([]byte(nil), r.Node[:]...), Reason: r.Reason}
		}),
	}
}

// FromSupport converts an answer about nodes.
func FromSupport(r *pb.GetSupportResponse) (spi.Support, error) {
	var out spi.Support
	for _, g := range r.GetSupported() {
		nodes, err := FromDigests("supported.nodes", g.GetNodes())
		if err != nil {
			return spi.Support{}, err
		}
		out.Groups = append(out.Groups, nodes)
	}
	for _, x := range r.GetRefused() {
		n, err := FromDigest("refused.node", x.GetNode())
		if err != nil {
			return spi.Support{}, err
		}
		out.Refused = append(out.Refused, spi.Refusal{Node: n, Reason: x.GetReason()})
	}
	return out, nil
}

// ToEstimate converts a prediction.
func ToEstimate(e spi.Estimate, ds []spi.Diagnostic) *pb.EstimateResponse {
	return &pb.EstimateResponse{
		Resources: toResources(e.Resources),
		Cycles:    &pb.Cycles{Min: e.Min, Typ: e.Typ, Max: e.Max},
		Schedule: each(e.Schedule, func(s spi.Scheduled) *pb.NodeSchedule {
			return &pb.NodeSchedule{Node: append([]byte(nil), s.Node[:]...), Start: s.Start, Length: s.Length}
		}),
		Confidence:  e.Confidence,
		Diagnostics: each(ds, ToDiagnostic),
	}
}

// FromEstimate converts a prediction.
func FromEstimate(r *pb.EstimateResponse) (spi.Estimate, []spi.Diagnostic, error) {
	out := spi.Estimate{
		Resources: fromResources(r.GetResources()),
		Min:       r.GetCycles().GetMin(), Typ: r.GetCycles().GetTyp(), Max: r.GetCycles().GetMax(),
		Confidence: r.GetConfidence(),
	}
	for _, s := range r.GetSchedule() {
		n, err := FromDigest("schedule.node", s.GetNode())
		if err != nil {
			return spi.Estimate{}, nil, err
		}
		out.Schedule = append(out.Schedule, spi.Scheduled{Node: n, Start: s.GetStart(), Length: s.GetLength()})
	}
	return out, each(r.GetDiagnostics(), FromDiagnostic), nil
}

// ToDiagnostics converts a list of diagnostics.
func ToDiagnostics(ds []spi.Diagnostic) []*pb.Diagnostic { return each(ds, ToDiagnostic) }

// FromDiagnostics converts a list of diagnostics.
func FromDiagnostics(ds []*pb.Diagnostic) []spi.Diagnostic { return each(ds, FromDiagnostic) }

// WithNodes attaches nodes to a failed call's status.
func WithNodes(st *status.Status, nodes []digest.D) *status.Status {
	if len(nodes) == 0 {
		return st
	}
	with, err := st.WithDetails(&pb.Diagnostic{Nodes: ToDigests(nodes)})
	if err != nil {
		return st // an OK status has no details
	}
	return with
}

// NodesOf returns the nodes attached to a status.
func NodesOf(st *status.Status) []digest.D {
	var out []digest.D
	for _, d := range st.Details() {
		if m, ok := d.(*pb.Diagnostic); ok {
			out = append(out, FromDiagnostic(m).Nodes...)
		}
	}
	return out
}
