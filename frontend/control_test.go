package frontend

import "testing"

func TestControl(t *testing.T) {
	runCases(t, []runCase{
		{"i64: let x = 3; if x > 2 { 10 } else { 20 }", "10"},
		{"f64: let x = 3; if x > 2 { 1 } else { 0.5 }", "1"},
		{"i64: let mut s = 0; for i in 0..5 { s += i }; s", "10"},
		{"i64: let mut s = 0; for i in 3..5 { s += i }; s", "7"},
		{"i64: let mut s = 0; for i in 5..3 { s += i }; s", "0"},
		{"i64: let mut s = 0; let mut n = 4; for i in 0..n { s += i; n = 100 }; s", "6"},
		{"i64: let mut s = 0; let mut a = -2; let mut b = 2; for i in a..b { s += i * i }; a = b; s", "6"},
		{"i64: let mut s = 0; let mut a = i64.MIN; let mut b = i64.MAX; for i in a..b { s += i }; s", "trap overflow"},
		{"i64: let mut s = 0; for i in 0..3, j in 0..i { s += 10 * i + j }; s", "51"},
		{"i64: let mut x = 40; let mut n = 0; for i in 0..10 while x != 1 { x /= 2; n += 1 }; n", "5"},
		{"i64: let mut x = 40; for i in 0..3 while x != 1 { x /= 2 }; x", "trap loop bound"},
		{"i64: let mut x = 8; for i in 0..3 while x != 1 { x /= 2 }; x", "1"},
		{"i64: let mut x = 8; for i in 0..8 while i < 3 { x += i }; x", "11"},
		{"i64: let mut n = 0; let mut s = 0; for i in 0..9 while ({ n += 1; n < 4 }) { s += 10 }; s + n", "34"},
		{"i64: let mut n = 0; for i in 0..({ n += 1; 3 }) { n += 10 }; n", "31"},
		{"i64: let mut n = 2; let mut s = 0; for i in n..n + 3 { n = 100; s += i }; s", "9"},
		{"i64: let x = [1, 2, 3]; let mut n = 0; let s = sum i in 0..len(x) { x[i] }; n += len([1, 2]); s + n", "8"},
		{"i64: let mut x = 1; for i in 0..0 while x != 1 { x = 2 }; x", "1"},
		{"i64: let mut x = 1; for i in 0..0 while x == 1 { x = 2 }; x", "trap loop bound"},
		{"(i64, i64): let mut a = 1; let mut b = 2; if a < b { let t = a; a = b; b = t } ; (a, b)", "2; 1"},
		{"i64: let mut a = 1; if a == 1 { a = 5 } else if a == 5 { a = 6 }; a", "5"},
		{"i64: let mut a = 1; let v = if a == 1 { a = 5; 7 } else { 8 }; a * v", "35"},
		{"i64[3]: let mut x = [1, 2, 3]; x[1] = 9; x", "[1 9 3]"},
		{"i64[3]: let mut x = [1, 2, 3]; x[1] += 9; x", "[1 11 3]"},
		{"i64[2, 2]: let mut x = [[1, 2], [3, 4]]; x[1, ..] = [7, 8]; x", "[2x2][1 2 7 8]"},
		{"i64[2, 2]: let mut x = [[1, 2], [3, 4]]; x[.., 0..1] += 1; x", "[2x2][2 2 4 4]"},
		{"i64[3]: let mut x = [1, 2, 3]; let mut i = 3; x[i] = 9; x", "trap index"},
		{"i64[5]: let mut x = map i in 0..5 { 0 }; for i in 0..5 { x[i] = i * i }; x", "[0 1 4 9 16]"},
		{"i64[0]: let mut x = map i in 0..0 { 0 }; for i in 0..0 { x[i] = i }; x", "[0][]"},
		{"i64[2, 3]: map i in 0..2, j in 0..3 { 10 * i + j }", "[2x3][0 1 2 10 11 12]"},
		{"i64[2, 3]: map i in 1..3 { map j in 0..3 { 10 * i + j } }", "[2x3][10 11 12 20 21 22]"},
		{"i64[2, 2]: map i in 0..2 { [i, i + 1] }", "[2x2][0 1 1 2]"},
		{"i64: sum i in 0..4 { i * i }", "14"},
		{"i64: prod i in 1..6 { i }", "120"},
		{"i64[2]: sum i in 0..4 { [i, 1] }", "[6 4]"},
		{"f64: max i in 0..4 { f64(i) }", "3"},
		{"i64: min i in 0..0 { i }", "9223372036854775807"},
		{"bool: (any i in 0..4 { i == 2 }) && all i in 0..4 { i < 4 }", "true"},
		{"i64: sum i in 0..3 { let mut s = 0; for k in 0..i { s += k + 1 }; s }", "4"},
		{"i64: let k = 2; sum i in 0..3 { if i == k { 100 / i } else { 0 } }", "50"},
		{"i64: (sum _ in 0..3 { 2 }) + { let y = 1; y + 1 }", "8"},
	})
}

