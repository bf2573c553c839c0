#include "peer.h"

void peer(const void *const *in, void *const *out) {
	const uint32_t *restrict start = in[0];
	uint32_t *restrict ways = out[0];
	for (int i = 0; i < 4096; i++) {
		uint64_t x = (uint64_t)(start[i] & 0xffff) + 1;
		uint32_t count = 0;
		for (int k = 0; k < 1000 && x != 1; k++) {
			x = (x & 1) == 0 ? x >> 1 : 3 * x + 1;
			count++;
		}
		ways[i] = count;
	}
}
