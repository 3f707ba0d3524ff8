// SPDX-License-Identifier: GPL-2.0-only
/* The scenario's sched_ext schedulers: tunables, and loading one as its own program would. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "json.h"
#include "scenario.h"

static char known[2000];
static json_t *settings;	/* as they were read back */

static void note(const char *name)
{
	size_t used = strlen(known);

	if (used + strlen(name) + 3 < sizeof(known))
		sprintf(known + used, "%s%s", used ? ", " : "", name);
}

static void set_tunable(const char *name, json_t *v)
{
	char key[200];
	const struct path *at = AT(NULL, key);	/* as variants have it */
	const char *value;
	int err;

	snprintf(key, sizeof(key), "scx-tunable %s", name);
	value = json_text(v, at);
	err = kern_scx_set(name, value);

	if (err == -ENOENT) {
		kern_scx_list(note);
		json_error_at(at, "%s has no tunable of that name; it has %s", scenario.scheduler,
			      *known ? known : "none");
	}
	if (err == -EISDIR)
		json_error_at(at, "%s has a structure of that name, whose type cannot be set", scenario.scheduler);
	if (err == -E2BIG)
		json_error_at(at, "\"%s\" does not fit into it", value);
	if (err == -ERANGE)
		json_error_at(at, "\"%s\" is outside the range of its type", value);
	if (err)
		json_error_at(at, "\"%s\" is not a value of its type", value);
}

static json_t *read_back(const char *name)
{
	char text[4096];

	kern_scx_get(name, text, sizeof(text));
	return json_string(text);
}

/* Without a group: the root. */
static void load(const char *source, const char *group)
{
	int err = kern_scx_load();

	if (err)
		hw_refuse("%s%s: the kernel does not load %s: %s%s%s%s%s", group ? "scx-sub " : "sched_ext",
			  group ? group + 1 : "", source, strerror(-err),
			  kern_scx_refused() ? " (" : "", kern_scx_refused() ?: "", kern_scx_refused() ? ")" : "",
			  group && err == -EOPNOTSUPP ? "; likely the scheduler above it takes no sub-schedulers" : "");
}

void sched_ext_load(json_t *found)
{
	const char *name;
	json_t *v;

	settings = found;
	kern_scx_choose(0, NULL);
	kern_scx_set_up();
	json_object_foreach(scenario.sched_ext_tunables, name, v) {
		char key[200];

		set_tunable(name, v);
		snprintf(key, sizeof(key), "sched_ext %s", name);
		json_object_set_new(found, key, read_back(name));
	}
	load(scenario.scheduler, NULL);
	if (kern_scx_name())
		json_object_set_new(found, "sched_ext", json_string(kern_scx_name()));
}

void sched_ext_load_below(void)
{
	const char *group, *source;
	unsigned int nr = 0;
	char key[4200];
	json_t *v;

	json_object_foreach(scenario.sub_schedulers, group, v) {
		source = kern_scx_choose(++nr, group);
		kern_scx_set_up();
		load(source, group);
		snprintf(key, sizeof(key), "sched_ext %s", group);
		json_object_set_new(settings, key, json_string(source));
	}
}

/* All tasks run meanwhile, so a workload may be done first; the kernel's reason comes last. */
int sched_ext_fails(void)
{
	return scenario.scheduler && !kern_scx_name();
}
