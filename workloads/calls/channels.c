// SPDX-License-Identifier: GPL-2.0-only
/* Pipes, sockets, files and futexes: what waits for room, a message or a word. */
#include <errno.h>
#include "channels.h"

#ifdef SIMULATED

/* ------------------------------------------------------------------ pipes */

struct wl_pipe *wl_pipe(void)
{
	return (struct wl_pipe *)kern_pipe_create();
}

struct wl_pipe *wl_packet_pipe(unsigned int bytes)
{
	return (struct wl_pipe *)kern_packet_pipe_create(bytes);
}

static unsigned int put(struct wl_pipe *pipe, unsigned int bytes)
{
	kern_pipe_write((struct kern_pipe *)pipe, bytes);
	return bytes;
}

static unsigned int get(struct wl_pipe *pipe, unsigned int bytes)
{
	return kern_pipe_read((struct kern_pipe *)pipe, bytes);
}

/* ------------------------------------------------------------------ sockets */

static struct wl_socket *one_end(struct kern_socket *in, struct kern_socket *out, int is_udp)
{
	struct wl_socket *socket = wl_new(struct wl_socket, 1);

	*socket = (struct wl_socket) { is_udp, in, out };
	return socket;
}

void wl_socketpair(struct wl_socket *end[2])
{
	struct kern_socket *there = kern_socket_create(HW_UNIX), *back = kern_socket_create(HW_UNIX);

	end[0] = one_end(back, there, 0);
	end[1] = one_end(there, back, 0);
}

static unsigned int send_part(struct wl_socket *socket, unsigned int bytes)
{
	kern_socket_send(socket->out, bytes);
	return bytes;
}

static unsigned int receive_part(struct wl_socket *socket, unsigned int bytes)
{
	return kern_socket_receive(socket->in, bytes);
}

int wl_receive_now(struct wl_socket *socket, unsigned int most)
{
	return kern_socket_look(socket->in, most);
}

void wl_close(struct wl_socket *socket)
{
	kern_socket_close(socket->out);
}

void wl_drop(struct wl_socket *socket)
{
	(void)socket;
	kern_syscall(NULL);
}

/* ------------------------------------------------------------------ connections */

struct wl_listener {
	int is_udp;
	struct kern_listener *tcp;
	struct kern_socket *there, *back;		/* of UDP's one client */
};

struct wl_listener *wl_listen(enum wl_protocol protocol)
{
	struct wl_listener *listener = wl_new(struct wl_listener, 1);

	kern_syscall(NULL);
	listener->is_udp = protocol == WL_UDP;
	if (listener->is_udp) {
		listener->there = kern_socket_create(HW_UDP);
		listener->back = kern_socket_create(HW_UDP);
	} else {
		listener->tcp = kern_listen();
	}
	return listener;
}

struct wl_socket *wl_connect(struct wl_listener *listener, void *note)
{
	struct kern_connection *c;

	if (listener->is_udp)
		return one_end(listener->back, listener->there, 1);
	c = wl_new(struct kern_connection, 1);
	c->there = kern_socket_create(HW_TCP);
	c->back = kern_socket_create(HW_TCP);
	c->note = note;
	kern_connect(listener->tcp, c);
	return one_end(c->back, c->there, 0);
}

void *wl_accept(struct wl_listener *listener, struct wl_socket **socket)
{
	struct kern_connection *c;

	if (listener->is_udp) {
		*socket = one_end(listener->there, listener->back, 1);
		return NULL;
	}
	wl_note_wait("a connection", NULL);
	c = kern_accept(listener->tcp);
	wl_note_wait(NULL, NULL);
	*socket = one_end(c->there, c->back, 0);
	return c->note;
}

/* ------------------------------------------------------------------ files */

struct wl_file {
	struct hw_line users;
};

struct wl_file *wl_file(void)
{
	return wl_new(struct wl_file, 1);
}

void wl_dup(struct wl_file *file)
{
	for (int call = 0; call < 2; call++)
		kern_syscall(&file->users);
}

struct wl_log {
	struct hw_line file;
	enum wl_figure flush, work;
};

struct wl_log *wl_log(enum wl_figure flush, enum wl_figure work)
{
	struct wl_log *log = wl_new(struct wl_log, 1);

	log->flush = flush;
	log->work = work;
	return log;
}

void wl_flush(struct wl_log *log)
{
	kern_syscall(&log->file);
	kern_device_wait(wl_figure(log->flush), wl_figure(log->work) * 1000000 / hw_machine.core_khz);
}

/* ------------------------------------------------------------------ futexes */

static int sleep_on(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	return kern_futex_wait(word, value, timeout);
}

int wl_futex_wake(unsigned int *word, int nr)
{
	return kern_futex_wake(word, nr);
}

#else /* on this host */

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	131072		/* of one read() or write(): more than any program sends in one */

