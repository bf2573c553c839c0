package syntax

import "github.com/kera-lang/kera/core/diag"

// The parser's output is a flat list of events. A Start whose forward is not
// zero says that the node it begins is inside of a node that begins forward
// events later: that is how `a` becomes the left side of `a + b` after the
// parser has already left it. No event holds a position; tokens come in order.
//
//	a + b   Start(Name, forward 3) Token Finish  Start(Binary) Token Start(Name) Token Finish Finish
type event struct {
	tag     eventTag
	kind    Kind
	forward int
	diag    *diag.Diagnostic
}

type eventTag uint8

const (
	evNone eventTag = iota // abandoned
	evStart
	evToken
	evFinish
	evError
)

// builder turns events and the raw tokens into a green tree. Trivia goes to the
// innermost node that is open before and after it, so nodes begin and end with
// tokens that mean something.
type builder struct {
	cache *Cache
	src   string
	raw   []RawToken
	pos   int
	open  []openNode
	stack []*green // finished children of all open nodes
	diags diag.List
}

type openNode struct {
	kind  Kind
	first int // index in stack of its first child
}

func (b *builder) build(events []event) *green {
	var parents []Kind
	for i := range events {
		e := &events[i]
		switch e.tag {
		case evStart:
			parents = append(parents[:0], e.kind)
			for j := i; events[j].forward != 0; {
				j += events[j].forward
				parents = append(parents, events[j].kind)
				events[j].tag = evNone
			}
			if len(b.open) > 0 {
				b.trivia()
			}
			for j := len(parents) - 1; j >= 0; j-- {
				b.open = append(b.open, openNode{parents[j], len(b.stack)})
			}
		case evToken:
			b.trivia()
			b.token(e.kind)
		case evFinish:
			if len(b.open) == 1 {
				b.trivia() // what is left of the file belongs to the root
			}
			b.close()
		case evError:
			b.diags.Add(e.diag)
		}
	}
	if len(b.open) != 0 || len(b.stack) != 1 || b.pos != len(b.raw) {
		panic("BUG: unbalanced parser events")
	}
	return b.stack[0]
}

func (b *builder) token(kind Kind) {
	t := b.raw[b.pos]
	b.stack = append(b.stack, b.cache.token(kind, b.src[t.Start:t.End]))
	b.pos++
}

func (b *builder) trivia() {
	for b.pos < len(b.raw) && skipped(b.raw[b.pos].Kind) {
		b.token(b.raw[b.pos].Kind)
	}
}

func (b *builder) close() {
	top := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	g := b.cache.node(top.kind, b.stack[top.first:])
	b.stack = append(b.stack[:top.first], g)
}

// skipped says what the parser does not see: trivia, and what the lexer has
// already complained about.
func skipped(k Kind) bool { return k.IsTrivia() || k == TUnknown }
