package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kera-lang/kera/core/diag"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestPipesGetNoColourAndNoProgress(t *testing.T) {
	var out, err bytes.Buffer
	o := newOutput(&out, &err, env(nil))
	o.progress("working")
	o.during(context.Background(), "working")()
	o.fail(diag.List{mistake("K0700", "bad")}, 1)
	if strings.Contains(out.String()+err.String(), "\x1b") || strings.Contains(err.String(), "working") {
		t.Errorf("stdout %q stderr %q", out.String(), err.String())
	}
}

func TestNoColor(t *testing.T) {
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err == nil {
		defer tty.Close()
		if o := newOutput(tty, tty, env(map[string]string{"NO_COLOR": "1"})); o.color || o.paint {
			t.Error("NO_COLOR is ignored")
		}
	}
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil || isTerminal(null) {
		t.Errorf("%s counts as a terminal: %v", os.DevNull, err)
	}
}

func TestProgressIsWipedBeforeAnythingElse(t *testing.T) {
	var out, err bytes.Buffer
	o := newOutput(&out, &err, env(nil))
	o.live = true
	o.progress("too soon")
	if err.Len() != 0 {
		t.Errorf("shown at once: %q", err.String())
	}
	o.next = time.Time{}
	o.progress("working %s", strings.Repeat("x", 200))
	o.note("said")
	if got := err.String(); !strings.HasSuffix(got, "\r\x1b[Ksaid\n") || strings.Contains(got, strings.Repeat("x", 80)) {
		t.Errorf("stderr %q", got)
	}
}

func TestFailInJSON(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{diag.List{mistake("K0713", "wrong <shape>")}, 1, `"code":"K0713"`},
		{&exitError{code: exitTrap, err: errors.New("trap"), data: map[string]string{"kind": "overflow"}}, 9, `"detail":{"kind":"overflow"}`},
		{fmt.Errorf("reading: %w", context.Canceled), 130, `"kind":"cancelled"`},
	} {
		var out, err bytes.Buffer
		o := newOutput(&out, &err, env(nil))
		o.json = true
		if got := exitCode(context.Background(), c.err); got != c.code {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.code)
		}
		o.fail(c.err, c.code)
		var compact bytes.Buffer
		if e := json.Compact(&compact, out.Bytes()); e != nil || !strings.Contains(compact.String(), c.want) || err.Len() == 0 {
			t.Errorf("stdout %s stderr %s: %v", compact.String(), err.String(), e)
		}
	}
	var out, err bytes.Buffer
	o := newOutput(&out, &err, env(nil))
	o.json = true
	o.fail(&exitError{code: exitDifference, err: errors.New("differs"), data: alreadyReported{}}, 3)
	if out.Len() != 0 || !strings.Contains(err.String(), "differs") {
		t.Errorf("stdout %q stderr %q", out.String(), err.String())
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestResultThatCannotBeWritten(t *testing.T) {
	o := newOutput(full{}, &bytes.Buffer{}, env(nil))
	err := o.result(nil, func(w *bufio.Writer) { w.WriteString("x") })
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("err = %v", err)
	}
}

func TestExitTable(t *testing.T) {
	for _, c := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 130} {
		if exitName(c) == "" {
			t.Errorf("%d has no name", c)
		}
	}
}
