package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kera-lang/kera/core/diag"
)

// output keeps the two streams apart: results on stdout, everything else on
// stderr. With --json stdout is one JSON value and nothing more.
type output struct {
	stdout  io.Writer
	stderr  io.Writer
	json    bool
	quiet   bool
	color   bool // stderr shows colours
	paint   bool // stdout shows colours
	live    bool // stderr is a terminal: a progress line is welcome
	mu      sync.Mutex
	showing bool
	next    time.Time // no progress line before this
}

func newOutput(stdout, stderr io.Writer, getenv func(string) string) *output {
	plain := getenv("NO_COLOR") != "" || getenv("TERM") == "dumb"
	live := isTerminal(stderr)
	return &output{stdout: stdout, stderr: stderr, next: time.Now().Add(progressAfter), live: live && getenv("TERM") != "dumb",
		color: live && !plain, paint: isTerminal(stdout) && !plain}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// result prints a command's result: v as JSON, or the text. Names in a .keg are
// anybody's: what would drive a terminal is made visible.
func (o *output) result(v any, text func(w *bufio.Writer)) error {
	o.clearProgress()
	var err error
	if o.json {
		b := bufio.NewWriter(o.stdout)
		if err = writeJSON(b, v); err == nil {
			err = b.Flush()
		}
	} else {
		visible := diag.NewVisibleWriter(o.stdout)
		b := bufio.NewWriter(visible)
		text(b)
		if err = b.Flush(); err == nil {
			err = visible.Flush()
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// maxShown is how many diagnostics a person gets to read. --json has all of them.
const maxShown = 50

func (o *output) render(list diag.List) {
	more := len(list) - maxShown
	diag.Render(o.stderr, list[:min(len(list), maxShown)], diag.Options{Color: o.color})
	if more > 0 {
		fmt.Fprintf(o.stderr, "\nand %d more\n", more)
	}
}

// diagnose shows warnings and notes that stop nothing.
func (o *output) diagnose(list diag.List) {
	if len(list) == 0 || o.quiet {
		return
	}
	o.clearProgress()
	o.render(list)
}

// note says something about the run that is no result.
func (o *output) note(format string, args ...any) {
	if o.quiet {
		return
	}
	o.clearProgress()
	fmt.Fprintln(o.stderr, diag.Visible(fmt.Sprintf(format, args...)))
}

// Short work shows no progress, and no line is shown too briefly to be read.
const (
	progressAfter = 300 * time.Millisecond
	progressEvery = 100 * time.Millisecond
)

// progress replaces the line on a terminal that says what is going on.
func (o *output) progress(format string, args ...any) {
	if !o.live || o.quiet {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if now.Before(o.next) {
		return
	}
	o.next = now.Add(progressEvery)
	line := []rune(diag.Visible(fmt.Sprintf(format, args...)))
	if len(line) > 78 {
		line = append(line[:75], '.', '.', '.')
	}
	fmt.Fprintf(o.stderr, "\r\x1b[K%s", string(line))
	o.showing = true
}

func (o *output) clearProgress() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.showing {
		fmt.Fprint(o.stderr, "\r\x1b[K")
		o.showing = false
	}
}

// during shows a progress line with the seconds passed until the returned
// function is called. Short work shows nothing.
func (o *output) during(ctx context.Context, what string) (stop func()) {
	if !o.live || o.quiet {
		return func() {}
	}
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		start := time.Now()
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				o.clearProgress()
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				o.progress("%s ... %.1f s", what, time.Since(start).Seconds())
			}
		}
	}()
	return sync.OnceFunc(func() { close(done); <-finished })
}

// errorReport is the JSON form of a failure.
type errorReport struct {
	Exit        int       `json:"exit"`
	Kind        string    `json:"kind"`
	Message     string    `json:"message"`
	Diagnostics diag.List `json:"diagnostics,omitempty"`
	Detail      any       `json:"detail,omitempty"`
}

// fail prints an error for a person on stderr and, with --json, for a program
// on stdout, unless the command already printed its result there.
func (o *output) fail(err error, code int) {
	o.clearProgress()
	list := diagnostics(err)
	switch {
	case len(list) > 0:
		o.render(list)
	case code == exitCancelled:
		fmt.Fprintln(o.stderr, "kerac: cancelled")
	default:
		red, off := "", ""
		if o.color {
			red, off = "\x1b[1;31m", "\x1b[0m"
		}
		fmt.Fprintf(o.stderr, "%skerac: %s%s\n", red, off, diag.Visible(strings.TrimRight(err.Error(), "\n")))
	}
	if !o.json {
		return
	}
	r := errorReport{Exit: code, Kind: exitName(code), Message: err.Error(), Diagnostics: list}
	var ee *exitError
	if errors.As(err, &ee) {
		if _, said := ee.data.(alreadyReported); said {
			return
		}
		r.Detail = ee.data
	}
	writeJSON(o.stdout, map[string]errorReport{"error": r})
}

// alreadyReported marks a failure whose JSON result is on stdout already, such as
// the table of a verify that found a difference.
type alreadyReported struct{}
