package diag

import (
	"bytes"
	"io"
	"strings"
)

// Visible replaces the characters of s that would drive a terminal or change the
// direction of text. Lines and tabs stay.
func Visible(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return c
		}
		return visible(c)
	}, s)
}

// VisibleWriter applies Visible to a text on its way to w. Text after the last
// newline waits for Flush.
type VisibleWriter struct {
	w    io.Writer
	line []byte // begun
}

// NewVisibleWriter returns a writer to w.
func NewVisibleWriter(w io.Writer) *VisibleWriter { return &VisibleWriter{w: w} }

func (v *VisibleWriter) Write(b []byte) (int, error) {
	end := bytes.LastIndexByte(b, '\n') + 1
	if end > 0 {
		text := b[:end]
		if len(v.line) > 0 {
			text = append(v.line, text...)
		}
		if err := v.put(text); err != nil {
			return 0, err
		}
		v.line = v.line[:0]
	}
	v.line = append(v.line, b[end:]...)
	return len(b), nil
}

// Flush writes what has no newline yet.
func (v *VisibleWriter) Flush() error {
	err := v.put(v.line)
	v.line = nil
	return err
}

func (v *VisibleWriter) put(text []byte) error {
	if !plain(text) {
		text = []byte(Visible(string(text)))
	}
	_, err := v.w.Write(text)
	return err
}

// plain is a quick test for text that Visible leaves as it is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
