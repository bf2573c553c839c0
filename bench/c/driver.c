/* The bench driver: one process that times Kera's code and its peers in turn.
 *
 * It reads a plan (bench/driver.go writes it) from the file named as its argument and
 * prints one JSON object a line. Kera's code is a position-independent blob, mapped
 * read-execute and called phase by phase as a runner with one thread would. In each
 * round every contestant runs its share of calls, in an order that rotates, so that a
 * slow spell of the machine hits all of them. */
#define _GNU_SOURCE
#include "peers.h"
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_BLAS
#include <cblas.h>
char *openblas_get_corename(void);
void openblas_set_num_threads(int);

static void blas_sgemm(const float *const *in, float *const *out, size_t n) {
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, in[0], n, in[1], n, 0.0f, out[0], n);
}
static void blas_row(const float *const *in, float *const *out, size_t n) {
	cblas_sgemv(CblasRowMajor, CblasTrans, n, n, 1.0f, in[1], n, in[0], 1, 0.0f, out[0], 1);
}
static void blas_rows8(const float *const *in, float *const *out, size_t n) {
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 8, n, n, 1.0f, in[0], n, in[1], n, 0.0f, out[0], n);
}
static void blas_column(const float *const *in, float *const *out, size_t n) {
	cblas_sgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0f, in[0], n, in[1], 1, 0.0f, out[0], 1);
}
static void blas_layer(const float *const *in, float *const *out, size_t n) {
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 128, 4 * n, n, 1.0f, in[0], n, in[1], 4 * n, 0.0f, out[0], 4 * n);
}
static void blas_sdot(const float *const *in, float *const *out, size_t n) {
	out[0][0] = cblas_sdot(n, in[0], 1, in[1], 1);
}
static float *ones;
static void blas_sdot_ones(const float *const *in, float *const *out, size_t n) {
	out[0][0] = cblas_sdot(n, in[0], 1, ones, 1);
}
#endif

typedef int32_t (*phase_fn)(const void *const *in, void *const *out, void *work, uint64_t tile);

enum { MAX_PHASES = 64, MAX_BUFS = 16, MAX_RIVALS = 4, MAX_ROUNDS = 101 };

struct phase {
	uint64_t offset, tiles, cond, back;
	int loop;
};

struct bench {
	char op[32];
	size_t n, blob_size;
	char *code;
	int nphases, nin, nout;
	struct phase phases[MAX_PHASES];
	size_t in_bytes[MAX_BUFS], out_bytes[MAX_BUFS], work_bytes;
	float *in[MAX_BUFS], *out[MAX_BUFS], *peer_out[MAX_BUFS];
	void *work;
};

struct rival {
	const char *name;
	peer_fn fn; /* null: Kera */
	long calls;
	double ns[MAX_ROUNDS];
};

static void die(const char *what) {
	fprintf(stderr, "bench driver: %s\n", what);
	exit(1);
}

/* CPU time of this thread: everything here runs on one, and on a shared machine wall
 * time would count the others' slices. */
static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *room(size_t bytes) {
	size_t size = (bytes + 64 + 4095) / 4096 * 4096;
	void *p = aligned_alloc(4096, size);
	if (!p)
		die("out of memory");
	memset(p, 0, size);
	return p;
}

static void load(struct bench *b, const char *path) {
	int fd = open(path, O_RDONLY);
	if (fd < 0)
		die("cannot open a code blob");
	size_t size = (b->blob_size + 4095) / 4096 * 4096;
	/* Written once, then read-execute: never writable and executable at once. */
	b->code = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->code == MAP_FAILED || read(fd, b->code, b->blob_size) != (ssize_t)b->blob_size)
		die("cannot read a code blob");
	close(fd);
	if (mprotect(b->code, size, PROT_READ | PROT_EXEC))
		die("cannot make code executable");
}

static int32_t run_kera(struct bench *b) {
	for (int i = 0; i < b->nphases;) {
		struct phase *p = &b->phases[i];
		phase_fn f = (phase_fn)(void *)(b->code + p->offset);
		for (uint64_t t = 0; t < p->tiles; t++) {
			int32_t trap = f((const void *const *)b->in, (void *const *)b->out, b->work, t);
			if (trap)
				return trap;
		}
		if (p->loop && *(uint32_t *)((char *)b->work + p->cond))
			i = (int)p->back;
		else
			i++;
	}
	return 0;
}

