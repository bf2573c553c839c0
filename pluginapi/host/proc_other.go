//go:build unix && !linux

package host

import "syscall"

// procAttr puts the plugin in a process group of its own. The lifeline ends it
// when the host dies.
func procAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
