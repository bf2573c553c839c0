package e2e

import (
	"os"
	"testing"
)

// TestTestBlocks: what `kerac test` says of blocks that pass, fail, trap in a
// loop, and of targets that differ, crash or cannot start.
func TestTestBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("t.kera", `pub fn f(x: f64) -> f64 { x * 2.0 }
test "passes" { assert f(1.0) == 2.0 }
`)
	w.write("bad.kera", `pub fn f(x: i64) -> i64 { 12 / x }
test "passes" { assert f(4) == 3 }
test "fails" { assert f(4) == 2 }
test "traps" {
    let v = map i in 0..5 { f(2 - i) }
    assert v[0] == 6
}
`)
	w.want(0, []string{"test", "t.kera"}, `passed      interp         t.kera "passes"`, "1 test, 1 of 1 runs passed")
	w.want(1, []string{"test", "t.kera", "bad.kera"}, "4 tests, 2 of 4 runs passed",
		`test "fails" failed: trap: assert`, "bad.kera:3:16", `test "traps" failed: trap: division`, "bad.kera:1:27", "called here", "in map 2")
	type test struct {
		Name    string
		Place   *struct{ Line, Column int }
		Targets []struct{ Target, Status, Reason string }
	}
	js := decode[[]test](t, w.want(1, []string{"test", "bad.kera", "--json"}))
	if len(js) != 3 || js[0].Place != nil || js[1].Place == nil || js[1].Place.Line != 3 || js[2].Place == nil || js[2].Place.Line != 1 || js[2].Targets[0].Reason != "trap: division" {
		t.Errorf("%+v", js)
	}
	w.want(1, []string{"test", "none.kera"}, "K0720")
	w.write("kera.yaml", "targets: [wasm, x86]\n")
	w.want(0, []string{"test", "t.kera"}, "passed      wasm:simd128")
	w.want(1, []string{"test", "bad.kera"}, "failed      wasm:simd128")
	// The faulty target copies bytes: a test of bytes that are no copy differs.
	w.write("kera.yaml", "targets: [faulty]\ncache: {off: true}\n")
	w.wantEnv(withFaulty("exit-start"), 8, []string{"test", "t.kera"}, "plugin faulty: start")
	w.wantEnv(withFaulty("die-twice"), 8, []string{"test", "t.kera"}, "plugin faulty 0.0.1: Compile")
	os.Remove(w.path("kera.yaml"))
	w.want(2, []string{"verify", "t.kera"}, "verify takes a .keg")
}
