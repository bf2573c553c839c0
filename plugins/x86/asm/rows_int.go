package asm

// intRows declares packed integer arithmetic, logic, shifts and comparison.
func intRows() []row {
	rows := []row{
		{"vpmulld", "VE 66.0F38.W0 40 /r k", "RVM", "v,v,v/mv/b32", 0, 10, PFMA, "mul.32"},
		{"vpmullq", "E 66.0F38.W1 40 /r k", "RVM", "v,v,v/mv/b64", AVX512DQ, 15, P0, "mul.64"},
		{"vpmullw", "VE 66.0F.W0 D5 /r", "RVM", "v,v,v/mv", AVX512BW, 5, PFMA, "mul.16"},
		{"vpmuludq", "VE 66.0F.W01 F4 /r k", "RVM", "v,v,v/mv/b64", 0, 5, PFMA, ""},
		{"vpmuldq", "VE 66.0F38.W01 28 /r k", "RVM", "v,v,v/mv/b64", 0, 5, PFMA, ""},
		{"vpmulhw", "VE 66.0F.W0 E5 /r", "RVM", "v,v,v/mv", AVX512BW, 5, PFMA, ""},
		{"vpmulhuw", "VE 66.0F.W0 E4 /r", "RVM", "v,v,v/mv", AVX512BW, 5, PFMA, ""},
		{"vpmaddwd", "VE 66.0F.W0 F5 /r", "RVM", "v,v,v/mv", AVX512BW, 5, PFMA, "dot2.16"},
		{"vpaddsb", "VE 66.0F.W0 EC /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "addss.8"},
		{"vpaddsw", "VE 66.0F.W0 ED /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "addss.16"},
		{"vpaddusb", "VE 66.0F.W0 DC /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "addus.8"},
		{"vpaddusw", "VE 66.0F.W0 DD /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "addus.16"},
		{"vpsubsb", "VE 66.0F.W0 E8 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "subss.8"},
		{"vpsubsw", "VE 66.0F.W0 E9 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "subss.16"},
		{"vpsubusb", "VE 66.0F.W0 D8 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "subus.8"},
		{"vpsubusw", "VE 66.0F.W0 D9 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "subus.16"},
		{"vpsignb", "V 66.0F38.W0 08 /r", "RVM", "v,v,v/mv", 0, 1, PVec, ""},
		{"vpternlogd", "E 66.0F3A.W0 25 /r ib", "RVMI", "+v,v,v/mv/b32,i8", 0, 1, P0 | P5, "ternlog"},
		{"vpternlogq", "E 66.0F3A.W1 25 /r ib", "RVMI", "+v,v,v/mv/b64,i8", 0, 1, P0 | P5, "ternlog"},
		{"vpandd", "E 66.0F.W0 DB /r k", "RVM", "v,v,v/mv/b32", 0, 1, PVec, "vand"},
		{"vpandnd", "E 66.0F.W0 DF /r", "RVM", "v,v,v/mv/b32", 0, 1, PVec, "vandn"},
		{"vpord", "E 66.0F.W0 EB /r k", "RVM", "v,v,v/mv/b32", 0, 1, PVec, "vor"},
		{"vpxord", "E 66.0F.W0 EF /r k", "RVM", "v,v,v/mv/b32", 0, 1, PVec, "vxor"},
		{"vpandq", "E 66.0F.W1 DB /r k", "RVM", "v,v,v/mv/b64", 0, 1, PVec, "vand"},
		{"vpandnq", "E 66.0F.W1 DF /r", "RVM", "v,v,v/mv/b64", 0, 1, PVec, "vandn"},
		{"vporq", "E 66.0F.W1 EB /r k", "RVM", "v,v,v/mv/b64", 0, 1, PVec, "vor"},
		{"vpxorq", "E 66.0F.W1 EF /r k", "RVM", "v,v,v/mv/b64", 0, 1, PVec, "vxor"},
		{"vpand", "V 66.0F.W0 DB /r", "RVM", "v,v,v/mv", 0, 1, PVec, "vand"},
		{"vpandn", "V 66.0F.W0 DF /r", "RVM", "v,v,v/mv", 0, 1, PVec, "vandn"},
		{"vpor", "V 66.0F.W0 EB /r", "RVM", "v,v,v/mv", 0, 1, PVec, "vor"},
		{"vpxor", "V 66.0F.W0 EF /r", "RVM", "v,v,v/mv", 0, 1, PVec, "vxor"},
		{"vptest", "V 66.0F38.W0 17 /r fw", "RM", "<v,v/mv", 0, 5, P0 | P5, ""},
		{"vpblendmb", "E 66.0F38.W0 66 /r k", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P5, "blendm.8"},
		{"vpblendmw", "E 66.0F38.W1 66 /r k", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P5, "blendm.16"},
		{"vpblendmd", "E 66.0F38.W0 64 /r k", "RVM", "v,v,v/mv/b32", 0, 1, P0 | P5, ""},
		{"vpblendmq", "E 66.0F38.W1 64 /r k", "RVM", "v,v,v/mv/b64", 0, 1, P0 | P5, ""},

		{"vpslld", "VE 66.0F.W0 72 /6 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shli.32"},
		{"vpsrld", "VE 66.0F.W0 72 /2 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shrui.32"},
		{"vpsrad", "VE 66.0F.W0 72 /4 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shrsi.32"},
		{"vpsllq", "VE 66.0F.W01 73 /6 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shli.64"},
		{"vpsrlq", "VE 66.0F.W01 73 /2 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shrui.64"},
		{"vpsraq", "E 66.0F.W1 72 /4 ib", "VMI", "v,v,i8", 0, 1, P0 | P1, "shrsi.64"},
		{"vpsllw", "VE 66.0F.W0 71 /6 ib", "VMI", "v,v,i8", AVX512BW, 1, P0 | P1, "shli.16"},
		{"vpsrlw", "VE 66.0F.W0 71 /2 ib", "VMI", "v,v,i8", AVX512BW, 1, P0 | P1, "shrui.16"},
		{"vpsraw", "VE 66.0F.W0 71 /4 ib", "VMI", "v,v,i8", AVX512BW, 1, P0 | P1, "shrsi.16"},
		{"vpslldq", "VE 66.0F.W0 73 /7 ib", "VMI", "v,v,i8", AVX512BW, 1, P5, ""},
		{"vpsrldq", "VE 66.0F.W0 73 /3 ib", "VMI", "v,v,i8", AVX512BW, 1, P5, ""},
		{"vpsllvd", "VE 66.0F38.W0 47 /r", "RVM", "v,v,v/mv/b32", 0, 1, P0 | P1, "shl.32"},
		{"vpsllvq", "VE 66.0F38.W1 47 /r", "RVM", "v,v,v/mv/b64", 0, 1, P0 | P1, "shl.64"},
		{"vpsrlvd", "VE 66.0F38.W0 45 /r", "RVM", "v,v,v/mv/b32", 0, 1, P0 | P1, "shru.32"},
		{"vpsrlvq", "VE 66.0F38.W1 45 /r", "RVM", "v,v,v/mv/b64", 0, 1, P0 | P1, "shru.64"},
		{"vpsravd", "VE 66.0F38.W0 46 /r", "RVM", "v,v,v/mv/b32", 0, 1, P0 | P1, "shrs.32"},
		{"vpsravq", "E 66.0F38.W1 46 /r", "RVM", "v,v,v/mv/b64", 0, 1, P0 | P1, "shrs.64"},
		{"vpsllvw", "E 66.0F38.W1 12 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "shl.16"},
		{"vpsrlvw", "E 66.0F38.W1 10 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "shru.16"},
		{"vpsravw", "E 66.0F38.W1 11 /r", "RVM", "v,v,v/mv", AVX512BW, 1, P0 | P1, "shrs.16"},

		{"vpabsb", "VE 66.0F38.W0 1C /r", "RM", "v,v/mv", AVX512BW, 1, P0 | P1, "abs.8"},
		{"vpabsw", "VE 66.0F38.W0 1D /r", "RM", "v,v/mv", AVX512BW, 1, P0 | P1, "abs.16"},
		{"vpabsd", "VE 66.0F38.W0 1E /r", "RM", "v,v/mv/b32", 0, 1, P0 | P1, "abs.32"},
		{"vpabsq", "E 66.0F38.W1 1F /r", "RM", "v,v/mv/b64", 0, 1, P0 | P1, "abs.64"},
		{"vplzcntd", "E 66.0F38.W0 44 /r", "RM", "v,v/mv/b32", AVX512CD, 4, P0, "clz.32"},
		{"vplzcntq", "E 66.0F38.W1 44 /r", "RM", "v,v/mv/b64", AVX512CD, 4, P0, "clz.64"},

		{"vpcmpeqq", "V 66.0F38.W0 29 /r", "RVM", "v,v,v/mv", 0, 1, PVec, "eq.64"},
		{"vpcmpgtq", "V 66.0F38.W0 37 /r", "RVM", "v,v,v/mv", 0, 3, P5, "gts.64"},
	}
	type bwd struct{ op, suffix, elem string }
	// Plain three-operand families by element: opcode in map 0F or 0F38.
	add := func(name, sem string, lat uint8, elems ...[4]string) {
		for _, e := range elems { // suffix, enc "VE 66.0F.W0 FC", operand broadcast, element bits
			ops, flag, feat := "v,v,v/mv", "", AVX512BW
			if e[2] != "" {
				ops, flag, feat = ops+"/"+e[2], " k", 0
			}
			rows = append(rows, row{name + e[0], e[1] + " /r" + flag, "RVM", ops, feat, lat, PVec, sem + "." + e[3]})
		}
	}
	add("vpadd", "add", 1, [4]string{"b", "VE 66.0F.W0 FC", "", "8"}, [4]string{"w", "VE 66.0F.W0 FD", "", "16"},
		[4]string{"d", "VE 66.0F.W0 FE", "b32", "32"}, [4]string{"q", "VE 66.0F.W01 D4", "b64", "64"})
	add("vpsub", "sub", 1, [4]string{"b", "VE 66.0F.W0 F8", "", "8"}, [4]string{"w", "VE 66.0F.W0 F9", "", "16"},
		[4]string{"d", "VE 66.0F.W0 FA", "b32", "32"}, [4]string{"q", "VE 66.0F.W01 FB", "b64", "64"})
	add("vpmins", "mins", 1, [4]string{"b", "VE 66.0F38.W0 38", "", "8"}, [4]string{"w", "VE 66.0F.W0 EA", "", "16"},
		[4]string{"d", "VE 66.0F38.W0 39", "b32", "32"}, [4]string{"q", "E 66.0F38.W1 39", "b64", "64"})
	add("vpminu", "minu", 1, [4]string{"b", "VE 66.0F.W0 DA", "", "8"}, [4]string{"w", "VE 66.0F38.W0 3A", "", "16"},
		[4]string{"d", "VE 66.0F38.W0 3B", "b32", "32"}, [4]string{"q", "E 66.0F38.W1 3B", "b64", "64"})
	add("vpmaxs", "maxs", 1, [4]string{"b", "VE 66.0F38.W0 3C", "", "8"}, [4]string{"w", "VE 66.0F.W0 EE", "", "16"},
		[4]string{"d", "VE 66.0F38.W0 3D", "b32", "32"}, [4]string{"q", "E 66.0F38.W1 3D", "b64", "64"})
	add("vpmaxu", "maxu", 1, [4]string{"b", "VE 66.0F.W0 DE", "", "8"}, [4]string{"w", "VE 66.0F38.W0 3E", "", "16"},
		[4]string{"d", "VE 66.0F38.W0 3F", "b32", "32"}, [4]string{"q", "E 66.0F38.W1 3F", "b64", "64"})
	for _, c := range []bwd{{"74", "eqb", "eq.8"}, {"75", "eqw", "eq.16"}, {"76", "eqd", "eq.32"},
		{"64", "gtb", "gts.8"}, {"65", "gtw", "gts.16"}, {"66", "gtd", "gts.32"}} {
		rows = append(rows, row{"vpcmp" + c.suffix, "V 66.0F.W0 " + c.op + " /r", "RVM", "v,v,v/mv", 0, 1, PVec, c.elem})
	}
	for _, c := range []struct{ suffix, w, op, b, sem string }{
		{"b", "W0", "3F", "", "cmpks.8"}, {"w", "W1", "3F", "", "cmpks.16"},
		{"d", "W0", "1F", "/b32", "cmpks.32"}, {"q", "W1", "1F", "/b64", "cmpks.64"},
		{"ub", "W0", "3E", "", "cmpku.8"}, {"uw", "W1", "3E", "", "cmpku.16"},
		{"ud", "W0", "1E", "/b32", "cmpku.32"}, {"uq", "W1", "1E", "/b64", "cmpku.64"}} {
		feat := Feature(0)
		if c.b == "" {
			feat = AVX512BW
		}
		rows = append(rows, row{"vpcmp" + c.suffix, "E 66.0F3A." + c.w + " " + c.op + " /r ib mz", "RVMI",
			"k,v,v/mv" + c.b + ",i8", feat, 3, P5, c.sem})
	}
	// Widening moves: from half, quarter or eighth of the vector.
	for i, c := range []struct{ suffix, part string }{{"bw", "h"}, {"bd", "q"}, {"bq", "o"}, {"wd", "h"}, {"wq", "q"}, {"dq", "h"}} {
		op := string("012345"[i])
		feat := Feature(0)
		if i == 0 {
			feat = AVX512BW
		}
		rows = append(rows,
			row{"vpmovsx" + c.suffix, "VE 66.0F38.W0 2" + op + " /r mz", "RM", "v," + c.part + "/m" + c.part, feat, 3, P5, "sext." + c.suffix},
			row{"vpmovzx" + c.suffix, "VE 66.0F38.W0 3" + op + " /r mz", "RM", "v," + c.part + "/m" + c.part, feat, 3, P5, "zext." + c.suffix})
	}
	// Truncating moves.
	for _, c := range []struct{ name, op, part string }{{"vpmovwb", "30", "h"}, {"vpmovdb", "31", "q"}, {"vpmovqb", "32", "o"},
		{"vpmovdw", "33", "h"}, {"vpmovqw", "34", "q"}, {"vpmovqd", "35", "h"}} {
		rows = append(rows, row{c.name, "E F3.0F38.W0 " + c.op + " /r k", "MR", c.part + "/m" + c.part + ",v", 0, 4, P5, ""})
	}
	return rows
}
