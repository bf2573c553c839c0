// Package wire is the control protocol between pluginapi/native and
// kera-runner. Requests arrive on the runner's standard input, replies leave
// on its standard output, in order, one reply per request. A frame is
//
//	u32 length of what follows   u32 operation   payload
//
// little-endian throughout; lists are a u32 count and the elements. Bytes of
// buffers and code never travel here: both sides map the shared file that the
// runner inherits as descriptor 3.
//
// What must hold: a frame whose length is impossible ends the runner with exit
// code 2 and a line on standard error, a request that makes no sense is answered
// with OpError; end of input ends the runner at once, whatever it is doing.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Version of the protocol. The runner answers Hello with its own.
const Version = 1

// SharedFD is the descriptor of the shared file in the runner.
const SharedFD = 3

// MaxFrame bounds a frame.
const MaxFrame = 1 << 20

// FaultExit is the exit code of a runner whose generated code faulted. The
// fault was reported in the reply to the call; the process is not reused
// since its memory may be damaged.
const FaultExit = 7

// Op is an operation.
type Op uint32

// Operations. Replies carry the operation of the request, or OpError with a
// text.
const (
	OpHello  Op = iota + 1 // u32 version -> u32 version, JSON of the probe
	OpMap                  // u64 buffer, u64 file offset, u64 length
	OpUnmap                // u64 buffer
	OpLoad                 // u64 module, u64 file offset, u64 length
	OpUnload               // u64 module
	OpCall                 // Call -> Result
	OpError
)

// Phase of a call.
type Phase struct {
	Offset, Tiles uint64
	HasLoop       bool
	Cond          uint64
	Back          uint32
}

// Call is the payload of OpCall. Buffers are passed whole.
type Call struct {
	Module          uint64
	Work, WorkAlign uint64
	Threads         uint32 // 0: as many as there are processors
	Repeat          uint32 // runs the phases this often, for timing; at least 1
	Phases          []Phase
	In, Out         []uint64
}

// Result is the reply to OpCall. Signal is not zero when the code faulted;
// Offset is then the offset of the faulting instruction in the module, or
// all ones if control had left it.
type Result struct {
	Trap        uint32
	Signal      uint32
	Offset      uint64
	Addr        uint64
	Tile        uint64 // the trapping or faulting tile
	Phase       uint32
	Nanoseconds uint64 // of all repetitions
}

// Enc appends fields.
type Enc struct{ B []byte }

func (e *Enc) U32(v uint32) { e.B = binary.LittleEndian.AppendUint32(e.B, v) }
func (e *Enc) U64(v uint64) { e.B = binary.LittleEndian.AppendUint64(e.B, v) }

// Dec reads fields. After the first failure every read gives zero.
type Dec struct {
	B   []byte
	Err error
}

func (d *Dec) take(n int) []byte {
	if d.Err == nil && len(d.B) < n {
		d.Err = fmt.Errorf("frame ends early")
	}
	if d.Err != nil {
		return make([]byte, n)
	}
	s := d.B[:n]
	d.B = d.B[n:]
	return s
}

func (d *Dec) U32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *Dec) U64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *Dec) count(each int) int {
	n := d.U32()
	if d.Err == nil && uint64(n)*uint64(each) > uint64(len(d.B)) {
		d.Err = fmt.Errorf("list of %d elements in %d bytes", n, len(d.B))
	}
	if d.Err != nil {
		return 0
	}
	return int(n)
}

// Done reports a failure or bytes left over.
func (d *Dec) Done() error {
	if d.Err == nil && len(d.B) > 0 {
		return fmt.Errorf("%d bytes left over", len(d.B))
	}
	return d.Err
}

// Encode returns the payload of c.
func (c *Call) Encode() []byte {
	var e Enc
	e.U64(c.Module)
	e.U64(c.Work)
	e.U64(c.WorkAlign)
	e.U32(c.Threads)
	e.U32(c.Repeat)
	e.U32(uint32(len(c.Phases)))
	for _, p := range c.Phases {
		e.U64(p.Offset)
		e.U64(p.Tiles)
		loop := uint32(0)
		if p.HasLoop {
			loop = 1
		}
		e.U32(loop)
		e.U64(p.Cond)
		e.U32(p.Back)
	}
	for _, l := range [][]uint64{c.In, c.Out} {
		e.U32(uint32(len(l)))
		for _, b := range l {
			e.U64(b)
		}
	}
	return e.B
}

// DecodeCall reads the payload of OpCall.
func DecodeCall(b []byte) (*Call, error) {
	d := &Dec{B: b}
	c := &Call{Module: d.U64(), Work: d.U64(), WorkAlign: d.U64(), Threads: d.U32(), Repeat: d.U32()}
	c.Phases = make([]Phase, d.count(32))
	for i := range c.Phases {
		c.Phases[i] = Phase{Offset: d.U64(), Tiles: d.U64(), HasLoop: d.U32() != 0, Cond: d.U64(), Back: d.U32()}
	}
	for _, l := range []*[]uint64{&c.In, &c.Out} {
		*l = make([]uint64, d.count(8))
		for i := range *l {
			(*l)[i] = d.U64()
		}
	}
	return c, d.Done()
}

// Encode returns the payload of r.
func (r *Result) Encode() []byte {
	var e Enc
	e.U32(r.Trap)
	e.U32(r.Signal)
	e.U64(r.Offset)
	e.U64(r.Addr)
	e.U64(r.Tile)
	e.U32(r.Phase)
	e.U64(r.Nanoseconds)
	return e.B
}

// DecodeResult reads the reply to OpCall.
func DecodeResult(b []byte) (*Result, error) {
	d := &Dec{B: b}
	r := &Result{Trap: d.U32(), Signal: d.U32(), Offset: d.U64(), Addr: d.U64(), Tile: d.U64(), Phase: d.U32(), Nanoseconds: d.U64()}
	return r, d.Done()
}

// WriteFrame writes one frame in one call.
func WriteFrame(w io.Writer, op Op, payload []byte) error {
	b := make([]byte, 8, 8+len(payload))
	binary.LittleEndian.PutUint32(b, uint32(4+len(payload)))
	binary.LittleEndian.PutUint32(b[4:], uint32(op))
	_, err := w.Write(append(b, payload...))
	return err
}

// ReadFrame reads one frame. io.EOF means a clean end.
func ReadFrame(r io.Reader) (Op, []byte, error) {
	var h [4]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(h[:])
	if n < 4 || n > MaxFrame {
		return 0, nil, fmt.Errorf("frame of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, fmt.Errorf("frame cut short: %w", err)
	}
	return Op(binary.LittleEndian.Uint32(b)), b[4:], nil
}
