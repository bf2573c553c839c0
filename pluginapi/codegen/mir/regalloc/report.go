package regalloc

import (
	"fmt"
	"strings"

	"github.com/kera-lang/kera/pluginapi/codegen/mir"
)

// Counts are the instructions the allocator inserted in one place.
type Counts struct {
	Spills, Reloads, Remats, Moves int
}

func (c *Counts) add(d Counts) {
	c.Spills += d.Spills
	c.Reloads += d.Reloads
	c.Remats += d.Remats
	c.Moves += d.Moves
}

// LoopCounts are the insertions inside one loop, inner loops excluded.
type LoopCounts struct {
	Header mir.Block
	Depth  int32
	Inner  bool // has no loop inside
	Counts
}

// Report says what allocation cost, per loop, so that a test can demand that a planned
// inner loop has no spill code.
type Report struct {
	Total Counts
	Loops []LoopCounts // outer loops first
}

func report(g *mir.Func, c *mir.CFG) *Report {
	r := &Report{Loops: make([]LoopCounts, len(c.Loops))}
	for k, l := range c.Loops {
		r.Loops[k] = LoopCounts{Header: l.Header, Depth: l.Depth, Inner: true}
		if l.Parent >= 0 {
			r.Loops[l.Parent].Inner = false
		}
	}
	for _, b := range g.Layout {
		var n Counts
		for i := g.Blocks[b].First; i < g.Blocks[b].End; i++ {
			in := &g.Insts[i]
			switch o := in.Orig; {
			case o <= mir.OrigRemat:
				n.Remats++
			case o == mir.OrigMove && g.Payload(i).Slot == 0:
				n.Moves++
			case o == mir.OrigMove && in.Op == g.Target.Classes[g.ClassOf(g.InstRegs(i)[0])].Store:
				n.Spills++
			case o == mir.OrigMove:
				n.Reloads++
			}
		}
		r.Total.add(n)
		if l := c.LoopOf[b]; l >= 0 {
			r.Loops[l].add(n)
		}
	}
	return r
}

// SpillsInInnerLoops counts spill stores and reloads in loops that contain no loop.
func (r *Report) SpillsInInnerLoops() int {
	n := 0
	for _, l := range r.Loops {
		if l.Inner {
			n += l.Spills + l.Reloads
		}
	}
	return n
}

func (c Counts) String() string {
	return fmt.Sprintf("spills=%d reloads=%d remats=%d moves=%d", c.Spills, c.Reloads, c.Remats, c.Moves)
}

// String is one line for the total and one per loop.
func (r *Report) String() string {
	var w strings.Builder
	fmt.Fprintf(&w, "total %s\n", r.Total)
	for _, l := range r.Loops {
		fmt.Fprintf(&w, "loop b%d depth=%d %s\n", l.Header, l.Depth, l.Counts)
	}
	return w.String()
}
