package host

import "syscall"

// procAttr puts the plugin in a process group of its own and has the kernel
// signal it when the thread that started it ends, so that even a program that
// is not made with the SDK does not outlive a killed host. The signal is one
// the SDK can take, to end the plugin's own children too.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
