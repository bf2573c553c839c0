package sdk

import (
	"os"

	"golang.org/x/sys/unix"
)

// anonymousFile returns a file that has no name and lives in memory.
func anonymousFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("kera-buffer", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "kera-buffer"), nil
}