static double time_rival(struct bench *b, struct rival *r) {
	double at = now();
	for (long k = 0; k < r->calls; k++) {
		if (!r->fn)
			run_kera(b);
		else
			r->fn((const float *const *)b->in, b->peer_out, b->n);
	}
	return (now() - at) / r->calls;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* quantile of n values; sorts a copy. */
static double quantile(const double *v, int n, double q) {
	double s[MAX_ROUNDS];
	memcpy(s, v, n * sizeof *s);
	qsort(s, n, sizeof *s, by_value);
	return s[(int)(q * (n - 1) + 0.5)];
}

/* worst difference of the two outputs, relative to the largest value. */
static double difference(struct bench *b) {
	double worst = 0, scale = 1e-30;
	for (int k = 0; k < b->nout; k++)
		for (size_t i = 0; i < b->out_bytes[k] / 4; i++) {
			double d = fabs((double)b->out[k][i] - b->peer_out[k][i]);
			if (!(d <= worst))
				worst = d;
			scale = fmax(scale, fabs(b->peer_out[k][i]));
		}
	return worst / scale;
}

static void fill(float *p, size_t n, uint32_t seed) {
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (float)(int32_t)seed / 2147483648.0f;
	}
}

static void finish(struct bench *b, int rounds, double share_ns) {
	struct rival rivals[MAX_RIVALS] = {{"kera", 0, 0, {0}}};
	int n = 1;
	for (int k = 0; k < b->nin; k++) {
		b->in[k] = room(b->in_bytes[k]);
		fill(b->in[k], b->in_bytes[k] / 4, 7 + k);
	}
	for (int k = 0; k < b->nout; k++) {
		b->out[k] = room(b->out_bytes[k]);
		b->peer_out[k] = room(b->out_bytes[k]);
	}
	b->work = room(b->work_bytes);
#ifdef HAVE_BLAS
	if (!strcmp(b->op, "matmul"))
		rivals[n++] = (struct rival){"openblas cblas_sgemm", blas_sgemm, 0, {0}};
	if (!strcmp(b->op, "1xN @ NxN"))
		rivals[n++] = (struct rival){"openblas cblas_sgemv", blas_row, 0, {0}};
	if (!strcmp(b->op, "8xN @ NxN"))
		rivals[n++] = (struct rival){"openblas cblas_sgemm", blas_rows8, 0, {0}};
	if (!strcmp(b->op, "NxN @ N"))
		rivals[n++] = (struct rival){"openblas cblas_sgemv", blas_column, 0, {0}};
	if (!strcmp(b->op, "128xN @ Nx4N"))
		rivals[n++] = (struct rival){"openblas cblas_sgemm", blas_layer, 0, {0}};
	if (!strcmp(b->op, "dot"))
		rivals[n++] = (struct rival){"openblas cblas_sdot", blas_sdot, 0, {0}};
	if (!strcmp(b->op, "sum")) {
		ones = room(b->n * 4);
		for (size_t i = 0; i < b->n; i++)
			ones[i] = 1.0f;
		rivals[n++] = (struct rival){"openblas cblas_sdot(x, ones)", blas_sdot_ones, 0, {0}};
	}
#endif
	if (!strcmp(b->op, "sum"))
		rivals[n++] = (struct rival){"gcc -O3 -march=native -ffast-math", gcc_sum_fast, 0, {0}};
	if (!strcmp(b->op, "dot"))
		rivals[n++] = (struct rival){"gcc -O3 -march=native -ffast-math", gcc_dot_fast, 0, {0}};
	if (!strcmp(b->op, "chain"))
		rivals[n++] = (struct rival){"gcc -O3 -march=native", gcc_chain, 0, {0}};

	int have_kera = b->code != 0, trap = 0;
	if (have_kera && (trap = run_kera(b))) {
		fprintf(stderr, "bench driver: %s %zu: trap %d\n", b->op, b->n, trap);
		exit(1);
	}
	for (int k = !have_kera; k < n; k++) {
		/* Grow the number of calls until a share takes long enough to time well. */
		for (rivals[k].calls = 1;; rivals[k].calls *= 2)
			if (time_rival(b, &rivals[k]) * rivals[k].calls >= share_ns)
				break;
	}
	double diff[MAX_RIVALS] = {0};
	for (int k = 1; k < n && have_kera; k++) {
		rivals[k].fn((const float *const *)b->in, b->peer_out, b->n);
		diff[k] = difference(b);
	}
	for (int r = 0; r < rounds; r++)
		for (int j = 0; j < n; j++) {
			int k = (j + r) % n;
			if (k || have_kera)
				rivals[k].ns[r] = time_rival(b, &rivals[k]);
		}
	for (int k = 1; k < n; k++) {
		double ratio[MAX_ROUNDS];
		printf("{\"op\":\"%s\",\"size\":%zu,\"peer\":\"%s\",\"peer_ns\":%.1f,\"peer_min_ns\":%.1f", b->op, b->n,
		       rivals[k].name, quantile(rivals[k].ns, rounds, 0.5), quantile(rivals[k].ns, rounds, 0));
		if (have_kera) {
			for (int r = 0; r < rounds; r++)
				ratio[r] = rivals[k].ns[r] / rivals[0].ns[r];
			double mid = quantile(ratio, rounds, 0.5);
			printf(",\"ns\":%.1f,\"min_ns\":%.1f,\"ratio\":%.4f,\"spread\":%.4f,\"difference\":%.3g",
			       quantile(rivals[0].ns, rounds, 0.5), quantile(rivals[0].ns, rounds, 0), mid,
			       (quantile(ratio, rounds, 0.75) - quantile(ratio, rounds, 0.25)) / mid, diff[k]);
		}
		printf("}\n");
	}
	fflush(stdout);
	for (int k = 0; k < b->nin; k++)
		free(b->in[k]);
	for (int k = 0; k < b->nout; k++) {
		free(b->out[k]);
		free(b->peer_out[k]);
	}
	free(b->work);
#ifdef HAVE_BLAS
	free(ones);
	ones = 0;
#endif
}

