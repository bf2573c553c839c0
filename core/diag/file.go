package diag

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// File is a source text with its line index. It is immutable after NewFile.
type File struct {
	Name  string // as printed; slashes, relative to the package
	Text  string // exactly the bytes read, not necessarily valid UTF-8
	lines []int  // byte offset at which each line starts; lines[0] == 0
}

// Position is a place as people count it: both numbers start at 1. Column
// counts characters (an invalid byte is one character).
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// NewFile indexes the lines of text; "\n", "\r\n" and a lone "\r" end a line.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			f.lines = append(f.lines, i+1)
		case text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// Span makes a span of this file.
func (f *File) Span(start, end int) Span { return Span{f, start, end} }

// Lines is the number of lines; an empty file has one.
func (f *File) Lines() int { return len(f.lines) }

// Position converts a byte offset; offsets outside the file are clamped.
func (f *File) Position(offset int) Position {
	offset = min(max(offset, 0), len(f.Text))
	line := sort.SearchInts(f.lines, offset+1) - 1
	return Position{Line: line + 1, Column: utf8.RuneCountInString(f.Text[f.lines[line]:offset]) + 1}
}

// Line is the text of a line (counted from 1) without its line ending.
func (f *File) Line(n int) string {
	start, end := f.lineRange(n)
	return f.Text[start:end]
}

func (f *File) lineRange(n int) (start, end int) {
	if n < 1 || n > len(f.lines) {
		return len(f.Text), len(f.Text)
	}
	start, end = f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return start, start + len(strings.TrimRight(f.Text[start:end], "\r\n"))
}
