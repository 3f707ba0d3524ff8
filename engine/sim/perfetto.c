// SPDX-License-Identifier: GPL-2.0-only
/*
 * Perfetto's protobuf form of a trace: one TracePacket with one ftrace event each.
 * Field numbers are those of perfetto's trace/ftrace directory.
 */
#include <stdlib.h>
#include <string.h>
#include "scenario.h"
#include "trace.h"

enum { PACKET = 1, PACKET_FTRACE_EVENTS = 1, PACKET_SEQUENCE_ID = 10,
       BUNDLE_CPU = 1, BUNDLE_EVENT = 2, EVENT_TIMESTAMP = 1, EVENT_PID = 2, EVENT_PRINT = 3,
       PRINT_BUF = 2 };

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
	{ "cpu_frequency", 11, { { "state", 1, NUMBER }, { "cpu_id", 2, NUMBER } } },
	{ "cpu_idle", 13, { { "state", 1, NUMBER }, { "cpu_id", 2, NUMBER } } },
};

struct buffer {
	unsigned char data[1024];
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

static void put_fields(struct buffer *b, const struct field *field, const char *text)
{
	char key[24];

	for (; field->key; field++) {
		const char *value, *end = NULL;

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
			/* a name may hold spaces: it ends where the next key begins */
			snprintf(key, sizeof(key), " %s=", field[1].key);
			end = strstr(value, key);
			put_bytes(b, field->number, value, end ? (unsigned int)(end - value) : strlen(value));
		}
	}
}

void perfetto_write(FILE *out, const char *name, int pid, const char *text, unsigned int len)
{
	struct buffer body = { .len = 0 }, event = { .len = 0 }, bundle = { .len = 0 };
	struct buffer packet = { .len = 0 }, trace = { .len = 0 };
	int number = EVENT_PRINT;
	char line[512];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(name, known[i].name)) {
			number = known[i].number;
			snprintf(line, sizeof(line), "%.*s", (int)len, text);
			put_fields(&body, known[i].field, line);
		}
	if (number == EVENT_PRINT) {
		int n = snprintf(line, sizeof(line), "%s: %.*s\n", name, (int)len, text);

		put_bytes(&body, PRINT_BUF, line, n < (int)sizeof(line) ? n : (int)sizeof(line) - 1);
	}
	put_number(&event, EVENT_TIMESTAMP, sim.clk - origin);
	put_number(&event, EVENT_PID, pid);
	put_bytes(&event, number, body.data, body.len);
	put_number(&bundle, BUNDLE_CPU, sim.cpu);
	put_bytes(&bundle, BUNDLE_EVENT, event.data, event.len);
	put_bytes(&packet, PACKET_FTRACE_EVENTS, bundle.data, bundle.len);
	put_number(&packet, PACKET_SEQUENCE_ID, 1);
	put_bytes(&trace, PACKET, packet.data, packet.len);
	fwrite(trace.data, 1, trace.len, out);
}
