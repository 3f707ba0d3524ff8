// SPDX-License-Identifier: GPL-2.0-only
/*
 * ffmpeg with x264: one thread makes the pictures and hands them to the encoder, one looks ahead, and
 * each of the others encodes a frame, row by row, behind the thread that encodes the frame before.
 */
#include "workload.h"

#define ROWS		45	/* of 16 lines: 720 lines */
#define BEHIND		3	/* rows of the frame before that a row looks at: motion vectors */
#define LOOKED_AHEAD	40	/* x264's medium preset: rc-lookahead */

/* A count that others wait for, as x264 has one of a frame's rows and one of queued frames. */
struct progress {
	struct wl_mutex lock;
	struct wl_condition changed;
	int count;
};

struct encoder {
	int threads, frames;
	struct progress given, analysed;	/* to the lookahead, and by it */
	struct slot *slot;
};

/* A thread and its frame: every `threads`th. */
struct slot {
	struct encoder *encoder;
	int number;
	struct progress begun, rows;		/* frames; rows of all its frames */
};

static void move_to(struct progress *p, int count)
{
	wl_lock(&p->lock);
	p->count = count;
	wl_broadcast(&p->changed);
	wl_unlock(&p->lock);
}

static void wait_until(struct progress *p, int count)
{
	wl_lock(&p->lock);
	while (p->count < count)
		wl_condition_wait(&p->changed, &p->lock, WL_NEVER);
	wl_unlock(&p->lock);
}

static void lookahead(void *arg)
{
	struct encoder *e = arg;

	for (int frame = 0; frame < e->frames; frame++) {
		wait_until(&e->given, frame + 1);
		wl_work_about(WL_x264_lookahead);
		move_to(&e->analysed, frame + 1);
	}
}

static void encode(struct slot *s, int frame)
{
	struct encoder *e = s->encoder;
	struct slot *before = &e->slot[(s->number + e->threads - 1) % e->threads];
	int rows_before = (frame - 1) / e->threads * ROWS, mine = frame / e->threads * ROWS;

	for (int row = 0; row < ROWS; row++) {
		int behind = row + BEHIND < ROWS ? row + BEHIND : ROWS;

		if (frame && e->threads > 1)
			wait_until(&before->rows, rows_before + behind);
		wl_work_about(WL_x264_row);
		move_to(&s->rows, mine + row + 1);
	}
}

static void frame_thread(void *arg)
{
	struct slot *s = arg;

	wl_footprint(wl_figure(WL_x264_footprint_kib) << 10);
	for (int frame = s->number, turn = 1; frame < s->encoder->frames; frame += s->encoder->threads, turn++) {
		wait_until(&s->begun, turn);
		encode(s, frame);
	}
}

/* With one thread all is done here, one after the other. */
static void x264_alone(struct encoder *e)
{
	for (int frame = 0; frame < e->frames; frame++) {
		wl_work_about(WL_x264_picture);
		wl_work_about(WL_x264_lookahead);
		encode(&e->slot[0], frame);
	}
}

static void x264_threads(struct encoder *e)
{
	int given = 0;

	wl_thread("x264", lookahead, e);
	for (int i = 0; i < e->threads; i++)
		wl_thread("x264", frame_thread, &e->slot[i]);
	for (int frame = 0; frame < e->frames; frame++) {
		struct slot *s = &e->slot[frame % e->threads];
		int turn = frame / e->threads;

		while (given < e->frames && given < frame + LOOKED_AHEAD) {
			wl_work_about(WL_x264_picture);
			move_to(&e->given, ++given);
		}
		wait_until(&e->analysed, frame + 1);
		wait_until(&s->rows, turn * ROWS);
		move_to(&s->begun, turn + 1);
	}
	for (int i = 0; i < e->threads; i++)
		wait_until(&e->slot[i].rows, (e->frames - i + e->threads - 1) / e->threads * ROWS);
}

static void x264(void)
{
	struct encoder *e = wl_new(struct encoder, 1);

	e->threads = wl_option("threads");
	e->frames = wl_option("frames");
	e->slot = wl_new(struct slot, e->threads);
	for (int i = 0; i < e->threads; i++) {
		e->slot[i].encoder = e;
		e->slot[i].number = i;
	}
	wl_begin();
	if (e->threads == 1)
		x264_alone(e);
	else
		x264_threads(e);
	wl_end();
	wl_result("frames", e->frames / wl_elapsed(), "1/s");
}

static const struct wl_option options[] = {
	{ "frames", 'f', WL_COUNT, 300, 1, 10000000, NULL, "of 1280 x 720" },
	{ "threads", 't', WL_COUNT, 1, 1, 128, NULL, "that encode a frame each" },
	{ }
};

WORKLOAD(x264) = {
	.name = "x264",
	.summary = "a video encoder of a thread for each frame under way",
	.original = "ffmpeg 5.1 with x264 164, preset medium",
	.options = options,
	.main = x264,
};
