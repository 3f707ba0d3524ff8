// SPDX-License-Identifier: GPL-2.0-only
/* poll() and epoll: waiting for several channels at a time. */
#include "channels.h"

#ifdef SIMULATED

static struct kern_pollable pollable(const struct wl_poll *what)
{
	return (struct kern_pollable) {
		.pipe = (struct kern_pipe *)what->pipe,
		.socket = what->socket ? what->socket->in : NULL,
		.out = what->socket ? what->socket->out : NULL,
	};
}

static int first_readable(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	struct kern_pollable one, *all = nr == 1 ? &one : hw_zalloc(nr * sizeof(*all), 16);
	int found;

	for (int i = 0; i < nr; i++)
		all[i] = pollable(&set[i]);
	found = kern_poll(all, nr, timeout);
	if (all != &one)
		hw_free(all);
	return found;
}

struct wl_watch *wl_watch(void)
{
	return (struct wl_watch *)kern_watch_create();
}

struct wl_watched *wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	struct kern_pollable one = pollable(what);

	return (struct wl_watched *)kern_watch_add((struct kern_watch *)watch, &one, data, 0);
}

_Static_assert((int)WL_READABLE == (int)KERN_READABLE && (int)WL_WRITABLE == (int)KERN_WRITABLE,
	       "the same events");

void wl_watch_for(struct wl_watched *watched, unsigned int events)
{
	kern_watch_for((struct kern_watched *)watched, events);
}

void wl_watch_drop(struct wl_watched *watched)
{
	kern_watch_drop((struct kern_watched *)watched);
}

void wl_watch_return(struct wl_watched *watched, unsigned int events)
{
	kern_watch_return((struct kern_watched *)watched, events);
}

struct wl_watched *wl_watch_once(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	struct kern_pollable one = pollable(what);

	return (struct wl_watched *)kern_watch_add((struct kern_watch *)watch, &one, data, 1);
}

void wl_watch_again(struct wl_watched *watched)
{
	kern_watch_again((struct kern_watched *)watched);
}

static int data_of_readable(struct wl_watch *watch, void **data, int most, unsigned long long timeout)
{
	return kern_watch_wait((struct kern_watch *)watch, data, most, timeout);
}

#else /* on this host */

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fd_of(const struct wl_poll *what)
{
	return what->pipe ? what->pipe->fd[0] : what->socket->fd;
}

static int first_readable(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	struct pollfd one, *fds = nr == 1 ? &one : calloc(nr, sizeof(*fds));
	int n, found = -1;

	for (int i = 0; i < nr; i++)
		fds[i] = (struct pollfd) { fd_of(&set[i]), POLLIN, 0 };
	n = check(ppoll(fds, nr, timeout == WL_NEVER ? NULL : &t, NULL), "poll");
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

static void control(int epoll, int operation, int fd, unsigned int events, void *data)
{
	struct epoll_event event = { .events = events, .data.ptr = data };

	check(epoll_ctl(epoll, operation, fd, &event), "epoll_ctl");
}

struct wl_watched {
	int epoll, fd;
	void *data;
};

static struct wl_watched *watched(struct wl_watch *watch, const struct wl_poll *what, void *data,
				  unsigned int events)
{
	struct wl_watched *watched = wl_new(struct wl_watched, 1);

	*watched = (struct wl_watched) { watch->fd, fd_of(what), data };
	control(watch->fd, EPOLL_CTL_ADD, watched->fd, events, data);
	return watched;
}

struct wl_watched *wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	return watched(watch, what, data, EPOLLIN);
}

struct wl_watched *wl_watch_once(struct wl_watch *watch, const struct wl_poll *what, void *data)
{
	return watched(watch, what, data, EPOLLIN | EPOLLONESHOT);
}

static unsigned int flags_of(unsigned int events)
{
	return (events & WL_READABLE ? EPOLLIN : 0) | (events & WL_WRITABLE ? EPOLLOUT : 0);
}

void wl_watch_for(struct wl_watched *watched, unsigned int events)
{
	control(watched->epoll, EPOLL_CTL_MOD, watched->fd, flags_of(events), watched->data);
}

void wl_watch_drop(struct wl_watched *watched)
{
	control(watched->epoll, EPOLL_CTL_DEL, watched->fd, 0, NULL);
}

void wl_watch_return(struct wl_watched *watched, unsigned int events)
{
	control(watched->epoll, EPOLL_CTL_ADD, watched->fd, flags_of(events), watched->data);
}

void wl_watch_again(struct wl_watched *watched)
{
	control(watched->epoll, EPOLL_CTL_MOD, watched->fd, EPOLLIN | EPOLLONESHOT, watched->data);
}

/* epoll_wait() knows milliseconds only. */
static int data_of_readable(struct wl_watch *watch, void **data, int most, unsigned long long timeout)
{
	struct timespec t = { timeout / WL_SEC, timeout % WL_SEC };
	struct epoll_event event[WL_MOST_READABLE];
	const void *until = timeout == WL_NEVER ? NULL : &t;
	long n = syscall(SYS_epoll_pwait2, watch->fd, event, most, until, NULL, 0);

	for (long i = 0; i < check(n, "epoll_pwait2"); i++)
		data[i] = event[i].data.ptr;
	return n;
}
#endif

/* ------------------------------------------------------------------ the same in both worlds */

int wl_poll(const struct wl_poll *set, int nr, unsigned long long timeout)
{
	int found;

	if (timeout == WL_NEVER)
		wl_note_wait("something to read in poll()", NULL);
	found = first_readable(set, nr, timeout);
	wl_note_wait(NULL, NULL);
	return found;
}

int wl_watch_several(struct wl_watch *watch, void **data, int most, unsigned long long timeout)
{
	int found;

	if (timeout == WL_NEVER)
		wl_note_wait("something to read in epoll_wait()", NULL);
	found = data_of_readable(watch, data, most < WL_MOST_READABLE ? most : WL_MOST_READABLE, timeout);
	wl_note_wait(NULL, NULL);
	return found;
}

void *wl_watch_wait(struct wl_watch *watch, unsigned long long timeout)
{
	void *data;

	return wl_watch_several(watch, &data, 1, timeout) ? data : NULL;
}
