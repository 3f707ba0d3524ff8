// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's protobuf form of a trace: one TracePacket with one ftrace event each.
 * Field numbers are those of perfetto's trace/ftrace directory.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "scenario.h"
#include "trace.h"

enum { PACKET = 1, PACKET_FTRACE_EVENTS = 1, PACKET_SEQUENCE_ID = 10,
       BUNDLE_CPU = 1, BUNDLE_EVENT = 2, EVENT_TIMESTAMP = 1, EVENT_PID = 2, EVENT_GENERIC = 327,
       GENERIC_NAME = 1, GENERIC_FIELD = 2, FIELD_NAME = 1, FIELD_TEXT = 3, FIELD_NUMBER = 4 };

enum kind { TEXT, NUMBER, STATE };

struct field {
	const char *key;		/* in the kernel's own text of the event */
	int number;
	enum kind kind;
};

#define WAKE_FIELDS { { "comm", 1, TEXT }, { "pid", 2, NUMBER }, { "prio", 3, NUMBER }, \
		      { "target_cpu", 5, NUMBER } }

static const struct {
	const char *name;
	int number;
	struct field field[8];
} known[] = {
	{ "sched_switch", 4, { { "prev_comm", 1, TEXT }, { "prev_pid", 2, NUMBER },
		{ "prev_prio", 3, NUMBER }, { "prev_state", 4, STATE }, { "next_comm", 5, TEXT },
		{ "next_pid", 6, NUMBER }, { "next_prio", 7, NUMBER } } },
	{ "sched_wakeup", 17, WAKE_FIELDS },
	{ "sched_waking", 20, WAKE_FIELDS },
	{ "sched_wakeup_new", 114, WAKE_FIELDS },
	{ "sched_migrate_task", 491, { { "comm", 1, TEXT }, { "pid", 2, NUMBER },
		{ "prio", 3, NUMBER }, { "orig_cpu", 4, NUMBER }, { "dest_cpu", 5, NUMBER } } },
	{ "sched_process_fork", 239, { { "comm", 1, TEXT }, { "pid", 2, NUMBER },
		{ "child_comm", 3, TEXT }, { "child_pid", 4, NUMBER } } },
	{ "sched_process_exit", 238, { { "comm", 1, TEXT }, { "pid", 2, NUMBER },
		{ "prio", 4, NUMBER } } },
	{ "cpu_frequency", 11, { { "state", 1, NUMBER }, { "cpu_id", 2, NUMBER } } },
	{ "cpu_idle", 13, { { "state", 1, NUMBER }, { "cpu_id", 2, NUMBER } } },
};

#define MAX_TEXT 512

/* Even a text of nothing but one-letter keys fits as fields. */
struct buffer {
	unsigned char data[8 * MAX_TEXT];
	unsigned int len;
};

static void put_varint(struct buffer *b, unsigned long long v)
{
	do {
		b->data[b->len++] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		v >>= 7;
	} while (v);
}

static void put_number(struct buffer *b, int field, long long v)
{
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes(struct buffer *b, int field, const void *data, unsigned int len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

/* "S", "R+", "D|K": the bits of the task's state */
static long long state_bits(const char *text)
{
	static const char letters[] = "SDTtXZPI";
	long long bits = 0;

	for (; *text && *text != ' '; text++) {
		const char *at = strchr(letters, *text);

		if (at)
			bits |= 1LL << (at - letters);
		else if (*text == '+')
			bits |= 0x100;
	}
	return bits;
}

/* Where the value ends: at the next " key=", or with the text. */
static const char *end_of_value(const char *value)
{
	for (const char *space = strchr(value, ' '); space; space = strchr(space + 1, ' ')) {
		const char *p = space + 1;

		while (isalnum((unsigned char)*p) || *p == '_')
			p++;
		if (p > space + 1 && *p == '=')
			return space;
	}
	return value + strlen(value);
}

static void put_fields(struct buffer *b, const struct field *field, const char *text)
{
	char key[24];

	for (; field->key; field++) {
		const char *value;

		snprintf(key, sizeof(key), "%s=", field->key);
		value = strstr(text, key);
		if (!value)
			continue;
		value += strlen(key);
		text = value;
		if (field->kind == NUMBER) {
			put_number(b, field->number, strtoll(value, NULL, 10));
		} else if (field->kind == STATE) {
			put_number(b, field->number, state_bits(value));
		} else {
			put_bytes(b, field->number, value, end_of_value(value) - value);
		}
	}
}

/* An event perfetto has no message for: whatever its text has of the form key=value. */
static void put_generic(struct buffer *b, const char *name, const char *text)
{
	const char *equals;

	put_bytes(b, GENERIC_NAME, name, strlen(name));
	while ((equals = strchr(text, '='))) {
		static struct buffer field;
		const char *key = equals, *end = end_of_value(equals + 1);
		char *rest;
		long long number = strtoll(equals + 1, &rest, 10);

		while (key > text && key[-1] != ' ')
			key--;
		field.len = 0;
		put_bytes(&field, FIELD_NAME, key, equals - key);
		if (rest == end && rest > equals + 1)
			put_number(&field, FIELD_NUMBER, number);
		else
			put_bytes(&field, FIELD_TEXT, equals + 1, end - equals - 1);
		put_bytes(b, GENERIC_FIELD, field.data, field.len);
		text = end;
	}
}

void perfetto_write(FILE *out, simtime time, const char *name, int pid, const char *text,
		    unsigned int len)
{
	static struct buffer body, event, bundle, packet, trace;
	int number = EVENT_GENERIC;
	char line[MAX_TEXT];

	body.len = event.len = bundle.len = packet.len = trace.len = 0;
	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			number = known[i].number;
			put_fields(&body, known[i].field, line);
		}
	if (number == EVENT_GENERIC)
		put_generic(&body, name, line);
	put_number(&event, EVENT_TIMESTAMP, time);
	put_number(&event, EVENT_PID, pid);
	put_bytes(&event, number, body.data, body.len);
	put_number(&bundle, BUNDLE_CPU, hw.cpu);
	put_bytes(&bundle, BUNDLE_EVENT, event.data, event.len);
	put_bytes(&packet, PACKET_FTRACE_EVENTS, bundle.data, bundle.len);
	put_number(&packet, PACKET_SEQUENCE_ID, 1);
	put_bytes(&trace, PACKET, packet.data, packet.len);
	fwrite(trace.data, 1, trace.len, out);
}