func TestTrapOrder(t *testing.T) {
	runCases(t, []runCase{
		// Operands left to right, then the operation.
		{"i64: let z = 0; let m = i64.MAX; 1 / z + (m + 1)", "trap division"},
		{"i64: let z = 0; let m = i64.MAX; (m + 1) + 1 / z", "trap overflow"},
		{"i64: let z = 0; let x = [1]; let mut i = 5; x[i] + 1 / z", "trap index"},
		{"i64: let z = 0; let x = [1]; x[1 / z]", "trap division"},
		{"i64: let z = 0; let x = [1]; let mut i = 5; x[{ assert z == 1; i }]", "trap assert"},
		// Indices are evaluated before any is checked.
		{"i64: let z = 0; let x = [[1]]; let mut i = 5; x[i, 1 / z]", "trap division"},
		{"i64: let z = 0; assert z == 1; 1 / z", "trap assert"},
		{"i64: let z = 0; let y = 1 / z; assert z == 1; y", "trap division"},
		// Untaken arms and short-circuited operands never trap.
		{"i64: let z = 0; if z == 0 { 1 } else { 1 / z }", "1"},
		{"i64: let z = 0; if z != 0 { 1 } else { 1 / z }", "trap division"},
		{"bool: let z = 0; z != 0 && 1 / z > 0", "false"},
		{"bool: let z = 0; z == 0 || 1 / z > 0", "true"},
		{"bool: let z = 0; z == 0 && 1 / z > 0", "trap division"},
		{"bool: let z = 0; z != 0 || 1 / z > 0", "trap division"},
		{"bool: let z = 0; z != 0 && (sum i in 0..3 { i / z }) > 0", "false"},
		{"bool: let z = 0; z == 0 || (sum i in 0..3 { i / z }) > 0", "true"},
		{"bool: let z = 0; z == 0 && (sum i in 0..3 { i / z }) > 0", "trap division"},
		{"i64: let z = 0; let mut n = 0; if z != 0 { n = 1 / z }; n", "0"},
		{"i64: let z = 0; let mut n = 0; if z == 0 { n = 1 / z }; n", "trap division"},
		{"i64: let z = 0; select(z == 0, 1, 1 / z)", "trap division"},
		// Loops keep the first code.
		{"i64: let mut s = 0; let x = [1, 2]; for i in 0..5 { s += 10 / (1 - i); s += x[i] }; s", "trap division"},
		{"i64: let mut s = 0; let x = [1, 2]; for i in 0..5 { s += x[i]; s += 10 / (2 - i) }; s", "trap index"},
		{"i64: let z = 0; let mut s = 1 / z; for i in 0..5 { assert false; s += 1 }; s", "trap division"},
		{"i64: let z = 0; let mut s = 0; for i in 0..5 { assert i < 3; s += 1 }; s / z", "trap assert"},
		{"i64: let mut s = 0; for i in 0..3 while 1 / (1 - i) > 0 { s += 1 }; s", "trap division"},
		// Maps join in row-major order.
		{"i64[4]: let x = [1, 2, 0]; map i in 0..4 { 6 / x[i] }", "trap division"},
		{"i64[4]: let x = [1, 2]; let z = 0; map i in 0..4 { if i == 3 { 1 / z } else { x[i] } }", "trap index"},
		{"i64[2, 2]: let z = 0; let x = [1]; map i in 0..2, j in 0..2 { if i == 1 && j == 0 { 1 / z } else if i == 0 && j == 1 { x[i + j] } else { 1 } }", "trap index"},
		{"bool: any i in 0..3 { 1 / (1 - i) == 1 }", "trap division"},
		// Places are evaluated, and checked, before the value.
		{"i64[1]: let z = 0; let mut x = [1]; let mut i = 5; x[i] = 1 / z; x", "trap index"},
		{"i64[1]: let z = 0; let mut x = [1]; let mut i = 0; x[i] = 1 / z; x", "trap division"},
		{"i64[1]: let mut x = [i64.MAX]; x[0] += 1; x", "trap overflow"},
		// Callees at the call.
		{`fn g(x: i64) -> i64 { assert x > 0
x }
pub fn main() -> i64 { let z = 0
g(0) + 1 / z }`, "trap assert"},
		{`fn g(x: i64) -> i64 { assert x > 0
x }
pub fn main() -> i64 { let z = 0
1 / z + g(0) }`, "trap division"},
		{`fn g(x: i64, y: i64) -> i64 { assert x > 0
y }
pub fn main() -> i64 { let z = 0
g(0, 1 / z) }`, "trap division"},
		// Named arguments and fields run as written.
		{`fn g(x: i64, y: i64) -> i64 { x - y }
pub fn main() -> i64 { let z = 0
g(y = 1 / z, x = i64.MAX + i64(z == 0)) }`, "trap division"},
		{`struct P { a: i64, b: i64 }
pub fn main() -> i64 { let z = 0
let p = P { b: 1 / z, a: i64.MAX + i64(z == 0) }
p.a }`, "trap division"},
		{"i64: let z = 0; let _ = 1 / z; 3", "trap division"},
		{"i64: let z = [0]; len(iota(3) / z)", "trap division"},
	})
}