int main(int argc, char **argv) {
	if (argc != 2)
		die("usage: driver PLAN");
	FILE *plan = fopen(argv[1], "r");
	if (!plan)
		die("cannot open the plan");
#ifdef HAVE_BLAS
	openblas_set_num_threads(1);
	printf("{\"core_type\":\"%s\"}\n", openblas_get_corename());
#endif
	struct bench b = {0};
	int rounds = 31;
	double share_ms = 2;
	char line[4096], path[4000], op[32];
	while (fgets(line, sizeof line, plan)) {
		struct phase p = {0};
		unsigned long long bytes;
		size_t size;
		if (sscanf(line, "rounds %d %lf", &rounds, &share_ms) == 2) {
			if (rounds < 1 || rounds > MAX_ROUNDS)
				die("number of rounds");
		} else if (sscanf(line, "case %zu %31[^\n]", &size, op) == 2) {
			memset(&b, 0, sizeof b);
			memcpy(b.op, op, sizeof op);
			b.n = size;
		} else if (sscanf(line, "blob %llu %3999[^\n]", &bytes, path) == 2) {
			b.blob_size = bytes;
			load(&b, path);
		} else if (sscanf(line, "phase %lu %lu %d %lu %lu", &p.offset, &p.tiles, &p.loop, &p.cond, &p.back) == 5) {
			if (b.nphases == MAX_PHASES || p.offset >= b.blob_size)
				die("bad phase");
			b.phases[b.nphases++] = p;
		} else if (sscanf(line, "in %llu", &bytes) == 1 && b.nin < MAX_BUFS) {
			b.in_bytes[b.nin++] = bytes;
		} else if (sscanf(line, "out %llu", &bytes) == 1 && b.nout < MAX_BUFS) {
			b.out_bytes[b.nout++] = bytes;
		} else if (sscanf(line, "work %llu", &bytes) == 1) {
			b.work_bytes = bytes;
		} else if (!strncmp(line, "run", 3)) {
			finish(&b, rounds, share_ms * 1e6);
		} else {
			die("bad line in the plan");
		}
	}
	return 0;
}
