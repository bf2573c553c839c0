;; Fused multiply-add for machines that have none. One rounding, to nearest
;; even, for every input; see doc.go for the algorithms. Lines are written so
;; that any WebAssembly assembler accepts them inside (module ...).

;; s + e is the exact sum, s its rounding to 53 bits: rounds to odd instead, so
;; that a later rounding to 51 bits or fewer is the only one that shows.
(func $round_odd (param $s f64) (param $e f64) (result f64) (local $b i64)
  (local.set $b (i64.reinterpret_f64 (local.get $s)))
  (if (result f64) (f64.gt (f64.abs (local.get $e)) (f64.const 0))
    (then
      (f64.reinterpret_i64
        (i64.or (i64.const 1)
          (i64.add (local.get $b)
            (i64.shr_s (i64.xor (local.get $b) (i64.reinterpret_f64 (local.get $e))) (i64.const 63))))))
    (else (local.get $s))))

;; The error of s = a + b (Knuth's TwoSum).
(func $sum_error (param $a f64) (param $b f64) (param $s f64) (result f64) (local $t f64)
  (local.set $t (f64.sub (local.get $s) (local.get $a)))
  (f64.add
    (f64.sub (local.get $a) (f64.sub (local.get $s) (local.get $t)))
    (f64.sub (local.get $b) (local.get $t))))

(func $fma_f32 (param $a f32) (param $b f32) (param $c f32) (result f32)
  (local $p f64) (local $z f64) (local $s f64)
  (local.set $p (f64.mul (f64.promote_f32 (local.get $a)) (f64.promote_f32 (local.get $b))))
  (local.set $z (f64.promote_f32 (local.get $c)))
  (local.set $s (f64.add (local.get $p) (local.get $z)))
  (f32.demote_f64
    (call $round_odd (local.get $s)
      (call $sum_error (local.get $p) (local.get $z) (local.get $s)))))

;; Two sums at once, rounded to odd.
(func $odd_sum_f64x2 (param $a v128) (param $b v128) (result v128)
  (local $s v128) (local $t v128) (local $e v128) (local $m v128)
  (local.set $s (f64x2.add (local.get $a) (local.get $b)))
  (local.set $t (f64x2.sub (local.get $s) (local.get $a)))
  (local.set $e
    (f64x2.add
      (f64x2.sub (local.get $a) (f64x2.sub (local.get $s) (local.get $t)))
      (f64x2.sub (local.get $b) (local.get $t))))
  (local.set $m (f64x2.gt (f64x2.abs (local.get $e)) (v128.const i64x2 0 0)))
  (v128.or
    (v128.and (local.get $m) (v128.const i64x2 1 1))
    (i64x2.add (local.get $s)
      (v128.and (local.get $m)
        (i64x2.lt_s (v128.xor (local.get $s) (local.get $e)) (v128.const i64x2 0 0))))))

;; The two halves are computed in f64. Demoting the plain sums is right unless
;; a sum lies where rounding twice can show: exactly half-way between two f32
;; values (the low 29 bits say so), or where the result is subnormal and half-way
;; sits elsewhere. Halves move as f64 lanes, which engines do in one instruction.
(func $fma_f32x4 (param $a v128) (param $b v128) (param $c v128) (result v128)
  (local $pl v128) (local $ph v128) (local $cl v128) (local $ch v128)
  (local $sl v128) (local $sh v128) (local $r v128)
  (local.set $pl (f64x2.mul
    (f64x2.promote_low_f32x4 (local.get $a)) (f64x2.promote_low_f32x4 (local.get $b))))
  (local.set $ph (f64x2.mul
    (f64x2.promote_low_f32x4 (f64x2.splat (f64x2.extract_lane 1 (local.get $a))))
    (f64x2.promote_low_f32x4 (f64x2.splat (f64x2.extract_lane 1 (local.get $b))))))
  (local.set $cl (f64x2.promote_low_f32x4 (local.get $c)))
  (local.set $ch (f64x2.promote_low_f32x4 (f64x2.splat (f64x2.extract_lane 1 (local.get $c)))))
  (local.set $sl (f64x2.add (local.get $pl) (local.get $cl)))
  (local.set $sh (f64x2.add (local.get $ph) (local.get $ch)))
  (local.set $r
    (f64x2.replace_lane 1 (f32x4.demote_f64x2_zero (local.get $sl))
      (f64x2.extract_lane 0 (f32x4.demote_f64x2_zero (local.get $sh)))))
  (if
    (v128.any_true
      (v128.or
        (f32x4.lt (f32x4.abs (local.get $r)) (v128.const i64x2 0x0080000100800001 0x0080000100800001))
        (v128.or
          (i64x2.eq (v128.and (local.get $sl) (v128.const i64x2 0x1fffffff 0x1fffffff))
            (v128.const i64x2 0x10000000 0x10000000))
          (i64x2.eq (v128.and (local.get $sh) (v128.const i64x2 0x1fffffff 0x1fffffff))
            (v128.const i64x2 0x10000000 0x10000000)))))
    (then
      (local.set $r
        (f64x2.replace_lane 1
          (f32x4.demote_f64x2_zero (call $odd_sum_f64x2 (local.get $pl) (local.get $cl)))
          (f64x2.extract_lane 0
            (f32x4.demote_f64x2_zero (call $odd_sum_f64x2 (local.get $ph) (local.get $ch))))))))
  (local.get $r))

;; Exact f64: the integer path, for finite non-zero a, b and c.
;; mantissa with bit 52 set, whatever the exponent.
(func $mantissa (param $x i64) (result i64) (local $m i64)
  (local.set $m (i64.and (local.get $x) (i64.const 0xfffffffffffff)))
  (if (result i64) (i64.eqz (i64.and (local.get $x) (i64.const 0x7ff0000000000000)))
    (then (i64.shl (local.get $m) (i64.sub (i64.clz (local.get $m)) (i64.const 11))))
    (else (i64.or (local.get $m) (i64.const 0x10000000000000)))))

;; exponent of the mantissa's lowest bit: |x| = mantissa * 2^exponent.
(func $exponent (param $x i64) (result i64) (local $e i64)
  (local.set $e (i64.and (i64.shr_u (local.get $x) (i64.const 52)) (i64.const 0x7ff)))
  (if (result i64) (i64.eqz (local.get $e))
    (then
      (i64.sub
        (i64.const -1063)
        (i64.clz (i64.and (local.get $x) (i64.const 0xfffffffffffff)))))
    (else (i64.sub (local.get $e) (i64.const 1075)))))

;; the low and high words of h:l >> n, ones that fall out kept in the lowest
;; bit; 0 <= n.
(func $jam_low (param $h i64) (param $l i64) (param $n i64) (result i64)
  (if (i64.eqz (local.get $n)) (then (return (local.get $l))))
  (if (i64.ge_u (local.get $n) (i64.const 128))
    (then (return (i64.extend_i32_u (i64.ne (i64.or (local.get $h) (local.get $l)) (i64.const 0))))))
  (if (i64.eq (local.get $n) (i64.const 64))
    (then (return (i64.or (local.get $h) (i64.extend_i32_u (i64.ne (local.get $l) (i64.const 0)))))))
  (if (i64.gt_u (local.get $n) (i64.const 64))
    (then (return
      (i64.or (i64.shr_u (local.get $h) (local.get $n))
        (i64.extend_i32_u
          (i64.ne (i64.const 0)
            (i64.or (local.get $l) (i64.shl (local.get $h) (i64.sub (i64.const 0) (local.get $n))))))))))
  (i64.or
    (i64.or (i64.shr_u (local.get $l) (local.get $n))
      (i64.shl (local.get $h) (i64.sub (i64.const 0) (local.get $n))))
    (i64.extend_i32_u
      (i64.ne (i64.const 0) (i64.shl (local.get $l) (i64.sub (i64.const 0) (local.get $n)))))))

(func $jam_high (param $h i64) (param $n i64) (result i64)
  (if (result i64) (i64.ge_u (local.get $n) (i64.const 64))
    (then (i64.const 0))
    (else (i64.shr_u (local.get $h) (local.get $n)))))

;; The product has 105 or 106 bits; placed 20 up, its top bit is 124 or 125.
;; The addend is placed 73 up, top bit 125. The lower exponent is aligned with
;; jamming: it loses ones only when more than 20 apart, and then at most two
;; bits cancel, so the jammed bit stays far below the rounding position.
(func $fma_exact (param $a i64) (param $b i64) (param $c i64) (result f64)
  (local $sign i64) (local $x i64) (local $y i64) (local $t i64) (local $u i64)
  (local $ph i64) (local $pl i64) (local $pe i64)
  (local $ch i64) (local $cl i64) (local $ce i64) (local $n i64)
  (local.set $sign (i64.and (i64.xor (local.get $a) (local.get $b)) (i64.const 0x8000000000000000)))
  ;; 64 x 64 -> 128 by halves: x*y with x 53 bits, y 53 bits shifted up by 20 in all
  (local.set $x (i64.shl (call $mantissa (local.get $a)) (i64.const 10)))
  (local.set $y (i64.shl (call $mantissa (local.get $b)) (i64.const 10)))
  (local.set $t
    (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.and (local.get $y) (i64.const 0xffffffff))))
  (local.set $u
    (i64.add
      (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.and (local.get $y) (i64.const 0xffffffff)))
      (i64.shr_u (local.get $t) (i64.const 32))))
  (local.set $n
    (i64.add
      (i64.mul (i64.and (local.get $x) (i64.const 0xffffffff)) (i64.shr_u (local.get $y) (i64.const 32)))
      (i64.and (local.get $u) (i64.const 0xffffffff))))
  (local.set $ph
    (i64.add
      (i64.mul (i64.shr_u (local.get $x) (i64.const 32)) (i64.shr_u (local.get $y) (i64.const 32)))
      (i64.add (i64.shr_u (local.get $u) (i64.const 32)) (i64.shr_u (local.get $n) (i64.const 32)))))
  (local.set $pl
    (i64.or (i64.shl (local.get $n) (i64.const 32)) (i64.and (local.get $t) (i64.const 0xffffffff))))
  (local.set $pe
    (i64.sub (i64.add (call $exponent (local.get $a)) (call $exponent (local.get $b))) (i64.const 20)))
  (local.set $ch (i64.shl (call $mantissa (local.get $c)) (i64.const 9)))
  (local.set $ce (i64.sub (call $exponent (local.get $c)) (i64.const 73)))
  ;; align to the higher exponent
  (local.set $n (i64.sub (local.get $pe) (local.get $ce)))
  (if (i64.gt_s (local.get $n) (i64.const 0))
    (then
      (local.set $cl (call $jam_low (local.get $ch) (local.get $cl) (local.get $n)))
      (local.set $ch (call $jam_high (local.get $ch) (local.get $n))))
    (else
      (local.set $n (i64.sub (i64.const 0) (local.get $n)))
      (local.set $pl (call $jam_low (local.get $ph) (local.get $pl) (local.get $n)))
      (local.set $ph (call $jam_high (local.get $ph) (local.get $n)))
      (local.set $pe (local.get $ce))))
  ;; add or subtract magnitudes; a negative difference flips the sign
  (if (i64.ge_s (i64.xor (local.get $sign) (local.get $c)) (i64.const 0))
    (then
      (local.set $t (local.get $pl))
      (local.set $pl (i64.add (local.get $pl) (local.get $cl)))
      (local.set $ph
        (i64.add (i64.add (local.get $ph) (local.get $ch))
          (i64.extend_i32_u (i64.lt_u (local.get $pl) (local.get $t))))))
    (else
      (local.set $ph
        (i64.sub (i64.sub (local.get $ph) (local.get $ch))
          (i64.extend_i32_u (i64.lt_u (local.get $pl) (local.get $cl)))))
      (local.set $pl (i64.sub (local.get $pl) (local.get $cl)))
      (if (i64.eqz (i64.or (local.get $ph) (local.get $pl))) (then (return (f64.const 0))))
      (if (i64.lt_s (local.get $ph) (i64.const 0))
        (then
          (local.set $ph
            (i64.sub (i64.sub (i64.const 0) (local.get $ph))
              (i64.extend_i32_u (i64.ne (local.get $pl) (i64.const 0)))))
          (local.set $pl (i64.sub (i64.const 0) (local.get $pl)))
          (local.set $sign (i64.xor (local.get $sign) (i64.const 0x8000000000000000)))))))
  ;; top bit to 127
  (if (i64.eqz (local.get $ph))
    (then
      (local.set $ph (local.get $pl))
      (local.set $pl (i64.const 0))
      (local.set $pe (i64.sub (local.get $pe) (i64.const 64)))))
  (local.set $n (i64.clz (local.get $ph)))
  (if (i64.ne (local.get $n) (i64.const 0))
    (then
      (local.set $ph
        (i64.or (i64.shl (local.get $ph) (local.get $n))
          (i64.shr_u (local.get $pl) (i64.sub (i64.const 64) (local.get $n)))))
      (local.set $pl (i64.shl (local.get $pl) (local.get $n)))
      (local.set $pe (i64.sub (local.get $pe) (local.get $n)))))
  (local.set $ph
    (i64.or (local.get $ph) (i64.extend_i32_u (i64.ne (local.get $pl) (i64.const 0)))))
  ;; exponent of the leading bit
  (local.set $pe (i64.add (local.get $pe) (i64.const 127)))
  (if (i64.gt_s (local.get $pe) (i64.const 1023))
    (then (return (f64.reinterpret_i64 (i64.or (local.get $sign) (i64.const 0x7ff0000000000000))))))
  ;; a subnormal result gives up bits; from 60 on all are below the half
  (if (i64.lt_s (local.get $pe) (i64.const -1022))
    (then
      (local.set $n (i64.sub (i64.const -1022) (local.get $pe)))
      (if (i64.gt_s (local.get $n) (i64.const 60)) (then (local.set $n (i64.const 60))))
      (local.set $ph (call $jam_low (i64.const 0) (local.get $ph) (local.get $n)))
      (local.set $pe (i64.const -1022))))
  ;; round to nearest even at bit 11; the carry runs into the exponent field,
  ;; to infinity where it must
  (local.set $t (i64.and (local.get $ph) (i64.const 0x7ff)))
  (local.set $ph (i64.shr_u (local.get $ph) (i64.const 11)))
  (local.set $ph
    (i64.add (local.get $ph)
      (i64.extend_i32_u
        (i64.gt_u
          (i64.or (local.get $t) (i64.and (local.get $ph) (i64.const 1)))
          (i64.const 0x400)))))
  (f64.reinterpret_i64
    (i64.or (local.get $sign)
      (i64.add (local.get $ph)
        (i64.shl (i64.add (local.get $pe) (i64.const 1022)) (i64.const 52))))))

