package diag

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options steer rendering. The caller decides about colour (terminal, NO_COLOR).
type Options struct {
	Color    bool
	TabWidth int // 4 if zero
	MaxLines int // most source lines shown of one span, 6 if zero
}

const (
	styleReset  = "\x1b[0m"
	styleBold   = "\x1b[1m"
	styleGutter = "\x1b[34m"
)

var severityStyles = [...]string{Error: "\x1b[1;31m", Warning: "\x1b[1;33m", Note: "\x1b[1;36m"}

// Render writes diagnostics for people, one after another, as given.
func Render(w io.Writer, list []*Diagnostic, opt Options) error {
	var b strings.Builder
	for i, d := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		renderOne(&b, d, opt)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text renders one diagnostic without colour.
func (d *Diagnostic) Text() string {
	var b strings.Builder
	renderOne(&b, d, Options{})
	return b.String()
}

type renderer struct {
	b     *strings.Builder
	opt   Options
	width int // of the line-number gutter
}

// mark is one underlined span within the snippet of a file.
type mark struct {
	span    Span
	label   string
	primary bool
}

func renderOne(b *strings.Builder, d *Diagnostic, opt Options) {
	if opt.TabWidth <= 0 {
		opt.TabWidth = 4
	}
	if opt.MaxLines <= 0 {
		opt.MaxLines = 6
	}
	r := &renderer{b: b, opt: opt}
	sev := severityStyles[min(int(d.Severity), len(severityStyles)-1)]
	head := d.Severity.String()
	if d.Code != "" {
		head += "[" + string(d.Code) + "]"
	}
	fmt.Fprintf(b, "%s%s\n", r.style(sev, head), r.style(styleBold, ": "+clean(d.Message)))

	marks := []mark{}
	if d.Primary.IsValid() {
		marks = append(marks, mark{d.Primary, d.PrimaryLabel, true})
	}
	for _, l := range d.Labels {
		if l.Span.IsValid() {
			marks = append(marks, mark{l.Span, l.Message, false})
		}
	}
	for _, m := range marks {
		last := m.span.File.Position(m.span.End).Line
		r.width = max(r.width, len(fmt.Sprint(last)))
	}
	for i, group := range byFile(marks) {
		arrow := "-->"
		if i > 0 {
			arrow = ":::"
		}
		fmt.Fprintf(b, "%s%s %s\n", strings.Repeat(" ", r.width), r.style(styleGutter, arrow), clean(group[0].span.String()))
		r.snippet(group, sev)
	}
	for _, l := range d.Labels {
		if !l.Span.IsValid() {
			r.trailer("note", l.Message)
		}
	}
	for _, n := range d.Notes {
		r.trailer("note", n)
	}
	if d.Fix != nil {
		r.trailer("help", fixText(d.Fix))
	}
}

// fixText says the edit in words where it is small enough to read.
func fixText(f *Fix) string {
	if len(f.Edits) != 1 || strings.Contains(f.Edits[0].Text, "\n") {
		return f.Message
	}
	e := f.Edits[0]
	old := e.Span.Text()
	switch {
	case strings.Contains(old, "\n"):
		return f.Message
	case e.Text == "":
		return fmt.Sprintf("%s: remove `%s`", f.Message, old)
	case old == "":
		return fmt.Sprintf("%s: insert `%s`", f.Message, e.Text)
	}
	return fmt.Sprintf("%s: `%s`", f.Message, e.Text)
}

func (r *renderer) trailer(kind, text string) {
	pad := strings.Repeat(" ", r.width+1)
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			fmt.Fprintf(r.b, "%s%s %s\n", pad, r.style(styleGutter, "="), r.style(styleBold, kind+": ")+clean(line))
		} else {
			fmt.Fprintf(r.b, "%s  %s%s\n", pad, strings.Repeat(" ", len(kind)+2), clean(line))
		}
	}
}

// byFile groups marks, the primary's file first, then files by first mention.
func byFile(marks []mark) [][]mark {
	var groups [][]mark
	for _, m := range marks {
		i := slices.IndexFunc(groups, func(g []mark) bool { return g[0].span.File == m.span.File })
		if i < 0 {
			groups = append(groups, []mark{m})
		} else {
			groups[i] = append(groups[i], m)
		}
	}
	return groups
}

