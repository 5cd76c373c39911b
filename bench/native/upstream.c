/*
 * The upstream of every benchmark: chat completions over HTTP/1.1 keep-alive, on one thread.
 * It is written in C so that it never limits the proxies under measurement.
 *
 *   upstream REPLY_FILE
 *
 * prints its port. A request whose body contains "stream":true receives server-sent events; all others receive the
 * bytes of REPLY_FILE. "max_tokens":N in the body is the number of events and "seed":R their rate per second. Each event carries the
 * time at which it was written, as `t=` and 15 digits of microseconds of the monotonic clock.
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

enum { CONNECTIONS_MAX = 16384, EVENT_BYTES = 150, WAITING_EVENTS_MAX = 64 };

typedef struct {
  char *in;
  size_t held, room;
  long events_left;
  double due_us, interval_us;
  int is_streaming, position;
} Connection;

static Connection connections[CONNECTIONS_MAX];
/* Connections that stream, so that a tick visits no others. */
static int streaming[CONNECTIONS_MAX];
static int streaming_count = 0;

static const char stream_head[] = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_bench\r\n"
                                  "transfer-encoding: chunked\r\n\r\n";
static const char stream_end[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"b\",\"choices\":"
    "[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"b\",\"choices\":[],"
    "\"usage\":{\"prompt_tokens\":320,\"completion_tokens\":160,\"total_tokens\":480}}\n\ndata: [DONE]\n\n";
static char *reply;
static size_t reply_bytes;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void load_reply(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail(path);
  char *body = malloc(1 << 26);
  size_t length = fread(body, 1, 1 << 26, file);
  fclose(file);
  reply = malloc(length + 256);
  reply_bytes = sprintf(reply,
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\n"
                        "content-length: %zu\r\n\r\n",
                        length);
  memcpy(reply + reply_bytes, body, length);
  reply_bytes += length;
  free(body);
}

static void stop_stream(int fd) {
  Connection *connection = &connections[fd];
  if (!connection->is_streaming) return;
  connection->is_streaming = 0;
  int last = streaming[--streaming_count];
  streaming[connection->position] = last;
  connections[last].position = connection->position;
}

static void drop(int fd) {
  stop_stream(fd);
  connections[fd].held = 0;
  close(fd);
}

/* Writes everything. A peer that reads slowly delays the others, as none of the contestants does. */
static void send_all(int fd, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(fd, bytes, count);
    if (written > 0) {
      bytes += written;
      count -= written;
    } else if (errno == EAGAIN) {
      usleep(100);
    } else {
      return;
    }
  }
}

/* One event of EVENT_BYTES with its chunk framing. */
static size_t write_event(char *out) {
  char event[EVENT_BYTES + 64];
  int length = sprintf(event,
                       "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"b\","
                       "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"t=%015.0f \"}}]}",
                       now_us());
  while (length < EVENT_BYTES - 2) event[length++] = ' ';
  event[length++] = '\n';
  event[length++] = '\n';
  return sprintf(out, "%x\r\n%.*s\r\n", length, length, event);
}

static void tick(double now) {
  for (int at = 0; at < streaming_count;) {
    int fd = streaming[at];
    Connection *connection = &connections[fd];
    char out[WAITING_EVENTS_MAX * (EVENT_BYTES + 32)];
    size_t count = 0;
    int events = 0;
    while (connection->due_us <= now && connection->events_left > 0 && events++ < WAITING_EVENTS_MAX) {
      count += write_event(out + count);
      connection->events_left--;
      connection->due_us += connection->interval_us;
    }
    if (count > 0) send_all(fd, out, count);
    if (connection->events_left == 0) {
      char last[sizeof stream_end + 32];
      int length = sprintf(last, "%zx\r\n%s\r\n0\r\n\r\n", sizeof stream_end - 1, stream_end);
      send_all(fd, last, length);
      stop_stream(fd);
      continue; /* another connection took this position */
    }
    at++;
  }
}

static long number_after(const char *body, size_t length, const char *name, long otherwise) {
  const char *found = memmem(body, length, name, strlen(name));
  return found ? strtol(found + strlen(name), NULL, 10) : otherwise;
}

static void answer(int fd, const char *body, size_t length) {
  if (!memmem(body, length, "\"stream\":true", 13)) {
    send_all(fd, reply, reply_bytes);
    return;
  }
  Connection *connection = &connections[fd];
  connection->events_left = number_after(body, length, "\"max_tokens\":", 100);
  long per_second = number_after(body, length, "\"seed\":", 20);
  /* Rate 0: an event at the beginning, and none for an hour. */
  connection->interval_us = per_second == 0 ? 3600e6 : 1e6 / per_second;
  /* Streams that begin together do not write together. */
  double spread_us = per_second == 0 ? 0 : connection->interval_us;
  connection->due_us = now_us() + spread_us * (rand() / (double)RAND_MAX);
  connection->is_streaming = 1;
  connection->position = streaming_count;
  streaming[streaming_count++] = fd;
  send_all(fd, stream_head, sizeof stream_head - 1);
}

/* Answers all whole requests among the bytes that arrived. */
static void read_requests(int fd) {
  Connection *connection = &connections[fd];
  for (;;) {
    if (connection->room - connection->held < 1 << 16) {
      connection->room = connection->room ? connection->room * 2 : 1 << 18;
      connection->in = realloc(connection->in, connection->room);
    }
    ssize_t count = read(fd, connection->in + connection->held, connection->room - connection->held - 1);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      drop(fd);
      return;
    }
    connection->held += count;
    connection->in[connection->held] = 0;
    char *end = memmem(connection->in, connection->held, "\r\n\r\n", 4);
    if (!end) continue;
    char *length_at = strcasestr(connection->in, "content-length:");
    size_t head = end + 4 - connection->in;
    size_t length;
    if (length_at && length_at < end) {
      length = strtoul(length_at + 15, NULL, 10);
      if (connection->held < head + length) continue;
      answer(fd, connection->in + head, length);
    } else {
      /* A chunked body: its framing does not disturb the search for the fields. */
      if (memcmp(connection->in + connection->held - 5, "0\r\n\r\n", 5) != 0) continue;
      answer(fd, connection->in + head, connection->held - head);
    }
    connection->held = 0;
  }
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: upstream REPLY_FILE\n"), 2;
  load_reply(argv[1]);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t address_bytes = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) fail("listen");
  getsockname(listener, (struct sockaddr *)&address, &address_bytes);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  int poll = epoll_create1(0);
  struct epoll_event registration = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &registration);
  struct epoll_event ready[512];
  for (;;) {
    int count = epoll_wait(poll, ready, 512, streaming_count > 0 ? 1 : -1);
    for (int at = 0; at < count; at++) {
      int fd = ready[at].data.fd;
      if (fd != listener) {
        read_requests(fd);
        continue;
      }
      int accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
      if (accepted < 0) continue;
      if (accepted >= CONNECTIONS_MAX) {
        close(accepted);
        continue;
      }
      int yes = 1;
      setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      registration = (struct epoll_event){.events = EPOLLIN, .data.fd = accepted};
      epoll_ctl(poll, EPOLL_CTL_ADD, accepted, &registration);
    }
    tick(now_us());
  }
}
