//go:build !linux

package native

import (
	"context"
	"errors"
	"runtime"

	"github.com/kera-lang/kera/core/keg/section"
)

var errSystem = errors.New("native: kera-runner runs on Linux, not on " + runtime.GOOS)

// Options of New.
type Options struct{ Path string }

// CallOptions of Call.
type CallOptions struct{ Threads, Repeat int }

// Runner cannot be made on this system; New says so.
type Runner struct{}

// Buffer belongs to a Runner.
type Buffer struct{}

// Module belongs to a Runner.
type Module struct{}

// New reports that this system has no runner.
func New(Options) (*Runner, error) { return nil, errSystem }

func (*Runner) Info(context.Context) (Info, error)             { return Info{}, errSystem }
func (*Runner) Close() error                                   { return nil }
func (*Runner) Alloc(context.Context, uint64) (*Buffer, error) { return nil, errSystem }
func (*Runner) Load(context.Context, []byte) (*Module, error)  { return nil, errSystem }
func (*Buffer) Bytes() []byte                                  { return nil }
func (*Buffer) Free(context.Context) error                     { return errSystem }
func (*Module) Unload(context.Context) error                   { return errSystem }
func (*Module) Call(context.Context, *section.Entry, []*Buffer, []*Buffer, CallOptions) (*Result, error) {
	return nil, errSystem
}
