package sdk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// cancelGrace is how long vendor code may take to notice a cancelled context
// before the call is answered over its head.
const cancelGrace = 800 * time.Millisecond

// stackTail bounds the stack written to stderr; the host keeps only the end.
const stackTail = 4 << 10

// call runs fn on its own goroutine, so that a panic in it becomes a status
// and a cancelled call is answered in time even if fn never returns.
func call[T any](ctx context.Context, log hclog.Logger, name string, fn func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = panicStatus(name, p)
			}
			done <- r
		}()
		r.v, r.err = fn()
	}()
	select {
	case r := <-done:
		return r.v, asStatus(ctx, r.err)
	case <-ctx.Done():
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case r := <-done:
		return r.v, asStatus(ctx, r.err)
	case <-grace.C:
		log.Warn("call ignores its cancelled context", "call", name)
		var zero T
		return zero, status.FromContextError(ctx.Err()).Err()
	}
}

// asStatus gives a plain error its status. A cancelled call stays cancelled,
// whatever the vendor made of it.
func asStatus(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return status.FromContextError(ctx.Err()).Err()
	}
	var about *NodeError
	if errors.As(err, &about) {
		return wire.WithNodes(status.New(codes.Unknown, err.Error()), about.Nodes).Err()
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Unknown, err.Error())
}

// panicStatus reports a panic: the text to the host, the stack to stderr.
func panicStatus(name string, p any) error {
	text := fmt.Sprint(p)
	if !strings.HasPrefix(text, "BUG: ") {
		text = "BUG: panic: " + text
	}
	stack := debug.Stack()
	if len(stack) > stackTail {
		stack = stack[:stackTail]
	}
	fmt.Fprintf(os.Stderr, "%s in %s\n%s\n", text, name, stack)
	st := status.New(codes.Internal, text)
	if err, ok := p.(error); ok {
		var about *NodeError
		if errors.As(err, &about) {
			st = wire.WithNodes(st, about.Nodes)
		}
	}
	return st.Err()
}

// guardUnary and guardStream catch panics outside of call. first runs before
// the first call.
func guardUnary(first func()) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = panicStatus(info.FullMethod, p)
			}
		}()
		first()
		return next(ctx, req)
	}
}

func guardStream(first func()) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = panicStatus(info.FullMethod, p)
			}
		}()
		first()
		return next(srv, ss)
	}
}
