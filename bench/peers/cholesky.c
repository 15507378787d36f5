/* The dense Cholesky factorisation behind the solver `reduced` and LAPACK's (OpenBLAS, one thread)
 * on the same matrices, in turns:  peer_cholesky [ROUNDS] > FILE.json  */
#define _POSIX_C_SOURCE 200809L /* clocks */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "linear/cholesky.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t length);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             double *b, const int *ldb, int *info, size_t length);
char *openblas_get_config(void);
void openblas_set_num_threads(int n);

static const int sizes[] = {100, 200, 300, 500, 700, 1000, 1300};
enum { SIZES = sizeof sizes / sizeof sizes[0], SINEW = 0, LAPACK = 1, WAYS = 2 };

typedef struct contest {
  int n;
  double *A, *a; /* n x n  column by column: the matrix, and what LAPACK makes of it */
  double *b, *x[WAYS];
  sni_chol *c;
  double factorise[WAYS], solve[WAYS]; /* s, least */
} contest;

static double cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Between -1 and 1, the same everywhere. */
static double next_random(unsigned long long *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* Symmetric, with a diagonal that outweighs the rest: the time does not depend on the numbers. */
static bool begin(contest *t, int n) {
  const size_t N = (size_t)n;
  *t = (contest){.n = n, .A = malloc(N * N * sizeof(double)), .a = malloc(N * N * sizeof(double))};
  t->b = malloc(3 * N * sizeof(double));
  if (!t->A || !t->a || !t->b || sni_chol_build(n, &t->c, NULL)) {
    return false;
  }
  t->x[SINEW] = t->b + n;
  t->x[LAPACK] = t->b + 2 * n;
  unsigned long long seed = (unsigned long long)n;
  for (size_t j = 0; j < N; j++) {
    t->b[j] = next_random(&seed);
    t->A[j * N + j] = (double)n;
    for (size_t i = j + 1; i < N; i++) {
      t->A[j * N + i] = t->A[i * N + j] = next_random(&seed);
    }
  }
  for (int w = 0; w < WAYS; w++) {
    t->factorise[w] = t->solve[w] = INFINITY;
  }
  return true;
}

static void end(contest *t) {
  free(t->A);
  free(t->a);
  free(t->b);
  sni_chol_free(&t->c);
}

/* One factorisation and one solve; the copy of the matrix is made before the clock starts. */
static bool turn(contest *t, int w) {
  const int n = t->n, one = 1;
  const size_t N = (size_t)n;
  int info = 0;
  memcpy(t->x[w], t->b, N * sizeof(double));
  if (w == LAPACK) {
    memcpy(t->a, t->A, N * N * sizeof(double));
  } else {
    sni_chol_clear(t->c);
    for (int j = 0; j < n; j++) {
      for (int i = j; i < n; i++) {
        *sni_chol_at(t->c, i, j) = t->A[(size_t)j * N + (size_t)i];
      }
    }
  }
  const double start = cpu_seconds();
  if (w == LAPACK) {
    dpotrf_("L", &n, t->a, &n, &info, 1);
  } else {
    info = !sni_chol_factorise(t->c, 1e-15, NULL);
  }
  const double middle = cpu_seconds();
  if (w == LAPACK) {
    dpotrs_("L", &n, &one, t->a, &n, t->x[w], &n, &info, 1);
  } else {
    sni_chol_solve(t->c, t->x[w], t->x[w]);
  }
  const double last = cpu_seconds();
  t->factorise[w] = fmin(t->factorise[w], middle - start);
  t->solve[w] = fmin(t->solve[w], last - middle);
  return info == 0;
}

/* Largest difference of the two, relative to the largest entry. */
static double difference(const contest *t) {
  double most = 0, size = 0;
  for (int i = 0; i < t->n; i++) {
    most = fmax(most, fabs(t->x[SINEW][i] - t->x[LAPACK][i]));
    size = fmax(size, fabs(t->x[LAPACK][i]));
  }
  return most / size;
}

static void print_cpu(void) {
  char line[256] = "";
  const char *name = "unknown";
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f)) {
    if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
      name = strchr(line, ':') + 2;
      line[strcspn(line, "\n")] = 0;
      break;
    }
  }
  if (f) {
    fclose(f);
  }
  printf("  \"machine\": {\"cpu\": \"%s\"},\n", name);
}

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  bool good = rounds > 0;
  openblas_set_num_threads(1);
  printf("{\n  \"bench\": \"cholesky\",\n");
  print_cpu();
  printf("  \"timing\": \"process CPU time, least over %d turns\",\n", rounds);
  printf("  \"lapack\": \"dpotrf, dpotrs of %s, one thread\",\n", openblas_get_config());
  printf("  \"build\": \"%s\",\n  \"rows\": [", C_FLAGS);
  fprintf(stderr, "Microseconds for a dense Cholesky factorisation and a solve\n\n"
                  "     n     sinew    lapack  sinew / lapack     solve    lapack  difference\n");
  for (int k = 0; k < SIZES && good; k++) {
    contest t;
    good = begin(&t, sizes[k]);
    const int repeats = 1 + 300 / sizes[k]; /* small ones are disturbed more */
    for (int r = 0; r < rounds * repeats && good; r++) {
      good = turn(&t, SINEW) && turn(&t, LAPACK);
    }
    const double off = good ? difference(&t) : INFINITY;
    good = good && off < 1e-12; /* the matrices have a condition of about 1 */
    if (good) {
      fprintf(stderr, "%6d%10.1f%10.1f%16.2f%10.1f%10.1f%12.1e\n", t.n, 1e6 * t.factorise[SINEW],
              1e6 * t.factorise[LAPACK], t.factorise[SINEW] / t.factorise[LAPACK],
              1e6 * t.solve[SINEW], 1e6 * t.solve[LAPACK], off);
      printf("%s\n    {\"n\": %d, \"sinew_seconds\": %.4g, \"lapack_seconds\": %.4g, "
             "\"sinew_over_lapack\": %.3f, \"sinew_solve_seconds\": %.4g, "
             "\"lapack_solve_seconds\": %.4g, \"difference\": %.2g}",
             k ? "," : "", t.n, t.factorise[SINEW], t.factorise[LAPACK],
             t.factorise[SINEW] / t.factorise[LAPACK], t.solve[SINEW], t.solve[LAPACK], off);
    } else {
      fprintf(stderr, "%d rows: the two do not agree, or there is no memory\n", sizes[k]);
    }
    end(&t);
  }
  printf("\n  ]\n}\n");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
