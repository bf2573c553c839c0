package host

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// maxSocketBase keeps socket paths below the 104 bytes every system allows.
const maxSocketBase = 40

// lockName is a file in every private directory that its host holds locked. The
// kernel drops the lock when the host ends, however it ends, so a directory whose
// file can be locked has nobody.
const lockName = ".kera-host"

// privateDir makes a 0700 directory with a short path, and removes what hosts
// left behind that were killed before their plugin could do it. Closing the
// file gives the directory up.
func privateDir() (string, *os.File, error) {
	base := os.TempDir()
	if len(base) > maxSocketBase {
		base = "/tmp"
	}
	sweep(base)
	dir, err := os.MkdirTemp(base, wire.DirPrefix)
	if err != nil {
		return "", nil, err
	}
	// Locked under another name first: under its own it is never seen unlocked.
	temp := filepath.Join(dir, lockName+"-new")
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(temp, filepath.Join(dir, lockName))
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, f, nil
}

// sweep removes private directories without a host.
func sweep(base string) {
	locks, _ := filepath.Glob(filepath.Join(base, wire.DirPrefix+"*", lockName))
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
		if err != nil {
			continue // another person's, or just gone
		}
		var st unix.Stat_t
		if unix.Fstat(int(f.Fd()), &st) == nil && int(st.Uid) == os.Geteuid() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(filepath.Dir(name))
		}
		f.Close()
	}
}
