/* Peers: the same work by other means. in and out are the buffers that Kera's
 * entry gets, n is the size of the case. */
#ifndef PEERS_H
#define PEERS_H
#include <stddef.h>

typedef void (*peer_fn)(const float *const *in, float *const *out, size_t n);

void gcc_chain(const float *const *in, float *const *out, size_t n);     /* -O3 -march=native */
void gcc_sum_fast(const float *const *in, float *const *out, size_t n);  /* and -ffast-math */
void gcc_dot_fast(const float *const *in, float *const *out, size_t n);  /* and -ffast-math */
#endif
