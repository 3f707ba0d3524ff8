// SPDX-License-Identifier: GPL-2.0-only
/* Pipes, sockets and futexes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "arena.h"

#define CHUNK	131072		/* of one read() or write(): more than any program sends in one */

/* Goes with the thread. */
static __thread char buffer[CHUNK];

static void check(long ret, const char *what)
{
	if (ret < 0)
		fail("%s: %s", what, strerror(errno));
}

static unsigned int part(unsigned int bytes)
{
	return bytes < CHUNK ? bytes : CHUNK;
}

/* ------------------------------------------------------------------ pipes */

struct wl_pipe {
	int fd[2];
};

struct wl_pipe *wl_pipe(void)
{
	struct wl_pipe *p = wl_new(struct wl_pipe, 1);

	check(pipe(p->fd), "pipe");
	return p;
}

struct wl_pipe *wl_packet_pipe(unsigned int bytes)
{
	struct wl_pipe *p = wl_new(struct wl_pipe, 1);

	check(pipe2(p->fd, O_DIRECT), "pipe2");
	if (bytes)
		check(fcntl(p->fd[0], F_SETPIPE_SZ, bytes), "F_SETPIPE_SZ");
	return p;
}

void wl_pipe_write(struct wl_pipe *pipe, unsigned int bytes)
{
	wl_note_wait("room in a pipe", NULL);
	while (bytes) {
		ssize_t n = write(pipe->fd[1], buffer, part(bytes));

		check(n, "writing to a pipe");
		bytes -= n;
	}
	wl_note_wait(NULL, NULL);
}

void wl_pipe_read(struct wl_pipe *pipe, unsigned int bytes)
{
	wl_note_wait("a message in a pipe", NULL);
	while (bytes) {
		ssize_t n = read(pipe->fd[0], buffer, part(bytes));

		check(n, "reading from a pipe");
		bytes -= n;
	}
	wl_note_wait(NULL, NULL);
}

/* ------------------------------------------------------------------ sockets */

/* A datagram's receiver is named with each, as its sender is. */
struct wl_socket {
	int fd, is_udp;
	struct sockaddr_in peer;
};

static struct wl_socket *new_socket(int fd, int is_udp)
{
	struct wl_socket *s = wl_new(struct wl_socket, 1);

	s->fd = fd;
	s->is_udp = is_udp;
	return s;
}

void wl_socketpair(struct wl_socket *end[2])
{
	int fd[2];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), "socketpair");
	for (int i = 0; i < 2; i++)
		end[i] = new_socket(fd[i], 0);
}

void wl_send(struct wl_socket *socket, unsigned int bytes)
{
	const struct sockaddr *to = socket->is_udp ? (struct sockaddr *)&socket->peer : NULL;

	wl_note_wait("room in a socket", NULL);
	while (bytes) {
		ssize_t n = sendto(socket->fd, buffer, part(bytes), MSG_NOSIGNAL, to,
				   to ? sizeof(socket->peer) : 0);

		check(n, "sending");
		bytes -= n;
	}
	wl_note_wait(NULL, NULL);
}

int wl_receive(struct wl_socket *socket, unsigned int bytes)
{
	struct sockaddr *from = socket->is_udp ? (struct sockaddr *)&socket->peer : NULL;
	socklen_t len = sizeof(socket->peer);
	unsigned int have = 0;
	ssize_t n;

	wl_note_wait("a message in a socket", NULL);
	do {
		n = recvfrom(socket->fd, buffer, part(bytes - have), 0, from, from ? &len : NULL);
		check(n, "receiving");
		have += n;
	} while (n && have < bytes && !socket->is_udp);
	wl_note_wait(NULL, NULL);
	return have;
}

/* An empty datagram says what shutdown() says on a stream. */
void wl_close(struct wl_socket *socket)
{
	if (socket->is_udp)
		check(sendto(socket->fd, "", 0, 0, (struct sockaddr *)&socket->peer, sizeof(socket->peer)),
		      "sending");
	else
		check(shutdown(socket->fd, SHUT_WR), "shutdown");
}

void wl_drop(struct wl_socket *socket)
{
	check(close(socket->fd), "close");
}

/* ------------------------------------------------------------------ connections */

#define WAITING	4096		/* connections that are not yet accepted: net.core.somaxconn */

struct wl_listener {
	int fd, is_udp;
	struct sockaddr_in addr;
};

static int bound(int type, struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd = socket(AF_INET, type, 0);

	check(fd, "socket");
	*addr = (struct sockaddr_in) { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	check(bind(fd, (struct sockaddr *)addr, len), "bind on the loopback interface");
	check(getsockname(fd, (struct sockaddr *)addr, &len), "getsockname");
	return fd;
}

static void send_at_once(int fd)
{
	int one = 1;

	check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)), "TCP_NODELAY");
}

