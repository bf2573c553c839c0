/* Times one program's code against its peer in turn and prints the best time of
 * each and whether they left the same bytes:
 *
 *	driver CODE ROUNDS MS phase OFFSET TILES ... in BYTES ... out BYTES ... work BYTES
 *
 * Inputs are the same arbitrary bytes for both; the bits of floats are masked so
 * that they are small numbers. */
#define _GNU_SOURCE
#include "peer.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef int32_t (*phase_fn)(const void *const *in, void *const *out, void *work, uint64_t tile);

enum { MAX = 16 };

static struct {
	uint64_t offset, tiles;
} phases[MAX];
static int nphases, nin, nout;
static size_t out_bytes[MAX];
static void *in[MAX], *out[MAX], *peer_out[MAX], *work;
static char *code;

static void die(const char *what) {
	fprintf(stderr, "driver: %s\n", what);
	exit(1);
}

/* CPU time: on a shared machine wall time would count the others' slices. */
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *room(size_t bytes) {
	void *p = aligned_alloc(4096, (bytes + 64 + 4095) / 4096 * 4096);
	if (!p)
		die("out of memory");
	return memset(p, 0, bytes + 64);
}

static void load(const char *path) {
	struct stat st;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		die("cannot open the code");
	code = mmap(0, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || read(fd, code, st.st_size) != st.st_size || mprotect(code, st.st_size, PROT_READ | PROT_EXEC))
		die("cannot map the code");
	close(fd);
}

static int32_t kera(void) {
	for (int i = 0; i < nphases; i++) {
		phase_fn f = (phase_fn)(void *)(code + phases[i].offset);
		for (uint64_t t = 0; t < phases[i].tiles; t++) {
			int32_t trap = f((const void *const *)in, out, work, t);
			if (trap)
				return trap;
		}
	}
	return 0;
}

static double best(int who, long calls) {
	double at = now();
	for (long k = 0; k < calls; k++) {
		if (who)
			peer((const void *const *)in, peer_out);
		else
			kera();
	}
	return (now() - at) / calls;
}

int main(int argc, char **argv) {
	if (argc < 4)
		die("too few arguments");
	load(argv[1]);
	int rounds = atoi(argv[2]);
	double share = atof(argv[3]) * 1e6;
	uint32_t seed = 1;
	for (int i = 4; i + 1 < argc; i++) {
		const char *what = argv[i++];
		uint64_t n = strtoull(argv[i], 0, 10);
		if (!strcmp(what, "phase")) {
			if (nphases == MAX || i + 1 >= argc)
				die("too many phases");
			phases[nphases].offset = n;
			phases[nphases++].tiles = strtoull(argv[++i], 0, 10);
		} else if (!strcmp(what, "work")) {
			work = room(n);
		} else if (!strcmp(what, "out")) {
			if (nout == MAX)
				die("too many outputs");
			out_bytes[nout] = n;
			out[nout] = room(n);
			peer_out[nout++] = room(n);
		} else {
			if (nin == MAX)
				die("too many inputs");
			unsigned char *p = in[nin++] = room(n);
			for (size_t k = 0; k < n; k++) {
				seed = seed * 1664525u + 1013904223u;
				p[k] = seed >> 24;
			}
			if (!strcmp(what, "in-f32"))
				for (size_t k = 0; k < n / 4; k++)
					((float *)(void *)p)[k] = (float)(int8_t)p[4 * k] / 128;
			if (!strcmp(what, "in-f64"))
				for (size_t k = 0; k < n / 8; k++)
					((double *)(void *)p)[k] = (double)(int8_t)p[8 * k] / 128;
		}
	}
	int32_t trap = kera();
	if (trap)
		die("the program trapped");
	peer((const void *const *)in, peer_out);
	int same = 1;
	for (int k = 0; k < nout; k++)
		same = same && !memcmp(out[k], peer_out[k], out_bytes[k]);
	double ns[2] = {1e300, 1e300};
	long calls[2];
	for (int who = 0; who < 2; who++)
		for (calls[who] = 1; best(who, calls[who]) * calls[who] < share;)
			calls[who] *= 2;
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < 2; k++) {
			int who = (r + k) & 1;
			double t = best(who, calls[who]);
			if (t < ns[who])
				ns[who] = t;
		}
	printf("%.0f %.0f %d\n", ns[0], ns[1], same);
	return 0;
}