func TestIntegerSums(t *testing.T) {
	runCases(t, []runCase{
		{"i8: sum([i8(100), 100, -100])", "100"},
		{"i8: sum([i8(100), 28, 0])", "trap overflow"},
		{"i8: sum([i8(-100), -28])", "-128"},
		{"u8: sum([u8(200), 56])", "trap overflow"},
		{"u8: sum([u8(200), 55])", "255"},
		{"i32: sum([i32.MAX, 1, -1])", "2147483647"},
		{"i64: sum([i64.MAX, 1, -1])", "9223372036854775807"},
		{"i64: sum([i64.MAX, 1])", "trap overflow"},
		{"i64: sum([i64.MIN, -1])", "trap overflow"},
		{"i64: sum([i64.MIN, -1, 1])", "-9223372036854775808"},
		{"i64: sum([i64.MAX, i64.MAX, i64.MIN, i64.MIN])", "-2"},
		{"u64: sum([u64.MAX, 0])", "18446744073709551615"},
		{"u64: sum([u64.MAX, 1])", "trap overflow"},
		{"i64[2]: sum([[i64.MAX, 1], [-1, 2]], axis = 0)", "[9223372036854775806 3]"},
		{"i64[2]: sum([[i64.MAX, 1], [1, 2]], axis = 0)", "trap overflow"},
		{"i8: prod([i8(16), 8])", "trap overflow"},
		{"i8: prod([i8(16), -8])", "-128"},
		{"i8: prod([i8(-16), -8])", "trap overflow"},
		{"i8: prod([i8(100), 100, 0])", "0"},
		{"i64: prod([i64.MIN, 1])", "-9223372036854775808"},
		{"i64: prod([i64.MIN, -1])", "trap overflow"},
		{"i64: prod([i64.MIN, -1, -1])", "-9223372036854775808"},
		{"u64: prod([u64.MAX, 1])", "18446744073709551615"},
		{"u64: prod([u64(4294967296), 4294967296])", "trap overflow"},
		{"u64: prod([u64(4294967296), 4294967296, 0])", "0"},
		{"i64[2]: prod([[2, 3], [4, 5]], axis = 0)", "[8 15]"},
		{"i64: prod([[2, 3], [4, 5]])", "120"},
		{"i64: prod i in 0..0 { i }", "1"},
		{"i64: sum i in 0..0 { i }", "0"},
		{"i64: prod i in 1..21 { i }", "2432902008176640000"},
		{"i64: prod i in 1..22 { i }", "trap overflow"},
	})
}

