package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Limits of the tail kept for error messages.
const (
	tailBytes = 8 << 10
	tailLines = 12
)

// tail keeps the last bytes of a stream. done is closed at its end.
type tail struct {
	mu   sync.Mutex
	buf  []byte
	once sync.Once
	done chan struct{}
}

func newTail() *tail { return &tail{done: make(chan struct{})} }

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) finish() { t.once.Do(func() { close(t.done) }) }

// settle waits a little for the end of the stream, so that a dead process's
// last words are complete.
func (t *tail) settle(limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}

// lines returns the last lines, harmless for a terminal.
func (t *tail) lines() []string {
	text := strings.TrimSpace(t.text())
	if text == "" {
		return nil
	}
	var all []string
	for _, l := range strings.Split(text, "\n") {
		if l, ok := unwrapLog(l); ok {
			all = append(all, l)
		}
	}
	if len(all) > tailLines {
		all = all[len(all)-tailLines:]
	}
	for i, l := range all {
		all[i] = printable(strings.TrimRight(l, "\r"))
	}
	return all
}

// unwrapLog turns a line of hclog's JSON form into text. ok is false for
// chatter, which has no place in an error message.
func unwrapLog(line string) (text string, ok bool) {
	if !strings.HasPrefix(line, "{") {
		return line, true
	}
	var m map[string]any
	if json.Unmarshal([]byte(line), &m) != nil {
		return line, true
	}
	msg, isLog := m["@message"].(string)
	level, _ := m["@level"].(string)
	if !isLog {
		return line, true
	}
	text = "[" + strings.ToUpper(level) + "] " + msg
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if !strings.HasPrefix(k, "@") {
			text += fmt.Sprintf(" %s=%v", k, m[k])
		}
	}
	return text, level != "debug" && level != "trace"
}

// printable replaces what could steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
