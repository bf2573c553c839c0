// Command kera-backend-wasm is the Kera backend for WebAssembly: it compiles
// graphs to modules with 128-bit SIMD (package compile) and runs them with
// wazero (package exec). It is started by kerac and speaks the backend protocol.
package main

import "github.com/kera-lang/kera/pluginapi/sdk"

func main() {
	sdk.Serve(sdk.Plugin{Backend: backend{}, Executor: newExecutor()})
}