/* Goes with the thread. */
static __thread char buffer[CHUNK];

static unsigned int part(unsigned int bytes)
{
	return bytes < CHUNK ? bytes : CHUNK;
}

/* ------------------------------------------------------------------ pipes */

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

static unsigned int put(struct wl_pipe *pipe, unsigned int bytes)
{
	return check(write(pipe->fd[1], buffer, part(bytes)), "writing to a pipe");
}

static unsigned int get(struct wl_pipe *pipe, unsigned int bytes)
{
	return check(read(pipe->fd[0], buffer, part(bytes)), "reading from a pipe");
}

/* ------------------------------------------------------------------ sockets */

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

static unsigned int send_part(struct wl_socket *socket, unsigned int bytes)
{
	const struct sockaddr *to = socket->is_udp ? (struct sockaddr *)&socket->peer : NULL;

	return check(sendto(socket->fd, buffer, part(bytes), MSG_NOSIGNAL, to,
			    to ? sizeof(socket->peer) : 0), "sending");
}

static unsigned int receive_part(struct wl_socket *socket, unsigned int bytes)
{
	struct sockaddr *from = socket->is_udp ? (struct sockaddr *)&socket->peer : NULL;
	socklen_t len = sizeof(socket->peer);

	return check(recvfrom(socket->fd, buffer, part(bytes), 0, from, from ? &len : NULL), "receiving");
}

int wl_receive_now(struct wl_socket *socket, unsigned int most)
{
	ssize_t got = recv(socket->fd, buffer, part(most), MSG_DONTWAIT);

	return got < 0 && errno == EAGAIN ? -1 : check(got, "receiving");
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

#define LOG_BLOCK	8192
#define LOG_BLOCKS	2048

/* A file without a name in the current folder, which is whole before it is used. */
struct wl_log {
	int fd;
	unsigned int next;
};

struct wl_log *wl_log(enum wl_figure flush, enum wl_figure work)
{
	struct wl_log *log = wl_new(struct wl_log, 1);

	(void)flush;
	(void)work;
	log->fd = open(".", O_TMPFILE | O_RDWR, 0600);
	check(log->fd, "a log in the current folder");
	for (int i = 0; i < LOG_BLOCKS; i++)
		check(pwrite(log->fd, buffer, LOG_BLOCK, (off_t)i * LOG_BLOCK), "writing a log");
	check(fsync(log->fd), "fsync");
	return log;
}

void wl_flush(struct wl_log *log)
{
	unsigned int block = __atomic_fetch_add(&log->next, 1, __ATOMIC_RELAXED) % LOG_BLOCKS;

	check(pwrite(log->fd, buffer, LOG_BLOCK, (off_t)block * LOG_BLOCK), "writing a log");
	check(fdatasync(log->fd), "fdatasync");
}

/* ------------------------------------------------------------------ futexes */

static int sleep_on(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	const void *until = timeout == WL_NEVER ? NULL : &t;

	if (!syscall(SYS_futex, word, FUTEX_WAIT, value, until, NULL, 0))
		return 0;
	if (errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
		fail("futex: %s", strerror(errno));
	return -errno;
}

int wl_futex_wake(unsigned int *word, int nr)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, nr, NULL, NULL, 0);
}
#endif

/* ------------------------------------------------------------------ the same in both worlds */

void wl_pipe_write(struct wl_pipe *pipe, unsigned int bytes)
{
	wl_note_wait("room in a pipe", NULL);
	do
		bytes -= put(pipe, bytes);
	while (bytes);
	wl_note_wait(NULL, NULL);
}

void wl_pipe_read(struct wl_pipe *pipe, unsigned int bytes)
{
	unsigned int got = 1;

	wl_note_wait("a message in a pipe", NULL);
	for (unsigned int have = 0; got && have < bytes; have += got)
		got = get(pipe, bytes - have);
	wl_note_wait(NULL, NULL);
}

void wl_send(struct wl_socket *socket, unsigned int bytes)
{
	wl_note_wait("room in a socket", NULL);
	do
		bytes -= send_part(socket, bytes);
	while (bytes);
	wl_note_wait(NULL, NULL);
}

int wl_receive(struct wl_socket *socket, unsigned int bytes)
{
	unsigned int have = 0, got;

	wl_note_wait("a message in a socket", NULL);
	do {
		got = receive_part(socket, bytes - have);
		have += got;
	} while (got && have < bytes && !socket->is_udp);
	wl_note_wait(NULL, NULL);
	return have;
}

int wl_futex_wait(unsigned int *word, unsigned int value, unsigned long long timeout)
{
	int err;

	if (timeout != WL_NEVER)
		wl_note_wait(NULL, NULL);
	else if (!wl_self()->waits_for)
		wl_note_wait("a futex", NULL);
	err = sleep_on(word, value, timeout);
	wl_note_wait(NULL, NULL);
	return err != -ETIMEDOUT;
}
