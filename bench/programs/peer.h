/* What a peer is: the entry of the Kera program of the same name, written in C. */
#include <stdint.h>
#include <string.h>

void peer(const void *const *in, void *const *out);
