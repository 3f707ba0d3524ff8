// SPDX-License-Identifier: GPL-2.0-only
/* The calibration's file: turns of the loop a ns, and the CPU they hold for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "arena.h"
#include "calibration.h"

#define CAREFUL_SECONDS	0.5
#define CHECK_SECONDS	0.02

static void cpu_model(char *model, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[300];

	snprintf(model, size, "unknown");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8)) {
			line[strcspn(line, "\n")] = 0;
			snprintf(model, size, "%.180s", strchr(line, ':') + 2);
			break;
		}
	if (f)
		fclose(f);
}

static void name_file(char *file, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache)
		snprintf(file, size, "%s/schedlab", cache);
	else
		snprintf(file, size, "%s/.cache/schedlab", home ? home : "/tmp");
}

/* Makes the folder of a file, and those above it. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(path, 0755);
		*slash = '/';
	}
}

static double read_stored(const char *file, const char *model)
{
	char line[300] = "";
	double turns = 0;
	FILE *f = fopen(file, "r");

	if (!f)
		return 0;
	if (fscanf(f, "turns_per_ns %lf\ncpu ", &turns) != 1 || !fgets(line, sizeof(line), f))
		turns = 0;
	fclose(f);
	line[strcspn(line, "\n")] = 0;
	return strcmp(line, model) ? 0 : turns;
}

static void keep(char *file, double turns, const char *model)
{
	FILE *f;

	make_folders(file);
	f = fopen(file, "w");
	if (!f || fprintf(f, "turns_per_ns %.6f\ncpu %s\n", turns, model) < 0 || fclose(f))
		fprintf(stderr, "schedlab-load: %s: %s; the calibration is for this run only\n", file,
			strerror(errno));
}

void calibration_get(struct calibration *c, int anew)
{
	char model[200];

	cpu_model(model, sizeof(model));
	name_file(c->file, sizeof(c->file) - 20);
	strcat(c->file, "/load-calibration");
	c->stored = anew ? 0 : read_stored(c->file, model);
	if (!c->stored) {
		c->stored = work_measure(CAREFUL_SECONDS);
		keep(c->file, c->stored, model);
	}
	c->now = work_measure(CHECK_SECONDS);
}

double calibration_drift(const struct calibration *c)
{
	return (c->now / c->stored - 1) * 100;
}
