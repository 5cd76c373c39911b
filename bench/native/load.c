/*
 * Load on keep-alive connections, one request at a time on each, on one thread.
 *
 *   load PORT CONNECTIONS SECONDS REQUEST_FILE [SPREAD]
 *
 * REQUEST_FILE contains a whole HTTP request. The connections begin one after the other within SPREAD seconds, 0 without
 * it; give streams their length, so that as many of them end at any time. SECONDS later no connection sends another
 * request. Prints one line of JSON: requests, failures, events, delays, seconds, and percentiles in milliseconds: of replies,
 * and of the delay of events that carry their time (see upstream.c). Delays are those of the SECONDS in which all
 * connections are at work.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 16384, HEAD_MAX = 8192, SAMPLES_MAX = 1 << 22 };

typedef struct {
  size_t sent;
  double started_us;
  char head[HEAD_MAX];
  size_t head_held;
  /* Bytes of the body that are still to come; -1 while the head is incomplete, -2 if the body is chunked. */
  long left;
  /* The last bytes that arrived, because a mark may be split between two reads. */
  char tail[24];
  size_t tail_held;
  /* The last five bytes of a chunked body, which ends with an empty chunk. */
  char ending[5];
  int is_ok;
} Connection;

static Connection connections[CONNECTIONS_MAX];
static char *request;
static size_t request_bytes;
static float *reply_ms, *event_ms;
static size_t replies = 0, delays = 0, events = 0, failures = 0;
static double begins_us, ends_us;
static int poll_fd, open_count = 0;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void watch(int fd, unsigned events_wanted) {
  struct epoll_event registration = {.events = events_wanted, .data.fd = fd};
  epoll_ctl(poll_fd, EPOLL_CTL_MOD, fd, &registration);
}

static void leave(int fd) {
  close(fd);
  open_count--;
}

static void send_rest(int fd) {
  Connection *connection = &connections[fd];
  while (connection->sent < request_bytes) {
    ssize_t written = write(fd, request + connection->sent, request_bytes - connection->sent);
    if (written < 0) {
      if (errno == EAGAIN) watch(fd, EPOLLIN | EPOLLOUT);
      return;
    }
    connection->sent += written;
  }
  if (request_bytes > 1 << 16) watch(fd, EPOLLIN);
}

static void next(int fd) {
  Connection *connection = &connections[fd];
  double now = now_us();
  if (now >= ends_us) {
    leave(fd);
    return;
  }
  connection->sent = connection->head_held = connection->tail_held = 0;
  connection->left = -1;
  memset(connection->ending, 0, sizeof connection->ending);
  connection->started_us = now;
  send_rest(fd);
}

static void end_reply(int fd) {
  Connection *connection = &connections[fd];
  if (!connection->is_ok) failures++;
  if (replies < SAMPLES_MAX) reply_ms[replies] = (now_us() - connection->started_us) / 1e3;
  replies++;
  next(fd);
}

/* Counts the events in a piece of a stream, and measures the delay of those that carry their time. */
static void count_events(Connection *connection, const char *bytes, size_t count, double now) {
  char joined[(1 << 16) + 64];
  memcpy(joined, connection->tail, connection->tail_held);
  memcpy(joined + connection->tail_held, bytes, count);
  size_t length = connection->tail_held + count;
  const char *at = joined, *end = joined + length;
  while ((at = memmem(at, end - at, "t=0", 3)) && end - at >= 18) {
    events++;
    double written_us = strtod(at + 2, NULL);
    if (now >= begins_us && now < ends_us && delays < SAMPLES_MAX) event_ms[delays++] = (now - written_us) / 1e3;
    at += 17;
  }
  /* Keep what may be the beginning of a mark, and nothing of a mark that was counted. */
  const char *rest = end - (length < 17 ? length : 17);
  const char *last = memrchr(rest, 't', end - rest);
  if (!last || memmem(last, end - last, " ", 1)) last = end;
  connection->tail_held = end - last;
  memcpy(connection->tail, last, end - last);
}

/* Whether a chunked body is complete with these bytes, which may have arrived one by one. */
static int ends_chunked(Connection *connection, const char *bytes, size_t count) {
  size_t kept = count < 5 ? 5 - count : 0;
  memmove(connection->ending, connection->ending + 5 - kept, kept);
  memcpy(connection->ending + kept, bytes + count - (5 - kept), 5 - kept);
  return memcmp(connection->ending, "0\r\n\r\n", 5) == 0;
}

