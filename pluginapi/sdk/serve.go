package sdk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"
	plugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/kera-lang/kera/pluginapi/proto/kera/backend/v1"
	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// Plugin is what a vendor's executable serves.
type Plugin struct {
	Backend  Backend
	Executor Executor // nil: the plugin's artifacts are run by the host, or nowhere
}

// ServeOption changes how Serve works.
type ServeOption func(*serveConfig)

type serveConfig struct {
	server []grpc.ServerOption
}

// WithServerOptions adds options to the gRPC server, for instance interceptors
// of a vendor's own telemetry.
func WithServerOptions(opts ...grpc.ServerOption) ServeOption {
	return func(c *serveConfig) { c.server = append(c.server, opts...) }
}

// Serve runs the plugin until its host ends it, and does not return. Call it
// first thing in main: stdout belongs to the protocol until Serve has taken it
// away.
func Serve(p Plugin, opts ...ServeOption) {
	if p.Backend == nil {
		panic("BUG: sdk.Serve without a Backend")
	}
	hs := wire.Handshake()
	if os.Getenv(hs.MagicCookieKey) != hs.MagicCookieValue {
		info := p.Backend.Info()
		fmt.Fprintf(os.Stderr, "%s is the Kera backend %s %s. It is started by kerac, not by hand:\n"+
			"put it next to kerac or in a folder of $KERA_PLUGIN_PATH and name the target `kerac build --target`.\n",
			filepath.Base(os.Args[0]), info.Name, info.Version)
		os.Exit(1)
	}
	watchHost()
	if err := takeStdout(); err != nil {
		fmt.Fprintf(os.Stderr, "taking stdout away: %v\n", err)
		os.Exit(1)
	}
	// go-plugin points os.Stdout and os.Stderr at streams to the host, whose
	// last words are lost in a crash. The pipe of descriptor 2 keeps them, so
	// the files are put back before the first call gets to vendor code.
	restore := sync.OnceFunc(func(out, err *os.File) func() {
		return func() { os.Stdout, os.Stderr = out, err }
	}(os.Stdout, os.Stderr))
	var cfg serveConfig
	for _, o := range opts {
		o(&cfg)
	}
	log := hclog.New(&hclog.LoggerOptions{
		Name:        p.Backend.Info().Name,
		Output:      os.Stderr,
		Level:       logLevel(os.Getenv("KERA_PLUGIN_LOG")),
		DisableTime: true,
	})
	set := plugin.PluginSet{wire.BackendType: &backendPlugin{p: p, log: log}}
	if p.Executor != nil {
		set[wire.ExecutorType] = &executorPlugin{impl: p.Executor, log: log}
	}
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  hs,
		VersionedPlugins: map[int]plugin.PluginSet{wire.Major: set},
		Logger:           log,
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			o = append(o,
				grpc.MaxRecvMsgSize(wire.MaxMessage),
				grpc.MaxSendMsgSize(wire.MaxMessage),
				grpc.ChainUnaryInterceptor(guardUnary(restore)),
				grpc.ChainStreamInterceptor(guardStream(restore)))
			return grpc.NewServer(append(o, cfg.server...)...)
		},
	})
	os.Exit(0)
}

// logLevel is quiet unless asked: the tail of stderr is kept for error
// messages and must not fill up with routine.
func logLevel(s string) hclog.Level {
	if l := hclog.LevelFromString(s); l != hclog.NoLevel {
		return l
	}
	return hclog.Warn
}

type backendPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	p   Plugin
	log hclog.Logger
}

func (b *backendPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	store := newStore()
	pb.RegisterContentStoreServer(s, &contentServer{store: store})
	pb.RegisterBackendServer(s, &backendServer{
		impl: b.p.Backend, executor: b.p.Executor != nil, store: store, log: b.log,
	})
	return nil
}

func (b *backendPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("package sdk serves; package host connects")
}

type executorPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	impl Executor
	log  hclog.Logger
}

func (e *executorPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	pb.RegisterExecutorServer(s, &executorServer{impl: e.impl, log: e.log})
	return nil
}

func (e *executorPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("package sdk serves; package host connects")
}
