/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading JSON with one clear error: the key path, what is wrong, what would be right. */
#ifndef JSON_H
#define JSON_H

#include <jansson.h>
#include "hw.h"

struct path {			/* a chain on the stack, printed only in errors */
	const struct path *up;
	const char	*key;
	int		index;		/* key == NULL: element of a list */
};

/*
 * The longest time a file may name. Events end at 208 days (event.h): a time to settle and a
 * duration lie before that, and no sum of two times overflows.
 */
#define LONGEST_TIME		(100 * 86400ULL * SEC)

#define AT(_up, _key)		(&(struct path) { (_up), (_key), 0 })
#define AT_INDEX(_up, _i)	(&(struct path) { (_up), NULL, (_i) })

extern const char *json_file;		/* being read, for messages */

json_t *json_read(const char *file);
void json_error_at(const struct path *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void json_only(json_t *obj, const struct path *at, ...);	/* allowed keys, NULL-ended */
json_t *json_need(json_t *obj, const struct path *at, const char *key);
simtime json_time(json_t *v, const struct path *at);		/* "1.5us", up to LONGEST_TIME */
simtime json_time_up_to(json_t *v, const struct path *at, simtime max);
unsigned int json_kb(json_t *v, const struct path *at);		/* "512KiB" */
unsigned int json_mbs(json_t *v, const struct path *at);	/* "20GB/s" */
double json_num(json_t *v, const struct path *at, double min, double max);
long json_int(json_t *v, const struct path *at, long min, long max);
int json_flag(json_t *v, const struct path *at);
const char *json_text(json_t *v, const struct path *at);
/* "0-3,8": calls fn for each, in order; numbers up to max */
void json_cpu_list(json_t *v, const struct path *at, int max, void (*fn)(int, void *), void *arg);

#define json_get_time(obj, at, key, dflt) \
	(json_object_get(obj, key) ? json_time(json_object_get(obj, key), AT(at, key)) : (simtime)(dflt))
#define json_get_int(obj, at, key, min, max, dflt) \
	(json_object_get(obj, key) ? json_int(json_object_get(obj, key), AT(at, key), min, max) : (long)(dflt))
#define json_get_num(obj, at, key, min, max, dflt) \
	(json_object_get(obj, key) ? json_num(json_object_get(obj, key), AT(at, key), min, max) : (double)(dflt))
#define json_get_flag(obj, at, key, dflt) \
	(json_object_get(obj, key) ? json_flag(json_object_get(obj, key), AT(at, key)) : (dflt))
#define json_get_text(obj, at, key, dflt) \
	(json_object_get(obj, key) ? json_text(json_object_get(obj, key), AT(at, key)) : (dflt))

#endif