func TestPrograms(t *testing.T) {
	runCases(t, []runCase{
		{`pub fn main() -> i32[2] { fir([0, 1, 0], [2, 3]) }
fn fir[n, t](x: i16[n], h: i16[t]) -> i32[n - t + 1] where n >= t {
    map i in 0..n - t + 1 { sum k in 0..t { i32(x[i + t - 1 - k]) * i32(h[k]) } }
}`, "[2 3]"},
		{`struct Pid { acc: f64, prev: f64 }
fn step(s: Pid, e: f64) -> (Pid, f64) { (Pid { acc: s.acc + e, prev: e }, s.acc) }
pub fn main() -> Pid {
    let mut s = Pid { prev: 0, acc: 0 }
    for i in 0..4 {
        let (next, _) = step(s, f64(i))
        s = next
        s.prev *= 2.0
    }
    s
}`, "(6, 6)"},
		{`struct Dense[i, o] { w: f32[i, o], b: f32[o] }
fn apply[i, o](d: Dense[i, o], x: f32[i]) -> f32[o] { x @ d.w + d.b }
pub fn main() -> f32[2] { apply(Dense { w: [[1, 2], [3, 4], [5, 6]], b: [0.5, 1] }, [1, 0, 1]) }`, "[6.5 9]"},
		{`const N: i64 = 2 + 2
const K = [1.5, 2.5]
const S: (i64, f64[2]) = (N * 10, K * 2.0)
type Row = f64[N]
fn f(x: Row) -> f64 { sum(x) }
pub fn main() -> (i64, f64, f64) { (S.0, S.1[1], f([1, 2, 3, 4])) }`, "40; 5; 10"},
		{`fn id[n, m](x: f64[n, m]) -> f64[m, n] { transpose(x) }
fn twice[n](x: f64[n, n + 1]) -> f64[n, n + 1] { id(id(x)) }
pub fn main() -> f64[1, 2] { twice([[1, 2]]) }`, "[1x2][1 2]"},
		{`fn zeros[n]() -> f64[n] { broadcast(0.0, [n]) }
pub fn main() -> f64[3] { let x: f64[3] = zeros(); x + zeros[3]() }`, "[0 0 0]"},
		{`fn pick(x: i64, y: i64) -> i64 { 10 * x + y }
pub fn main() -> i64 { pick(y = 1, x = 2) }`, "21"},
		{`struct P { x: f64, y: f64 }
pub fn main() -> f64 {
    let P { x, y: b } = P { x: 1.0, y: 2.0 }
    let ((c, _), d) = ((3.0, 4.0), 5.0)
    x + b + c + d
}`, "11"},
		{`fn both[n, m](x: f64[n], y: f64[m]) -> f64[n] where n == m { x + y }
pub fn main() -> f64[2] { both([1, 2], [3, 4]) }`, "[4 6]"},
		{`fn halves[n](x: f64[2 * n]) -> f64[n] { x[0..n] + x[n..2 * n] }
pub fn main() -> f64[2] { halves([1, 2, 3, 4]) }`, "[4 6]"},
		{`fn nothing(x: i64) { assert x > 0 }
pub fn main() { nothing(0) }`, "trap assert"},
		{`fn f(x: &f64[2]) -> f64 { x[0] }
pub fn main() -> f64 { let y = [1.0, 2.0]; f(&y) }`, "1"},
		{`const W: i64[1025] = map i in 0..1025 { i }
fn at(i: i64) -> i64 { W[i] }
pub fn main() -> i64 { let mut s = 0
for i in 1000..1025 { s += at(i) }
s + (sum i in 0..3 { W[i] }) }`, "25303"},
	})
}