;; Not inlined into the fast path: zeros, infinities and NaN, then exactly.
(func $fma_f64_slow (param $a f64) (param $b f64) (param $c f64) (result f64)
  ;; a product with a zero, an infinity or a NaN is exact, so two steps are one
  (if
    (i32.or
      (i32.eqz
        (i32.and
          (f64.lt (f64.abs (local.get $a)) (f64.const inf))
          (f64.lt (f64.abs (local.get $b)) (f64.const inf))))
      (i32.or
        (f64.eq (local.get $a) (f64.const 0))
        (f64.eq (local.get $b) (f64.const 0))))
    (then (return (f64.add (f64.mul (local.get $a) (local.get $b)) (local.get $c)))))
  (if (i32.eqz (f64.lt (f64.abs (local.get $c)) (f64.const inf)))
    (then (return (f64.add (local.get $c) (local.get $c)))))
  ;; adding zero to a non-zero product never decides the result
  (if (f64.eq (local.get $c) (f64.const 0))
    (then (return (f64.mul (local.get $a) (local.get $b)))))
  (call $fma_exact (i64.reinterpret_f64 (local.get $a)) (i64.reinterpret_f64 (local.get $b))
    (i64.reinterpret_f64 (local.get $c))))

(func $fma_f64 (param $a f64) (param $b f64) (param $c f64) (result f64)
  (local $p f64) (local $q f64) (local $ah f64) (local $al f64) (local $bh f64) (local $bl f64)
  (local $t f64) (local $v f64) (local $z f64) (local $e f64) (local $k f64)
  (local.set $p (f64.mul (local.get $a) (local.get $b)))
  (if
    (i32.eqz
      (i32.and
        (i32.and
          (f64.ge (f64.abs (local.get $p)) (f64.const 0x1p-960))
          (f64.le (f64.abs (local.get $p)) (f64.const 0x1p990)))
        (i32.and
          (i32.and
            (f64.le (f64.abs (local.get $a)) (f64.const 0x1p990))
            (f64.le (f64.abs (local.get $b)) (f64.const 0x1p990)))
          (f64.le (f64.abs (local.get $c)) (f64.const 0x1p990)))))
    (then (return (call $fma_f64_slow (local.get $a) (local.get $b) (local.get $c)))))
  ;; p + q = a * b exactly (Dekker, Veltkamp's split)
  (local.set $t (f64.mul (local.get $a) (f64.const 0x1.0000002p27)))
  (local.set $ah (f64.sub (local.get $t) (f64.sub (local.get $t) (local.get $a))))
  (local.set $al (f64.sub (local.get $a) (local.get $ah)))
  (local.set $t (f64.mul (local.get $b) (f64.const 0x1.0000002p27)))
  (local.set $bh (f64.sub (local.get $t) (f64.sub (local.get $t) (local.get $b))))
  (local.set $bl (f64.sub (local.get $b) (local.get $bh)))
  (local.set $q
    (f64.add
      (f64.add
        (f64.add
          (f64.sub (f64.mul (local.get $ah) (local.get $bh)) (local.get $p))
          (f64.mul (local.get $ah) (local.get $bl)))
        (f64.mul (local.get $al) (local.get $bh)))
      (f64.mul (local.get $al) (local.get $bl))))
  ;; t + e = c + q, v + k = p + t; the three-part sum is v + (k + e)
  (local.set $t (f64.add (local.get $c) (local.get $q)))
  (local.set $e (call $sum_error (local.get $c) (local.get $q) (local.get $t)))
  (local.set $v (f64.add (local.get $p) (local.get $t)))
  (local.set $k (call $sum_error (local.get $p) (local.get $t) (local.get $v)))
  (local.set $z (f64.add (local.get $k) (local.get $e)))
  (f64.add (local.get $v)
    (call $round_odd (local.get $z)
      (call $sum_error (local.get $k) (local.get $e) (local.get $z)))))

(func $fma_f64x2 (param $a v128) (param $b v128) (param $c v128) (result v128)
  (local $p v128) (local $q v128) (local $ah v128) (local $al v128) (local $bh v128) (local $bl v128)
  (local $t v128) (local $v v128) (local $e v128) (local $k v128)
  (local.set $p (f64x2.mul (local.get $a) (local.get $b)))
  (if
    (i32.eqz
      (i64x2.all_true
        (v128.and
          (f64x2.ge (f64x2.abs (local.get $p)) (v128.const i64x2 0x03f0000000000000 0x03f0000000000000))
          (f64x2.le
            (f64x2.pmax (f64x2.abs (local.get $p))
              (f64x2.pmax (f64x2.abs (local.get $a))
                (f64x2.pmax (f64x2.abs (local.get $b)) (f64x2.abs (local.get $c)))))
            (v128.const i64x2 0x7dd0000000000000 0x7dd0000000000000)))))
    (then
      (return
        (f64x2.replace_lane 1
          (f64x2.splat
            (call $fma_f64 (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 0 (local.get $b))
              (f64x2.extract_lane 0 (local.get $c))))
          (call $fma_f64 (f64x2.extract_lane 1 (local.get $a)) (f64x2.extract_lane 1 (local.get $b))
            (f64x2.extract_lane 1 (local.get $c)))))))
  (local.set $t (f64x2.mul (local.get $a) (v128.const i64x2 0x41a0000002000000 0x41a0000002000000)))
  (local.set $ah (f64x2.sub (local.get $t) (f64x2.sub (local.get $t) (local.get $a))))
  (local.set $al (f64x2.sub (local.get $a) (local.get $ah)))
  (local.set $t (f64x2.mul (local.get $b) (v128.const i64x2 0x41a0000002000000 0x41a0000002000000)))
  (local.set $bh (f64x2.sub (local.get $t) (f64x2.sub (local.get $t) (local.get $b))))
  (local.set $bl (f64x2.sub (local.get $b) (local.get $bh)))
  (local.set $q
    (f64x2.add
      (f64x2.add
        (f64x2.add
          (f64x2.sub (f64x2.mul (local.get $ah) (local.get $bh)) (local.get $p))
          (f64x2.mul (local.get $ah) (local.get $bl)))
        (f64x2.mul (local.get $al) (local.get $bh)))
      (f64x2.mul (local.get $al) (local.get $bl))))
  (local.set $t (f64x2.add (local.get $c) (local.get $q)))
  (local.set $k (f64x2.sub (local.get $t) (local.get $c)))
  (local.set $e
    (f64x2.add
      (f64x2.sub (local.get $c) (f64x2.sub (local.get $t) (local.get $k)))
      (f64x2.sub (local.get $q) (local.get $k))))
  (local.set $v (f64x2.add (local.get $p) (local.get $t)))
  (local.set $q (f64x2.sub (local.get $v) (local.get $p)))
  (local.set $k
    (f64x2.add
      (f64x2.sub (local.get $p) (f64x2.sub (local.get $v) (local.get $q)))
      (f64x2.sub (local.get $t) (local.get $q))))
  ;; How k + e rounds shows only where it lies half-way between values of v's
  ;; precision: where it is a power of two.
  (local.set $t (f64x2.add (local.get $k) (local.get $e)))
  (if
    (v128.any_true
      (i64x2.eq (v128.and (local.get $t) (v128.const i64x2 0xfffffffffffff 0xfffffffffffff))
        (v128.const i64x2 0 0)))
    (then (local.set $t (call $odd_sum_f64x2 (local.get $k) (local.get $e)))))
  (f64x2.add (local.get $v) (local.get $t)))
