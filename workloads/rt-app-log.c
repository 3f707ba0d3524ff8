// SPDX-License-Identifier: GPL-2.0-only
/* What rt-app's threads did: its log files, column by column, and figures of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt-app.h"

void rt_log_row(struct rt_log *log, const struct rt_row *row)
{
	if (!log->last || log->last->nr == RT_ROWS) {
		struct rt_rows *more = wl_new(struct rt_rows, 1);

		if (log->last)
			log->last->next = more;
		else
			log->rows = more;
		log->last = more;
	}
	log->last->row[log->last->nr++] = *row;
}

#define each_row(_log, _rows, _row)							\
	for (const struct rt_rows *_rows = (_log)->rows; _rows; _rows = _rows->next)	\
		for (const struct rt_row *_row = _rows->row; _row < _rows->row + _rows->nr; _row++)

/* ------------------------------------------------------------------ files */

/* "thread0-2", and "-0001" behind it for a fork */
static const char *thread_name(const struct rt_log *log, char *name, size_t size)
{
	int used = snprintf(name, size, "%s-%d", log->task->name, log->index);

	if (log->fork >= 0)
		snprintf(name + used, size - used, "-%04d", log->fork);
	return name;
}

static void write_policy(FILE *file, const struct rt_sched *sched)
{
	const struct wl_sched *s = &sched->wanted;

	fprintf(file, "# Policy : %s", rt_policy_name(s->policy));
	if (s->policy == WL_FIFO || s->policy == WL_RR)
		fprintf(file, " priority : %d", s->priority);
	else if (s->policy != WL_DEADLINE)
		fprintf(file, " priority : %d", s->nice);
	fputc('\n', file);
}

static void write_log(const struct rt_app *app, const struct rt_log *log)
{
	char path[1000], name[80];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s-%s.log", wl_text("logdir"), app->log_basename,
		 thread_name(log, name, sizeof(name)));
	file = fopen(path, "w");
	if (!file)
		wl_refuse("%s: %s", path, strerror(errno));
	write_policy(file, &log->task->sched);
	fprintf(file, "%s %8s %8s %8s %15s %15s %15s %10s %10s %10s %10s\n", "#idx", "perf", "run", "period",
		"start", "end", "rel_st", "slack", "c_duration", "c_period", "wu_lat");
	each_row(log, rows, r)
		fprintf(file, "%4d %8lld %8lld %8lld %15lld %15lld %15lld %10lld %10lld %10lld %10lld\n",
			log->index, r->perf, r->run, r->period, r->start, r->end, r->since_begin, r->slack,
			r->configured_run, r->configured_period, r->wakeup);
	if (fclose(file))
		wl_refuse("%s: %s", path, strerror(errno));
}

/* ------------------------------------------------------------------ figures */

static long long always(const struct rt_row *row)
{
	(void)row;
	return 1;
}

#define COLUMN(name)						\
static long long column_##name(const struct rt_row *row)	\
{								\
	return row->name;					\
}

COLUMN(perf)
COLUMN(run)
COLUMN(period)
COLUMN(slack)
COLUMN(wakeup)
COLUMN(configured_run)
COLUMN(configured_period)

/* A row counts where the file asked for what the column is about. */
static const struct column {
	const char *name, *unit;
	long long (*value)(const struct rt_row *row), (*counts)(const struct rt_row *row);
} columns[] = {
	{ "wu_lat", "us", column_wakeup, column_configured_period },
	{ "slack", "us", column_slack, column_configured_period },
	{ "run", "us", column_run, column_configured_run },
	{ "perf", "loops", column_perf, column_configured_run },
	{ "period", "us", column_period, always },
	{ }
};

struct values {
	long long	*value;
	size_t		nr, room;
};

static void collect(struct values *v, const struct column *column, const struct rt_log *log)
{
	each_row(log, rows, row) {
		if (!column->counts(row))
			continue;
		if (v->nr == v->room) {
			v->room = v->room ? 2 * v->room : 1024;
			v->value = realloc(v->value, v->room * sizeof(*v->value));
			if (!v->value)
				wl_refuse("no memory for its figures");
		}
		v->value[v->nr++] = column->value(row);
	}
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return x < y ? -1 : x > y;
}

/* The smallest value that so many percent are not above. */
static long long percentile(const struct values *v, int percent)
{
	size_t rank = (v->nr * percent + 99) / 100;

	return v->value[rank ? rank - 1 : 0];
}

static void tell(const char *who, const char *what, const char *figure, double value, const char *unit)
{
	char name[160];

	snprintf(name, sizeof(name), "%s%s%s%s%s", who, *who ? " " : "", what, *figure ? " " : "", figure);
	wl_result(name, value, unit);
}

static void tell_values(const char *who, const struct column *column, struct values *v)
{
	static const struct {
		const char *name;
		int percent;
	} figures[] = {
		{ "min", 0 }, { "p1", 1 }, { "p10", 10 }, { "p50", 50 }, { "p90", 90 }, { "p99", 99 },
		{ "max", 100 },
	};
	double sum = 0;

	if (!v->nr)
		return;
	qsort(v->value, v->nr, sizeof(*v->value), compare);
	for (size_t i = 0; i < v->nr; i++)
		sum += v->value[i];
	tell(who, column->name, "mean", sum / v->nr, column->unit);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		tell(who, column->name, figures[i].name, percentile(v, figures[i].percent), column->unit);
}

/* Of the logs from here up to the end, or of this one only. */
static void tell_figures(const char *who, const struct rt_log *first, const struct rt_log *end)
{
	double phases = 0;

	for (const struct rt_log *log = first; log != end; log = log->next)
		each_row(log, rows, row)
			phases++;
	tell(who, "phases", "", phases, "");
	for (const struct column *c = columns; c->name; c++) {
		struct values v = { };

		for (const struct rt_log *log = first; log != end; log = log->next)
			collect(&v, c, log);
		tell_values(who, c, &v);
		free(v.value);
	}
}

void rt_log_finish(void *prepared)
{
	const struct rt_app *app = prepared;
	char name[80];

	tell_figures("", app->logs, NULL);
	for (const struct rt_log *log = app->logs; log; log = log->next) {
		tell_figures(thread_name(log, name, sizeof(name)), log, log->next);
		if (*wl_text("logdir"))
			write_log(app, log);
	}
}
