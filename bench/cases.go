package main

// work is one row's work: an instance of an exported function, and its peers.
type work struct {
	op    string
	size  int
	fn    string // in bench.kera, instantiated with n = size
	in    []int  // bytes of each input, for a driver without Kera's descriptor
	out   int
	peers []peer
}

// peer is a contestant; blas ones need OpenBLAS. The names are the driver's.
type peer struct {
	name  string
	flags string
	blas  bool
	why   string // not empty: never checked, and why
}

const (
	gccPlain = "gcc -O3 -march=native"
	gccFast  = "gcc -O3 -march=native -ffast-math"
)

// cases lists everything `make bench` runs.
func cases() []work {
	numpy := peer{name: "numpy", why: "not linked into the driver process"}
	var out []work
	product := func(op string, n int, fn string, rows, inner, cols int, name string) {
		out = append(out, work{op, n, fn, []int{4 * rows * inner, 4 * inner * cols}, 4 * rows * cols,
			[]peer{{name: name, blas: true}}})
	}
	for _, n := range []int{8, 16, 32, 64, 256, 1024} {
		product("matmul", n, "matmul", n, n, n, "openblas cblas_sgemm")
	}
	product("1xN @ NxN", 4096, "row", 1, 4096, 4096, "openblas cblas_sgemv")
	product("8xN @ NxN", 4096, "rows8", 8, 4096, 4096, "openblas cblas_sgemm")
	product("NxN @ N", 4096, "column", 4096, 4096, 1, "openblas cblas_sgemv")
	product("128xN @ Nx4N", 768, "layer", 128, 768, 4*768, "openblas cblas_sgemm")
	sizes := []int{1 << 10, 1 << 16, 1 << 22}
	for _, n := range sizes {
		out = append(out, work{"sum", n, "total", []int{4 * n}, 4,
			[]peer{{name: "openblas cblas_sdot(x, ones)", blas: true}, {name: gccFast, flags: gccFast}, numpy}})
	}
	for _, n := range sizes {
		out = append(out, work{"dot", n, "inner", []int{4 * n, 4 * n}, 4,
			[]peer{{name: "openblas cblas_sdot", blas: true}, {name: gccFast, flags: gccFast}, numpy}})
	}
	for _, n := range sizes {
		out = append(out, work{"chain", n, "chain", []int{4 * n}, 4 * n,
			[]peer{{name: gccPlain, flags: gccPlain}}})
	}
	return out
}
