package asm

// fpRows declares floating-point arithmetic, comparison and conversion.
func fpRows() []row {
	rows := []row{
		{"vdivps", "VE NP.0F.W0 5E /r k", "RVM", "v,v,v/mv/b32", 0, 11, P0, "fdiv.f32"},
		{"vdivpd", "VE 66.0F.W01 5E /r k", "RVM", "v,v,v/mv/b64", 0, 14, P0, "fdiv.f64"},
		{"vdivss", "VE F3.0F.W0 5E /r", "RVM", "x,x,x/m32", 0, 11, P0, "fdivs.f32"},
		{"vdivsd", "VE F2.0F.W01 5E /r", "RVM", "x,x,x/m64", 0, 14, P0, "fdivs.f64"},
		{"vsqrtps", "VE NP.0F.W0 51 /r k", "RM", "v,v/mv/b32", 0, 12, P0, "fsqrt.f32"},
		{"vsqrtpd", "VE 66.0F.W01 51 /r k", "RM", "v,v/mv/b64", 0, 18, P0, "fsqrt.f64"},
		{"vsqrtss", "VE F3.0F.W0 51 /r", "RVM", "x,x,x/m32", 0, 12, P0, "fsqrts.f32"},
		{"vsqrtsd", "VE F2.0F.W01 51 /r", "RVM", "x,x,x/m64", 0, 18, P0, "fsqrts.f64"},

		{"vcmpps", "V NP.0F.W0 C2 /r ib", "RVMI", "v,v,v/mv,i8", 0, 4, PFMA, "fcmp.f32"},
		{"vcmppd", "V 66.0F.W0 C2 /r ib", "RVMI", "v,v,v/mv,i8", 0, 4, PFMA, "fcmp.f64"},
		{"vcmpss", "V F3.0F.W0 C2 /r ib", "RVMI", "x,x,x/m32,i8", 0, 4, PFMA, ""},
		{"vcmpsd", "V F2.0F.W0 C2 /r ib", "RVMI", "x,x,x/m64,i8", 0, 4, PFMA, ""},
		{"vcmpps", "E NP.0F.W0 C2 /r ib mz", "RVMI", "k,v,v/mv/b32,i8", 0, 3, P5, "fcmpk.f32"},
		{"vcmppd", "E 66.0F.W1 C2 /r ib mz", "RVMI", "k,v,v/mv/b64,i8", 0, 3, P5, "fcmpk.f64"},
		{"vcmpss", "E F3.0F.W0 C2 /r ib", "RVMI", "k,x,x/m32,i8", 0, 3, P5, ""},
		{"vcmpsd", "E F2.0F.W1 C2 /r ib", "RVMI", "k,x,x/m64,i8", 0, 3, P5, ""},
		{"vucomiss", "VE NP.0F.W0 2E /r fw", "RM", "<x,x/m32", 0, 3, P0, ""},
		{"vucomisd", "VE 66.0F.W01 2E /r fw", "RM", "<x,x/m64", 0, 3, P0, ""},

		{"vandps", "VE NP.0F.W0 54 /r k", "RVM", "v,v,v/mv/b32", AVX512DQ, 1, PVec, "fand.f32"},
		{"vandpd", "VE 66.0F.W01 54 /r k", "RVM", "v,v,v/mv/b64", AVX512DQ, 1, PVec, "fand.f64"},
		{"vandnps", "VE NP.0F.W0 55 /r", "RVM", "v,v,v/mv/b32", AVX512DQ, 1, PVec, ""},
		{"vandnpd", "VE 66.0F.W01 55 /r", "RVM", "v,v,v/mv/b64", AVX512DQ, 1, PVec, ""},
		{"vorps", "VE NP.0F.W0 56 /r", "RVM", "v,v,v/mv/b32", AVX512DQ, 1, PVec, ""},
		{"vorpd", "VE 66.0F.W01 56 /r", "RVM", "v,v,v/mv/b64", AVX512DQ, 1, PVec, ""},
		{"vxorps", "VE NP.0F.W0 57 /r", "RVM", "v,v,v/mv/b32", AVX512DQ, 1, PVec, ""},
		{"vxorpd", "VE 66.0F.W01 57 /r", "RVM", "v,v,v/mv/b64", AVX512DQ, 1, PVec, ""},

		{"vblendvps", "V 66.0F3A.W0 4A /r ib", "RVM4", "v,v,v/mv,v", 0, 3, PVec, "blendv.32"},
		{"vblendvpd", "V 66.0F3A.W0 4B /r ib", "RVM4", "v,v,v/mv,v", 0, 3, PVec, "blendv.64"},
		{"vpblendvb", "V 66.0F3A.W0 4C /r ib", "RVM4", "v,v,v/mv,v", 0, 3, PVec, "blendv.8"},
		{"vblendmps", "E 66.0F38.W0 65 /r k", "RVM", "v,v,v/mv/b32", 0, 1, P0 | P5, "blendm.32"},
		{"vblendmpd", "E 66.0F38.W1 65 /r k", "RVM", "v,v,v/mv/b64", 0, 1, P0 | P5, "blendm.64"},

		{"vroundps", "V 66.0F3A.W0 08 /r ib", "RMI", "v,v/mv,i8", 0, 8, PFMA, "round.f32"},
		{"vroundpd", "V 66.0F3A.W0 09 /r ib", "RMI", "v,v/mv,i8", 0, 8, PFMA, "round.f64"},
		{"vroundss", "V 66.0F3A.W0 0A /r ib", "RVMI", "x,x,x/m32,i8", 0, 8, PFMA, ""},
		{"vroundsd", "V 66.0F3A.W0 0B /r ib", "RVMI", "x,x,x/m64,i8", 0, 8, PFMA, ""},
		{"vrndscaleps", "E 66.0F3A.W0 08 /r ib k", "RMI", "v,v/mv/b32,i8", 0, 8, P0, "round.f32"},
		{"vrndscalepd", "E 66.0F3A.W1 09 /r ib k", "RMI", "v,v/mv/b64,i8", 0, 8, P0, "round.f64"},
		{"vrndscaless", "E 66.0F3A.W0 0A /r ib", "RVMI", "x,x,x/m32,i8", 0, 8, P0, ""},
		{"vrndscalesd", "E 66.0F3A.W1 0B /r ib", "RVMI", "x,x,x/m64,i8", 0, 8, P0, ""},

		{"vrangeps", "E 66.0F3A.W0 50 /r ib", "RVMI", "v,v,v/mv/b32,i8", AVX512DQ, 4, PFMA, ""},
		{"vrangepd", "E 66.0F3A.W1 50 /r ib", "RVMI", "v,v,v/mv/b64,i8", AVX512DQ, 4, PFMA, ""},
		{"vrangess", "E 66.0F3A.W0 51 /r ib", "RVMI", "x,x,x/m32,i8", AVX512DQ, 4, PFMA, ""},
		{"vrangesd", "E 66.0F3A.W1 51 /r ib", "RVMI", "x,x,x/m64,i8", AVX512DQ, 4, PFMA, ""},

		// Conversions. d* are 32-bit integers, q* 64-bit, u* unsigned.
		{"vcvtdq2ps", "VE NP.0F.W0 5B /r k", "RM", "v,v/mv/b32", 0, 4, PFMA, "cvt.i32.f32"},
		{"vcvttps2dq", "VE F3.0F.W0 5B /r k", "RM", "v,v/mv/b32", 0, 4, PFMA, "trunc.f32.i32"},
		{"vcvtps2dq", "VE 66.0F.W0 5B /r k", "RM", "v,v/mv/b32", 0, 4, PFMA, ""},
		{"vcvtps2pd", "VE NP.0F.W0 5A /r k", "RM", "v,h/mh/b32", 0, 7, P0 | P5, "cvt.f32.f64"},
		{"vcvtpd2ps", "VE 66.0F.W01 5A /r k", "RM", "h,v/mv", 0, 7, P0 | P5, "cvt.f64.f32"},
		{"vcvtdq2pd", "VE F3.0F.W0 E6 /r k", "RM", "v,h/mh/b32", 0, 7, P0 | P5, "cvt.i32.f64"},
		{"vcvttpd2dq", "VE 66.0F.W01 E6 /r k", "RM", "h,v/mv", 0, 7, P0 | P5, "trunc.f64.i32"},
		{"vcvtss2sd", "VE F3.0F.W0 5A /r", "RVM", "x,x,x/m32", 0, 5, P0 | P5, ""},
		{"vcvtsd2ss", "VE F2.0F.W01 5A /r", "RVM", "x,x,x/m64", 0, 5, P0 | P5, ""},
		{"vcvtsi2ss", "VE F3.0F.W0 2A /r", "RVM", "x,x,r/m", 0, 7, P0 | P5, ""},
		{"vcvtsi2sd", "VE F2.0F.W0 2A /r", "RVM", "x,x,r/m", 0, 7, P0 | P5, ""},
		{"vcvttss2si", "VE F3.0F.W0 2C /r", "RM", "r,x", 0, 7, P0 | P5, ""},
		{"vcvttsd2si", "VE F2.0F.W0 2C /r", "RM", "r,x", 0, 7, P0 | P5, ""},
		{"vcvtusi2ss", "E F3.0F.W0 7B /r", "RVM", "x,x,r/m", 0, 7, P0 | P5, ""},
		{"vcvtusi2sd", "E F2.0F.W0 7B /r", "RVM", "x,x,r/m", 0, 7, P0 | P5, ""},
		{"vcvttss2usi", "E F3.0F.W0 78 /r", "RM", "r,x", 0, 7, P0 | P5, ""},
		{"vcvttsd2usi", "E F2.0F.W0 78 /r", "RM", "r,x", 0, 7, P0 | P5, ""},
		{"vcvtudq2ps", "E F2.0F.W0 7A /r k", "RM", "v,v/mv/b32", 0, 4, PFMA, "cvt.u32.f32"},
		{"vcvtudq2pd", "E F3.0F.W0 7A /r k", "RM", "v,h/mh/b32", 0, 7, P0 | P5, "cvt.u32.f64"},
		{"vcvttps2udq", "E NP.0F.W0 78 /r k", "RM", "v,v/mv/b32", 0, 4, PFMA, "trunc.f32.u32"},
		{"vcvttpd2udq", "E NP.0F.W1 78 /r k", "RM", "h,v/mv", 0, 7, P0 | P5, "trunc.f64.u32"},
		{"vcvtqq2pd", "E F3.0F.W1 E6 /r k", "RM", "v,v/mv/b64", AVX512DQ, 4, PFMA, "cvt.i64.f64"},
		{"vcvtqq2ps", "E NP.0F.W1 5B /r k", "RM", "h,v/mv", AVX512DQ, 7, P0 | P5, "cvt.i64.f32"},
		{"vcvtuqq2pd", "E F3.0F.W1 7A /r k", "RM", "v,v/mv/b64", AVX512DQ, 4, PFMA, "cvt.u64.f64"},
		{"vcvtuqq2ps", "E F2.0F.W1 7A /r k", "RM", "h,v/mv", AVX512DQ, 7, P0 | P5, "cvt.u64.f32"},
		{"vcvttpd2qq", "E 66.0F.W1 7A /r k", "RM", "v,v/mv/b64", AVX512DQ, 4, PFMA, "trunc.f64.i64"},
		{"vcvttpd2uqq", "E 66.0F.W1 78 /r k", "RM", "v,v/mv/b64", AVX512DQ, 4, PFMA, "trunc.f64.u64"},
		{"vcvttps2qq", "E 66.0F.W0 7A /r k", "RM", "v,h/mh/b32", AVX512DQ, 7, P0 | P5, "trunc.f32.i64"},
		{"vcvttps2uqq", "E 66.0F.W0 78 /r k", "RM", "v,h/mh/b32", AVX512DQ, 7, P0 | P5, "trunc.f32.u64"},
		{"vcvtph2ps", "VE 66.0F38.W0 13 /r", "RM", "v,h/mh", F16C, 5, P0 | P5, ""},
		{"vcvtps2ph", "VE 66.0F3A.W0 1D /r ib", "MRI", "h/mh,v,i8", F16C, 5, P0 | P5, ""},
	}
	type arith struct {
		name string
		op   string
		sem  string
	}
	for _, a := range []arith{{"add", "58", "fadd"}, {"mul", "59", "fmul"}, {"sub", "5C", "fsub"},
		{"min", "5D", "fminx"}, {"max", "5F", "fmaxx"}} {
		rows = append(rows,
			row{"v" + a.name + "ps", "VE NP.0F.W0 " + a.op + " /r k", "RVM", "v,v,v/mv/b32", 0, 4, PFMA, a.sem + ".f32"},
			row{"v" + a.name + "pd", "VE 66.0F.W01 " + a.op + " /r k", "RVM", "v,v,v/mv/b64", 0, 4, PFMA, a.sem + ".f64"},
			row{"v" + a.name + "ss", "VE F3.0F.W0 " + a.op + " /r", "RVM", "x,x,x/m32", 0, 4, PFMA, a.sem + "s.f32"},
			row{"v" + a.name + "sd", "VE F2.0F.W01 " + a.op + " /r", "RVM", "x,x,x/m64", 0, 4, PFMA, a.sem + "s.f64"})
	}
	// Fused multiply-add: 132 a=a*c+b, 213 a=b*a+c, 231 a=b*c+a.
	for _, f := range []struct{ name, digit, sem string }{
		{"vfmadd", "8", "fma"}, {"vfmsub", "A", "fms"}, {"vfnmadd", "C", "fnma"}, {"vfnmsub", "E", "fnms"}} {
		for _, o := range []struct{ order, hi string }{{"132", "9"}, {"213", "A"}, {"231", "B"}} {
			packed := o.hi + f.digit
			scalar := o.hi + string("9BDF"[indexOf(f.digit)])
			rows = append(rows,
				row{f.name + o.order + "ps", "VE 66.0F38.W0 " + packed + " /r k", "RVM", "+v,v,v/mv/b32", FMA, 4, PFMA, f.sem + o.order + ".f32"},
				row{f.name + o.order + "pd", "VE 66.0F38.W1 " + packed + " /r k", "RVM", "+v,v,v/mv/b64", FMA, 4, PFMA, f.sem + o.order + ".f64"},
				row{f.name + o.order + "ss", "VE 66.0F38.W0 " + scalar + " /r", "RVM", "+x,x,x/m32", FMA, 4, PFMA, f.sem + o.order + "s.f32"},
				row{f.name + o.order + "sd", "VE 66.0F38.W1 " + scalar + " /r", "RVM", "+x,x,x/m64", FMA, 4, PFMA, f.sem + o.order + "s.f64"})
		}
	}
	return rows
}

// indexOf maps the packed opcode digits 8, A, C, E to 0..3.
func indexOf(d string) int {
	return map[string]int{"8": 0, "A": 1, "C": 2, "E": 3}[d]
}
