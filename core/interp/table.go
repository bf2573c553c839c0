package interp

import (
	"github.com/kera-lang/kera/core/numeric"
	"github.com/kera-lang/kera/core/op"
)

// compilers is the interpreter's entry per op. param has none: a plan resolves
// it to a slot.
func compilers() [op.MaxCode]compiler {
	return [op.MaxCode]compiler{
		op.Const:    compileConst,
		op.Call:     compileCall,
		op.Tuple:    compileTuple,
		op.Get:      compileGet,
		op.Switch:   compileSwitch,
		op.Loop:     compileLoop,
		op.Fusion:   compileCall,
		op.TrapIf:   compileTrapIf,
		op.TrapJoin: compileTrapJoin,

		op.Add:             elem2(numeric.Add),
		op.Sub:             elem2(numeric.Sub),
		op.Mul:             elem2(numeric.Mul),
		op.Div:             elem2(numeric.Div),
		op.Rem:             elem2(numeric.Rem),
		op.Neg:             elem1(numeric.Neg),
		op.Abs:             elem1(numeric.Abs),
		op.Min:             elem2(numeric.Min),
		op.Max:             elem2(numeric.Max),
		op.FMA:             compileFMA,
		op.Sqrt:            elem1(numeric.Sqrt),
		op.Floor:           elem1(numeric.Floor),
		op.Ceil:            elem1(numeric.Ceil),
		op.Trunc:           elem1(numeric.Trunc),
		op.RoundEven:       elem1(numeric.RoundEven),
		op.And:             elem2(numeric.And),
		op.Or:              elem2(numeric.Or),
		op.Xor:             elem2(numeric.Xor),
		op.Not:             elem1(numeric.Not),
		op.Shl:             elem2(numeric.Shl),
		op.Shr:             elem2(numeric.Shr),
		op.Popcnt:          elem1(numeric.Popcnt),
		op.Clz:             elem1(numeric.Clz),
		op.Ctz:             elem1(numeric.Ctz),
		op.Compare:         compileCompare,
		op.Select:          compileSelect,
		op.Convert:         compileConvert,
		op.Bitcast:         compileBitcast,
		op.Copysign:        elem2(numeric.CopySign),
		op.AddOverflow:     elem2(numeric.AddOvf),
		op.SubOverflow:     elem2(numeric.SubOvf),
		op.MulOverflow:     elem2(numeric.MulOvf),
		op.ConvertOverflow: compileConvertOverflow,

		op.Iota:      compileIota,
		op.Reshape:   compileReshape,
		op.Broadcast: compileBroadcast,
		op.Transpose: compileTranspose,
		op.Slice:     compileSlice,
		op.Update:    compileUpdate,
		op.Concat:    compileConcat,
		op.Gather:    compileGather,

		op.Map:        compileMap,
		op.Reduce:     compileReduce,
		op.Dot:        compileDot,
		op.DotGeneral: compileDotGeneral,
		op.Sort:       compileSort,
		op.ArgMin:     compileArg,
		op.ArgMax:     compileArg,
	}
}
