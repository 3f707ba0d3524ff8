/* SPDX-License-Identifier: GPL-2.0-only */
/* What pipes and sockets are made of, for those who send by them and those who wait for them. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include "world.h"

#ifdef SIMULATED

struct wl_socket {
	int is_udp;
	struct kern_socket *in, *out;
};

#else /* on this host */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

struct wl_pipe {
	int fd[2];
};

/* A datagram's receiver is named with each, as its sender is. */
struct wl_socket {
	int fd, is_udp;
	struct sockaddr_in peer;
};

static inline long check(long ret, const char *what)
{
	if (ret < 0)
		fail("%s: %s", what, strerror(errno));
	return ret;
}
#endif

#endif
