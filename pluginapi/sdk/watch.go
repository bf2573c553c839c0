package sdk

import (
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// parentPoll is how often the parent is looked at where no lifeline was given.
const parentPoll = 250 * time.Millisecond

// watchHost ends the process when the host dies, however it dies: the host's
// end of the lifeline pipe closes, the parent changes, or the kernel sends
// SIGTERM for the host's death.
func watchHost() {
	parent := os.Getppid()
	if fd, err := strconv.Atoi(os.Getenv(wire.EnvLifeline)); err == nil && fd > 2 {
		unix.CloseOnExec(fd)
		_ = unix.SetNonblock(fd, true)
		f := os.NewFile(uintptr(fd), "lifeline")
		go func() {
			// The host never writes. Whatever ends the read ends the process.
			_, _ = f.Read(make([]byte, 1))
			die()
		}()
	}
	term := make(chan os.Signal, 1)
	signal.Notify(term, unix.SIGTERM)
	go func() {
		tick := time.NewTicker(parentPoll)
		defer tick.Stop()
		for {
			select {
			case <-term:
				die()
			case <-tick.C:
				if os.Getppid() != parent {
					die()
				}
			}
		}
	}()
}

// die ends the process and, where it leads its group, its children too. The
// host can no longer remove the private directory.
func die() {
	if dir := os.Getenv(wire.EnvDir); strings.HasPrefix(filepath.Base(dir), wire.DirPrefix) {
		_ = os.RemoveAll(dir)
	}
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Kill(0, unix.SIGKILL)
	}
	os.Exit(1)
}
