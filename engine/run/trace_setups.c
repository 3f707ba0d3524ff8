// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was set for the tasks of a trace, in the words of `schedlab record`
 * (schedlab/lab/recording/setup.py): the last line of text, as no event tells it.  It waits in a
 * file: in the C library's heap it would move tasks to other cache lines.
 */
#include "scenario.h"
#include "trace.h"

static FILE *setups;

void setups_open(void)
{
	static char buffer[1 << 16];

	setups = tmpfile();
	if (!setups)
		hw_refuse("--trace: a temporary file cannot be made");
	setvbuf(setups, buffer, _IOFBF, sizeof(buffer));
}

/* It exits, or the trace ends. */
void trace_task(struct kern_task *task)
{
	static struct kern_setup s;	/* too large for a task's stack */

	if (!setups || kern_get_setup(task, &s))
		return;
	fprintf(setups, "%s\"%d\": {\"process\": %d, \"cpus\": \"%s\", \"nice\": %d, \"policy\": %d, "
		"\"priority\": %d, \"cgroup\": \"\", \"uclamp\": [%d, %d]}", ftell(setups) ? ", " : "",
		task->pid, task_of(task)->process, s.cpus, s.nice, s.policy, s.rt_priority, s.uclamp_min, s.uclamp_max);
}

void setups_write_out(FILE *out)
{
	static char piece[1 << 16];
	size_t len;

	for (struct hw_task *task = hw_first_task; task; task = task->next)
		trace_task(kern_task_of(task));
	rewind(setups);
	fprintf(out, "# schedlab recording: {\"version\": 1, \"kernel\": \"\", \"cpus\": \"0-%d\", "
		"\"tasks\": {", hw_nr_cpus - 1);
	while ((len = fread(piece, 1, sizeof(piece), setups)) > 0)
		fwrite(piece, 1, len, out);
	fputs("}, \"roots\": [], \"restricted_to\": \"\"}\n", out);
	fclose(setups);
}
