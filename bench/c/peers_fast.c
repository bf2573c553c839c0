/* Compiled with gcc -O3 -march=native -ffast-math: gcc may not vectorise a float sum
 * without leave to change its order. */
#include "peers.h"

void gcc_sum_fast(const float *const *in, float *const *out, size_t n) {
	const float *x = in[0];
	float s = 0;
	for (size_t i = 0; i < n; i++)
		s += x[i];
	out[0][0] = s;
}

void gcc_dot_fast(const float *const *in, float *const *out, size_t n) {
	const float *x = in[0], *y = in[1];
	float s = 0;
	for (size_t i = 0; i < n; i++)
		s += x[i] * y[i];
	out[0][0] = s;
}