/* Returns the length of the head if it is complete, and notes the status and how the body ends. */
static size_t read_head(Connection *connection) {
  char *end = memmem(connection->head, connection->head_held, "\r\n\r\n", 4);
  if (!end) return 0;
  *end = 0;
  connection->is_ok = strncmp(connection->head, "HTTP/1.1 200", 12) == 0;
  char *length = strcasestr(connection->head, "\ncontent-length:");
  connection->left = length ? strtol(length + 16, NULL, 10) : -2;
  return end + 4 - connection->head;
}

static void receive(int fd) {
  Connection *connection = &connections[fd];
  char bytes[1 << 16];
  ssize_t count = read(fd, bytes, sizeof bytes);
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    failures++;
    leave(fd);
    return;
  }
  const char *body = bytes;
  size_t length = count;
  if (connection->left == -1) {
    size_t before = connection->head_held;
    size_t room = HEAD_MAX - 1 - before;
    memcpy(connection->head + before, bytes, length < room ? length : room);
    connection->head_held += length < room ? length : room;
    size_t head = read_head(connection);
    if (head == 0) return;
    body += head - before;
    length -= head - before;
  }
  if (connection->left == -2) {
    count_events(connection, body, length, now_us());
    if (ends_chunked(connection, body, length)) end_reply(fd);
    return;
  }
  connection->left -= length;
  if (connection->left <= 0) end_reply(fd);
}

static int ascending(const void *one, const void *other) {
  float difference = *(const float *)one - *(const float *)other;
  return difference < 0 ? -1 : difference > 0;
}

static void print_percentiles(const char *name, float *samples, size_t count) {
  qsort(samples, count, sizeof *samples, ascending);
  float none = 0, *from = count ? samples : &none;
  printf(",\"%sP50Ms\":%.4f,\"%sP99Ms\":%.4f,\"%sP999Ms\":%.4f", name, from[count / 2], name,
         from[(size_t)(count * 0.99)], name, from[(size_t)(count * 0.999)]);
}

static void begin(const struct sockaddr_in *address) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || fd >= CONNECTIONS_MAX || connect(fd, (const struct sockaddr *)address, sizeof *address)) {
    perror("connect");
    exit(1);
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  struct epoll_event registration = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &registration);
  open_count++;
  next(fd);
}

int main(int argc, char **argv) {
  if (argc < 5) return fprintf(stderr, "usage: load PORT CONNECTIONS SECONDS REQUEST_FILE [SPREAD]\n"), 2;
  FILE *file = fopen(argv[4], "rb");
  if (!file) return perror(argv[4]), 1;
  request = malloc(1 << 26);
  request_bytes = fread(request, 1, 1 << 26, file);
  fclose(file);
  reply_ms = malloc(SAMPLES_MAX * sizeof *reply_ms);
  event_ms = malloc(SAMPLES_MAX * sizeof *event_ms);
  poll_fd = epoll_create1(0);
  double started_us = now_us(), spread_us = argc > 5 ? atof(argv[5]) * 1e6 : 0;
  begins_us = started_us + spread_us;
  ends_us = begins_us + atof(argv[3]) * 1e6;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int begun = 0, wanted = atoi(argv[2]);
  struct epoll_event ready[512];
  while (begun < wanted || open_count > 0) {
    while (begun < wanted && now_us() >= started_us + spread_us * begun / wanted) {
      begin(&address);
      begun++;
    }
    int count = epoll_wait(poll_fd, ready, 512, begun < wanted ? 1 : 10000);
    if (count == 0 && begun == wanted) {
      failures += open_count;
      break;
    }
    for (int at = 0; at < count; at++) {
      if (ready[at].events & EPOLLOUT) send_rest(ready[at].data.fd);
      if (ready[at].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(ready[at].data.fd);
    }
  }
  printf("{\"requests\":%zu,\"failures\":%zu,\"events\":%zu,\"delays\":%zu,\"seconds\":%.3f", replies, failures, events,
         delays, (now_us() - started_us) / 1e6);
  print_percentiles("reply", reply_ms, replies < SAMPLES_MAX ? replies : SAMPLES_MAX);
  print_percentiles("event", event_ms, delays);
  printf("}\n");
}
