package sdk

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	plugin "github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	"github.com/kera-lang/kera/pluginapi/proto/wire"
)

// takeStdout moves the pipe to the host away from descriptor 1 and points the
// latter at stderr, so that C code and printing children are harmless. go-plugin
// itself prints the handshake to os.Stdout; what it and anybody else writes
// there is read line by line, and only the handshake goes on to the host.
func takeStdout() error {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return err
	}
	if err := unix.Dup2(2, 1); err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	os.Stdout = w
	go filterStdout(r, os.NewFile(uintptr(fd), "handshake"), os.Stderr)
	return nil
}

func filterStdout(r io.Reader, handshake io.WriteCloser, rest io.Writer) {
	mark := fmt.Sprintf("%d|%d|", plugin.CoreProtocolVersion, wire.Major)
	sent := false
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		// Text printed without a newline may stand before the handshake.
		if at := strings.Index(line, mark); !sent && at >= 0 && strings.Contains(line[at:], "|grpc|") {
			_, _ = io.WriteString(handshake, line[at:])
			_ = handshake.Close()
			sent = true
			line = line[:at]
		}
		_, _ = io.WriteString(rest, line)
		if err != nil {
			return
		}
	}
}
