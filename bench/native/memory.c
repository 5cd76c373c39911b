/*
 * How long a step takes that waits for memory: prints nanoseconds for a step through 8 MB in random order. This is more
 * than a core's own cache, and fits the cache that the cores of a processor share. If the other machines of the same
 * processor use that one, steps take as long as to the memory itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LINE_BYTES = 64, LINES = (8 << 20) / LINE_BYTES, STEPS = 1000000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(void) {
  static size_t order[LINES];
  char *memory = aligned_alloc(LINE_BYTES, (size_t)LINES * LINE_BYTES);
  if (!memory) return 1;
  for (size_t at = 0; at < LINES; at++) order[at] = at;
  /* One cycle through all lines: each is swapped with an earlier one. */
  for (size_t at = LINES - 1; at > 0; at--) {
    size_t other = rand() % at, kept = order[at];
    order[at] = order[other];
    order[other] = kept;
  }
  for (size_t at = 0; at < LINES; at++) *(void **)(memory + at * LINE_BYTES) = memory + order[at] * LINE_BYTES;
  void *volatile end;
  void *at = memory;
  for (int step = 0; step < LINES; step++) at = *(void **)at;
  double started_ns = now_ns();
  for (int step = 0; step < STEPS; step++) at = *(void **)at;
  end = at;
  (void)end;
  printf("%.1f\n", (now_ns() - started_ns) / STEPS);
}
