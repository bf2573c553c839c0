package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
	"github.com/kera-lang/kera/pluginapi/sdk/spi"
)

// Targets lists what the plugin compiles for.
func (p *Plugin) Targets(ctx context.Context) ([]Target, error) {
	var out []Target
	err := p.call(ctx, "DescribeTargets", p.spec.CallTimeout, func(ctx context.Context, proc *process) error {
		r, err := pb.NewBackendClient(proc.conn).DescribeTargets(ctx, &pb.DescribeTargetsRequest{})
		if err != nil {
			return err
		}
		out = nil
		for _, t := range r.GetTargets() {
			v, err := wire.FromTarget(t)
			if err != nil {
				return malformed("target %s: %v", t.GetTriple(), err)
			}
			out = append(out, v)
		}
		return nil
	})
	return out, err
}

// Configure validates options for a target.
func (p *Plugin) Configure(ctx context.Context, triple string, options map[string]string) ([]Diagnostic, error) {
	var out []Diagnostic
	err := p.call(ctx, "Configure", p.spec.CallTimeout, func(ctx context.Context, proc *process) error {
		r, err := pb.NewBackendClient(proc.conn).Configure(ctx, &pb.ConfigureRequest{Triple: triple, Options: options})
		out = wire.FromDiagnostics(r.GetDiagnostics())
		return err
	})
	return out, err
}

// Support asks which nodes of a graph the target takes. ok is false when the
// plugin cannot say: every node of the ops that the target declares counts as
// supported.
func (p *Plugin) Support(ctx context.Context, job Job) (out Support, ok bool, err error) {
	err = p.call(ctx, "GetSupport", p.spec.CallTimeout, func(ctx context.Context, proc *process) error {
		if !proc.info.Has(spi.CapSupport) {
			return nil
		}
		ref, err := proc.send(ctx, job.Graph)
		if err != nil {
			return err
		}
		r, err := pb.NewBackendClient(proc.conn).GetSupport(ctx, &pb.GetSupportRequest{
			Graph: ref, Entries: job.Entries, Triple: job.Triple, Features: job.Features, Options: job.Options,
		})
		if status.Code(err) == codes.Unimplemented {
			return nil
		} else if err != nil {
			return err
		}
		if out, err = wire.FromSupport(r); err != nil {
			return malformed("%v", err)
		}
		ok = true
		return nil
	})
	return out, ok, aboutJob(err, &job)
}

// Estimate asks for a prediction; ok is false when the plugin makes none.
func (p *Plugin) Estimate(ctx context.Context, job Job) (out Estimate, ds []Diagnostic, ok bool, err error) {
	err = p.call(ctx, "Estimate", p.spec.CompileTimeout, func(ctx context.Context, proc *process) error {
		if !proc.info.Has(spi.CapEstimate) {
			return nil
		}
		ref, err := proc.send(ctx, job.Graph)
		if err != nil {
			return err
		}
		r, err := pb.NewBackendClient(proc.conn).Estimate(ctx, &pb.EstimateRequest{
			Graph: ref, Entries: job.Entries, Triple: job.Triple, Features: job.Features, Options: job.Options,
		})
		if status.Code(err) == codes.Unimplemented {
			return nil
		} else if err != nil {
			return err
		}
		if out, ds, err = wire.FromEstimate(r); err != nil {
			return malformed("%v", err)
		}
		ok = true
		return nil
	})
	return out, ds, ok, aboutJob(err, &job)
}

func aboutJob(err error, job *Job) error {
	var e *Error
	if errors.As(err, &e) {
		e.about(job)
	}
	return err
}

// malformedError marks an answer that breaks the protocol.
type malformedError struct{ reason string }

func (m *malformedError) Error() string { return m.reason }

func malformed(format string, args ...any) error {
	return &malformedError{fmt.Sprintf(format, args...)}
}

// call runs a call in the warm process, once more in a new one after a crash.
func (p *Plugin) call(ctx context.Context, name string, limit time.Duration, fn func(context.Context, *process) error) error {
	proc, err := p.warm(ctx)
	if err != nil {
		return err
	}
	err = p.attempt(ctx, name, limit, proc, fn)
	if !isCrash(err) {
		return err
	}
	p.spec.Log.Warn("plugin crashed, trying once more", "plugin", p.spec.Name, "call", name)
	again, startErr := p.fresh(ctx, wire.BackendType)
	if startErr != nil {
		return startErr
	}
	defer p.release(again)
	return p.attempt(ctx, name, limit, again, fn)
}

// lastWords is how long an error waits for the stderr that belongs to it.
const lastWords = 200 * time.Millisecond

func isCrash(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == KindCrash
}

// attempt runs one call and classifies its failure.
func (p *Plugin) attempt(ctx context.Context, name string, limit time.Duration, proc *process, fn func(context.Context, *process) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := fn(bounded, proc)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("plugin %s: %s: %w", p.spec.Name, name, context.Cause(ctx))
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var bad *malformedError
	if errors.As(err, &bad) {
		return p.fail(name, KindMalformed, err, proc)
	}
	if bounded.Err() != nil || status.Code(err) == codes.DeadlineExceeded {
		// It ignores the deadline: nothing it says later can be trusted to come.
		proc.poison()
		e := p.fail(name, KindTimeout, err, proc)
		e.Reason = fmt.Sprintf("no answer within %v; the process was ended", limit)
		return e
	}
	st, _ := status.FromError(err)
	switch st.Code() {
	case codes.Unavailable:
		e := p.fail(name, KindCrash, err, proc)
		if state, ok := proc.exitState(); ok {
			e = p.fail(name, KindCrash, err, proc) // with its last words
			e.Reason = "the process ended (" + state + ")"
		} else {
			proc.poison()
			e.Reason = "the connection broke: " + firstLine(st.Message())
		}
		return e
	case codes.Internal:
		// The answer can overtake what was printed before it.
		proc.stderr.settle(lastWords)
		e := p.fail(name, KindBug, err, proc)
		e.Reason = firstLine(st.Message())
		e.Nodes = wire.NodesOf(st)
		return e
	}
	e := p.fail(name, KindRefused, err, proc)
	e.Nodes = wire.NodesOf(st)
	e.Reason = fmt.Sprintf("%s (%s)", firstLine(st.Message()), st.Code())
	return e
}