// snippet prints the lines the marks touch, each once, with underlines below it.
func (r *renderer) snippet(marks []mark, sev string) {
	file := marks[0].span.File
	lines := map[int]bool{}
	for _, m := range marks {
		first, last := lineSpan(m.span)
		for n := first; n <= last; n++ {
			// A long span shows its beginning and its end.
			if n-first < r.opt.MaxLines-1 || n == last {
				lines[n] = true
			}
		}
	}
	order := make([]int, 0, len(lines))
	for n := range lines {
		order = append(order, n)
	}
	slices.Sort(order)
	r.gutter("", "\n")
	for i, n := range order {
		if i > 0 && n > order[i-1]+1 {
			fmt.Fprintf(r.b, "%s\n", r.style(styleGutter, "..."))
		}
		start, end := file.lineRange(n)
		before, after := "", ""
		if end-start > maxLineBytes {
			start, end, before, after = window(file, marks, n)
		}
		text, cols := layout(file.Text[start:end], r.opt.TabWidth)
		r.gutter(fmt.Sprint(n), strings.TrimRight(" "+before+text+after, " ")+"\n")
		for _, m := range marks {
			first, last := lineSpan(m.span)
			if n < first || n > last {
				continue
			}
			lo := cols[min(max(m.span.Start, start), end)-start]
			hi := cols[min(max(m.span.End, start), end)-start]
			if hi <= lo && first != last {
				continue // nothing of the span is visible on this line
			}
			if n > first && n < last {
				continue // whole lines in the middle need no underline
			}
			glyph, style := "^", sev
			if !m.primary {
				glyph, style = "-", styleGutter
			}
			under := strings.Repeat(glyph, max(hi-lo, 1))
			if m.label != "" && n == last {
				under += " " + clean(m.label)
			}
			r.gutter("", " "+strings.Repeat(" ", len(before)+lo)+r.style(style, under)+"\n")
		}
	}
}

// maxLineBytes bounds what is shown of a line: generated source may hold
// everything on one.
const maxLineBytes = 240

// window chooses the part of a long line to show: what the first mark on it needs.
func window(file *File, marks []mark, n int) (start, end int, before, after string) {
	first, last := file.lineRange(n)
	at := first
	for _, m := range marks {
		if lo, hi := lineSpan(m.span); lo <= n && n <= hi {
			at = min(max(m.span.Start, first), last)
			break
		}
	}
	start = max(first, at-maxLineBytes/3)
	end = min(last, start+maxLineBytes)
	for start > first && !utf8.RuneStart(file.Text[start]) {
		start--
	}
	for end < last && !utf8.RuneStart(file.Text[end]) {
		end++
	}
	if start > first {
		before = "..."
	}
	if end < last {
		after = "..."
	}
	return start, end, before, after
}

func lineSpan(s Span) (first, last int) {
	first = s.File.Position(s.Start).Line
	last = first
	if s.End > s.Start {
		last = s.File.Position(s.End - 1).Line
	}
	return first, last
}

func (r *renderer) gutter(number, rest string) {
	fmt.Fprintf(r.b, "%s%s", r.style(styleGutter, fmt.Sprintf("%*s |", r.width, number)), rest)
}

func (r *renderer) style(s, text string) string {
	if !r.opt.Color || text == "" {
		return text
	}
	return s + text + styleReset
}

// layout expands tabs and replaces what must not reach a terminal; cols[i] is
// the display column of byte i of the line (len(line)+1 entries).
func layout(line string, tab int) (text string, cols []int) {
	var b strings.Builder
	cols = make([]int, len(line)+1)
	col := 0
	for i := 0; i < len(line); {
		c, size := utf8.DecodeRuneInString(line[i:])
		for k := range size {
			cols[i+k] = col
		}
		switch {
		case c == '\t':
			n := tab - col%tab
			b.WriteString(strings.Repeat(" ", n))
			col += n
		default:
			c = visible(c)
			b.WriteRune(c)
			col += width(c)
		}
		i += size
	}
	cols[len(line)] = col
	return b.String(), cols
}

// visible replaces control and direction-changing characters: a source file
// must be able neither to drive the terminal nor to look like other source.
func visible(c rune) rune {
	if c == utf8.RuneError || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) ||
		c == '\u2028' || c == '\u2029' {
		return '\uFFFD'
	}
	return c
}

func clean(s string) string { return strings.Map(visible, s) }

// wide lists the blocks terminals draw two cells wide.
var wide = [][2]rune{
	{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},
	{0xA000, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60},
	{0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
}

func width(c rune) int {
	if c < 0x300 {
		return 1
	}
	if unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, r := range wide {
		if c >= r[0] && c <= r[1] {
			return 2
		}
	}
	return 1
}
