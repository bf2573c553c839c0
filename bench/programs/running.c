#include "peer.h"

void peer(const void *const *in, void *const *out) {
	const float *restrict x = in[0];
	float *restrict y = out[0];
	float total = 0;
	for (int64_t i = 0; i < 1048576; i++)
		y[i] = total += x[i];
}