struct wl_listener *wl_listen(enum wl_protocol protocol)
{
	struct wl_listener *l = wl_new(struct wl_listener, 1);

	l->is_udp = protocol == WL_UDP;
	l->fd = bound(l->is_udp ? SOCK_DGRAM : SOCK_STREAM, &l->addr);
	if (!l->is_udp)
		check(listen(l->fd, WAITING), "listen");
	return l;
}

struct wl_socket *wl_connect(struct wl_listener *listener, void *note)
{
	struct sockaddr_in own;
	struct wl_socket *s = new_socket(bound(listener->is_udp ? SOCK_DGRAM : SOCK_STREAM, &own),
					 listener->is_udp);

	s->peer = listener->addr;
	if (listener->is_udp)
		return s;
	arena->notes[ntohs(own.sin_port)] = note;
	send_at_once(s->fd);
	check(connect(s->fd, (struct sockaddr *)&listener->addr, sizeof(listener->addr)),
	      "connect on the loopback interface");
	return s;
}

void *wl_accept(struct wl_listener *listener, struct wl_socket **socket)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	int fd;

	if (listener->is_udp) {
		*socket = new_socket(listener->fd, 1);
		return NULL;
	}
	wl_note_wait("a connection", NULL);
	fd = accept(listener->fd, (struct sockaddr *)&from, &len);
	check(fd, "accept");
	wl_note_wait(NULL, NULL);
	send_at_once(fd);
	*socket = new_socket(fd, 0);
	return arena->notes[ntohs(from.sin_port)];
}

/* ------------------------------------------------------------------ files */

struct wl_file {
	int fd;
};

struct wl_file *wl_file(void)
{
	struct wl_file *f = wl_new(struct wl_file, 1);

	f->fd = memfd_create("file", 0);
	check(f->fd, "memfd_create");
	return f;
}

void wl_dup(struct wl_file *file)
{
	check(close(dup(file->fd)), "dup");
}

/* ------------------------------------------------------------------ poll */

int wl_poll(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	struct pollfd one, *fds = nr == 1 ? &one : calloc(nr, sizeof(*fds));
	int n, found = -1;

	for (int i = 0; i < nr; i++)
		fds[i] = (struct pollfd) { set[i].pipe ? set[i].pipe->fd[0] : set[i].socket->fd, POLLIN, 0 };
	if (timeout == WL_NEVER)
		wl_note_wait("something to read in poll()", NULL);
	n = ppoll(fds, nr, timeout == WL_NEVER ? NULL : &t, NULL);
	wl_note_wait(NULL, NULL);
	check(n, "poll");
	for (int i = 0; n && i < nr && found < 0; i++)
		if (fds[i].revents)
			found = i;
	if (fds != &one)
		free(fds);
	return found;
}

struct wl_watch {
	int fd;
};

struct wl_watch *wl_watch(void)
{
	struct wl_watch *watch = wl_new(struct wl_watch, 1);

	watch->fd = epoll_create1(0);
	check(watch->fd, "epoll_create");
	return watch;
}

void wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = data };

	check(epoll_ctl(watch->fd, EPOLL_CTL_ADD, what->pipe ? what->pipe->fd[0] : what->socket->fd, &event),
	      "epoll_ctl");
}

/* epoll_wait() knows milliseconds only. */
void *wl_watch_wait(struct wl_watch *watch, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	struct epoll_event event = { };
	long n;

	if (timeout == WL_NEVER)
		wl_note_wait("something to read in epoll_wait()", NULL);
	n = syscall(SYS_epoll_pwait2, watch->fd, &event, 1, timeout == WL_NEVER ? NULL : &t, NULL, 0);
	wl_note_wait(NULL, NULL);
	check(n, "epoll_pwait2");
	return n ? event.data.ptr : NULL;
}

/* ------------------------------------------------------------------ futexes */

int wl_futex_wait(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	long ret;

	if (timeout != WL_NEVER)
		wl_note_wait(NULL, NULL);
	else if (!wl_self()->waits_for)
		wl_note_wait("a futex", NULL);
	ret = syscall(SYS_futex, word, FUTEX_WAIT, value, timeout == WL_NEVER ? NULL : &t, NULL, 0);
	wl_note_wait(NULL, NULL);
	if (ret && errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
		fail("futex: %s", strerror(errno));
	return !(ret && errno == ETIMEDOUT);
}

int wl_futex_wake(unsigned int *word, int nr)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, nr, NULL, NULL, 0);
}
