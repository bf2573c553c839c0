// Command kera-backend-x86 is the x86-64 backend: it compiles graphs to
// machine code for AVX2 and AVX-512 processors, and runs them in kera-runner.
package main

import "github.com/kera-lang/kera/pluginapi/sdk"

func main() {
	sdk.Serve(sdk.Plugin{Backend: backend{}, Executor: newExecutor()})
}
