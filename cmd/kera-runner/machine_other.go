//go:build !(linux && amd64)

package main

import (
	"errors"
	"runtime"

	"github.com/kera-lang/kera/pluginapi/native/wire"
)

// machine is empty where there is no assembly to call generated code.
type machine struct{ faulted bool }

func newMachine() (*machine, error) {
	return nil, errors.New("no generated code runs on " + runtime.GOOS + "/" + runtime.GOARCH)
}

func (m *machine) handle(wire.Op, []byte) ([]byte, error) {
	return nil, errors.New("nothing can be loaded")
}

func cpuFeatures() []string { return nil }
func cpuName() string       { return "" }
