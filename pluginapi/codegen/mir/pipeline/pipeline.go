// Package pipeline is the usual back half of a CPU back end in one call: schedule,
// allocate registers, schedule again.
package pipeline

import (
	"context"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/regalloc"
	"github.com/kera-lang/kera/pluginapi/codegen/mir/sched"
)

// Options of Run.
type Options struct {
	// Check verifies the allocation symbolically; cheap enough for production
	// builds that want certainty.
	Check bool
	// NoSchedule keeps the order of instructions as built.
	NoSchedule bool
}

// Run takes a virtual function to one that is ready to encode. The report says what
// the allocator inserted, per loop.
func Run(ctx context.Context, f *mir.Func, o Options) (*mir.Func, *regalloc.Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if !o.NoSchedule {
		f = sched.Run(f)
	}
	g, rep, err := regalloc.Run(f, regalloc.Options{Check: o.Check})
	if err != nil {
		return nil, nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if !o.NoSchedule {
		g = sched.Run(g)
	}
	return g, rep, nil
}
