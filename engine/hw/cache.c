// SPDX-License-Identifier: GPL-2.0-only
/*
 * What touching memory costs.  A runqueue's lines have a version, moved by every
 * taking of its lock; each LLC remembers which of them it has of which version.  Shared lines
 * and locks are handed on in the order in which CPUs arrive in simulated time; a line
 * that is only changed, not locked, goes round in an LLC before it leaves it.
 */
#include <stdlib.h>
#include "inside.h"
#include "json.h"

struct hw_rq hw_rqs[HW_MAX_CPUS];
unsigned int hw_llc_bytes;
unsigned int hw_hot_filter[HW_HOT_FILTER];

static struct copy *copies;		/* [llc][cpu] */
struct copy *copies_here;
static unsigned long *came_in;		/* [llc] bytes of regions, ever */
static unsigned int llc_kb;
static unsigned int next_hit;		/* a line this LLC has, while another one is on its way */

void cache_read(json_t *obj)
{
	const struct path *at = AT(NULL, "cache");

	json_only(obj, at, "l1", "l2", "llc", NULL);
	refill_read(obj);
	llc_kb = json_kb(json_need(obj, at, "llc"), AT(at, "llc"));
	hw_llc_bytes = llc_kb << 10;
}

void cache_init(void)
{
	next_hit = hw_costs.line_hit / hw_costs.misses;
	copies = hw_zalloc_huge(sizeof(*copies) * hw_nr_llcs * hw_nr_cpus);
	came_in = hw_zalloc(sizeof(*came_in) * hw_nr_llcs, 64);
	refill_init();
}

struct copy *cache_copies(int cpu)
{
	return copies + hw_cpu_topo[cpu].llc * hw_nr_cpus;
}

static unsigned int line_cost(int owner)
{
	return hw_costs.line[hw_cpu_distance[hw.cpu][owner]];
}

static inline unsigned int count_lines(hw_lines lines)
{
	unsigned int nr = 0;

	/* There are few: cheaper than the library's count of bits. */
	for (; lines; lines &= lines - 1)
		nr++;
	return nr;
}

/* What the CPU does with a line until it asks for the next one. */
static inline simtime visit_time(void)
{
	return (simtime)hw_costs.scan_visit * hw.slowdown >> 10;
}

/*
 * Misses of one look do not wait for each other.  Where the CPU does nothing but miss, as in a
 * scan, they are under way together, across the CPUs it looks at; the first one is waited for in
 * full.
 */
/* Of each CPU's last miss, with the instructions of a visit. */
static simtime miss_ends[HW_MAX_CPUS];

/* The first look at a CPU in this kernel entry. */
static void charge_visit(void)
{
	hw_counts.runqueue_lookups++;
	hw.clk += visit_time();
	if (!hw.held && hw.clk >= hw.catch_up)
		hw_catch_up();
}

/* Apart from hw_look_closer(), so that a look at what the LLC has saves no registers. */
static __attribute__((noinline)) void fetch_lines(unsigned int cpu, struct copy *copy, hw_lines lines,
						  int is_new)
{
	struct hw_rq *rq = &hw_rqs[cpu];
	unsigned char distance = hw_cpu_distance[hw.cpu][cpu];
	simtime latency = hw_costs.line[distance];
	unsigned int nr, waited_for;

	if (copy->version != rq->version + 1 || !hw_mechanisms.coherence)
		*copy = (struct copy) { .version = rq->version + 1 };
	lines &= ~copy->lines;
	copy->lines |= lines;
	rq->read |= lines;
	if (rq->reader < distance)
		rq->reader = distance;
	nr = count_lines(lines);
	hw_counts.runqueue_misses += nr;
	waited_for = hw.clk > miss_ends[hw.cpu];
	hw.clk += latency * waited_for;
	if (nr > waited_for)
		hw.clk += latency * (nr - waited_for) / hw_costs.misses;
	fabric_pass(cpu, nr);
	miss_ends[hw.cpu] = hw.clk + visit_time();
	if (is_new)
		charge_visit();
}

/* Lines of another CPU's data that are new to this kernel entry. */
void hw_look_closer(unsigned int cpu, hw_lines lines)
{
	struct hw_rq *rq = &hw_rqs[cpu];
	struct copy *copy = &copies_here[cpu];
	int is_new = rq->epoch != hw.epoch;

	if (is_new) {
		rq->epoch = hw.epoch;
		rq->looked = 0;
	}
	lines &= ~rq->looked;
	rq->looked |= lines;
	if ((int)cpu == hw.cpu || !hw.live || !hw_mechanisms.scan)
		return;
	if (copy->version != rq->version + 1 || (lines & ~copy->lines) || !hw_mechanisms.coherence) {
		fetch_lines(cpu, copy, lines, is_new);
		return;
	}
	hw.clk += hw.clk > miss_ends[hw.cpu] ? hw_costs.line_hit : next_hit;
	miss_ends[hw.cpu] = hw.clk + visit_time();
	if (is_new)
		charge_visit();
}

/*
 * The first write after others read: their copies are called back.  The lock is waited for; the
 * other lines' stores wait in the core's buffer, side by side.
 */
void hw_rq_recall(unsigned int cpu)
{
	struct hw_rq *rq = &hw_rqs[cpu];
	unsigned int latency = hw_costs.line[rq->reader];

	if (hw_mechanisms.coherence && hw.live)
		hw_stall(latency + (simtime)latency * (count_lines(rq->read) - 1) / hw_costs.misses);
	rq->reader = HW_SELF;
	rq->read = 0;
}

/*
 * Waiters queue first in, first out: a new arrival waits until the last one queued is done.
 * Holders that follow each other without a gap count as one interval.
 */
static simtime wait_turn(simtime *from, simtime until)
{
	simtime arrived = hw.clk;

	if (arrived < *from || until <= arrived) {
		*from = arrived;
		return 0;
	}
	hw.clk = until;
	return until - arrived;
}

/* A waiter's copy shows it the release; then it fetches the line again to take the lock. */
static void wait_for_lock(simtime *from, simtime until, int last)
{
	simtime ns = wait_turn(from, until);

	if (ns) {
		hw_counts.lock_waits++;
		hw_counts.lock_wait_ns += ns;
		hw_stall(line_cost(last - 1));
	}
}

/* A lock that was last held elsewhere: wait for its holders' end, fetch its line. */
void hw_lock_wait(simtime *acquired, simtime released, int last)
{
	simtime arrived = hw.clk;

	wait_for_lock(acquired, released, last);
	hw_charge(hw_costs.lock);
	if (last) {
		hw_stall(line_cost(last - 1));
		hw_spent(HW_TIME_LOCK, arrived);
	}
}

/* A look at a lock that does not wait for it: 1 if somebody has it now. */
int hw_lock_seen_taken(simtime acquired, simtime released, int last)
{
	if (!last || hw.clk < acquired || hw.clk >= released)
		return 0;
	hw_counts.lock_refusals++;
	hw_stall(line_cost(last - 1));
	return 1;
}

/* The average cost of a waiter, where at most `payers` of all that wait pay it in full. */
static simtime share(simtime ns, int payers, simtime waiting)
{
	return waiting > payers ? ns * payers / waiting : ns;
}

/*
 * The latency of a line to a CPU that waited so long for it.  While more CPUs wait than there are
 * LLCs, one in each LLC fetches the line from elsewhere and the others take it from a neighbour;
 * among siblings the same holds for each core.
 */
static simtime handed_on(simtime far, simtime waited)
{
	simtime llc = hw_costs.line[HW_LLC], core = hw_costs.line[HW_CORE], waiting;

	if (far <= llc || !llc || llc < core)
		return far;
	waiting = waited / llc;
	return core + share(llc - core, hw_nr_cores, waiting) + share(far - llc, hw_nr_llcs, waiting);
}

/*
 * Waits in turn for a line, which the nearest CPUs get first, then fetches it over the distance
 * `far`.
 */
static inline void take_turn(simtime *from, simtime until, simtime far)
{
	simtime arrived = hw.clk, waited = wait_turn(from, until);

	hw_counts.hot_line_waits += waited > 0;
	hw_counts.hot_line_wait_ns += waited;
	hw_stall(handed_on(far, waited));
	if (hw.clk != arrived)
		hw_spent(HW_TIME_LOCK, arrived);
}

/* ------------------------------------------------------------------ hot lines */

#define HOT_BITS 14

struct hot {
	struct hot *same_hash;
	unsigned long line;		/* address / 64 */
	unsigned int objects;		/* small ones share a line */
	simtime arrived, free;
	int owner;
	enum hw_distance reader;	/* the farthest that has a copy */
	unsigned int version;
	unsigned int seen[];		/* by LLC */
};

/* An object's part of a line. */
struct hot_part {
	struct hot_part *same_hash;
	const void *object;
	struct hot *line;
};

/* There may be tens of thousands: each task group has one.  No order of them matters. */
static struct hot *hot_by_line[1 << HOT_BITS];
static struct hot_part *hot_by_object[1 << HOT_BITS];

static unsigned int hot_hash(unsigned long key)
{
	return key * 0x9e3779b97f4a7c15UL >> (64 - HOT_BITS);
}

static struct hot *find_hot(unsigned long line)
{
	struct hot *h = hot_by_line[hot_hash(line)];

	while (h && h->line != line)
		h = h->same_hash;
	return h;
}

static struct hot *add_hot(unsigned long line)
{
	struct hot **of_line = &hot_by_line[hot_hash(line)];
	struct hot *h = hw_zalloc(sizeof(*h) + sizeof(h->seen[0]) * hw_nr_llcs, 64);

	*h = (struct hot) { .same_hash = *of_line, .line = line, .owner = -1 };
	*of_line = h;
	hw_hot_filter[line % HW_HOT_FILTER]++;
	return h;
}

void hw_hot_register(const void *object, const void *addr)
{
	unsigned long line = (unsigned long)addr >> 6;
	struct hot_part **of_object = &hot_by_object[hot_hash((unsigned long)object)], *part;
	struct hot *h = find_hot(line);

	for (part = *of_object; part; part = part->same_hash)
		if (part->object == object && part->line == h)
			return;
	if (!h)
		h = add_hot(line);
	h->objects++;
	part = hw_zalloc(sizeof(*part), 16);
	*part = (struct hot_part) { *of_object, object, h };
	*of_object = part;
}

static void forget_part(struct hot *h)
{
	struct hot **link = &hot_by_line[hot_hash(h->line)];

	if (--h->objects)
		return;
	while (*link != h)
		link = &(*link)->same_hash;
	*link = h->same_hash;
	hw_hot_filter[h->line % HW_HOT_FILTER]--;
	hw_free(h);
}

/* An object's memory goes to somebody else. */
void hw_hot_forget(const void *object)
{
	struct hot_part **link = &hot_by_object[hot_hash((unsigned long)object)], *part;

	while ((part = *link)) {
		if (part->object != object) {
			link = &part->same_hash;
			continue;
		}
		*link = part->same_hash;
		forget_part(part->line);
		hw_free(part);
	}
}

/* An access somewhere near a hot line: only the registered ones cost more. */
void hw_hot_line(const void *addr, int write)
{
	struct hot *h;
	enum hw_distance distance = HW_SELF;
	unsigned int *version;

	if (!hw.live || !hw_mechanisms.hot_lines)
		return;
	h = find_hot((unsigned long)addr >> 6);
	if (!h)
		return;
	version = &h->seen[hw_cpu_topo[hw.cpu].llc];
	if (h->owner >= 0) {
		distance = hw_cpu_distance[hw.cpu][h->owner];
		if (!write && h->reader < distance)
			h->reader = distance;
		else if (write && distance < h->reader)
			distance = h->reader;
	}
	if (write || *version != h->version + 1)
		take_turn(&h->arrived, h->free, hw_costs.line[distance]);
	if (write) {
		h->reader = HW_SELF;
		h->free = hw.clk;
		h->owner = hw.cpu;
		h->version++;
	}
	*version = h->version + 1;
}

/* ------------------------------------------------------------------ lines of queues and pipes */

void hw_line_move(struct hw_line *line, unsigned int lines)
{
	if (line->owner && line->owner != hw.cpu + 1) {
		hw_stall((simtime)lines * line_cost(line->owner - 1));
		fabric_pass(line->owner - 1, lines);
	}
	line->owner = hw.cpu + 1;
}

/* The lines of a message: they come one behind the other, only the first is waited for in full. */
void hw_line_copy(struct hw_line *first, unsigned int bytes)
{
	if (first->owner && first->owner != hw.cpu + 1) {
		hw_stall((simtime)(bytes / 64) * line_cost(first->owner - 1) * hw_costs.refill_overlap / 100);
		fabric_pass(first->owner - 1, bytes / 64);
	}
	hw_line_move(first, 1);
}

/*
 * 1: from elsewhere. The latency from core to core is measured with an atomic operation, and has
 * it.
 */
static int fetch(struct hw_line *line)
{
	int last = line->owner, elsewhere = last && last != hw.cpu + 1;
	simtime far = elsewhere ? line_cost(last - 1) : 0;

	if (hw_mechanisms.hot_lines)
		take_turn(&line->acquired, line->released, far);
	else
		hw_stall(far);
	line->owner = hw.cpu + 1;
	line->released = hw.clk;
	return elsewhere;
}

void hw_line_look(struct hw_line *line)
{
	fetch(line);
}

void hw_line_write(struct hw_line *line)
{
	if (fetch(line))
		return;
	hw_charge(hw_costs.lock);
	line->released = hw.clk;
}

/*
 * If another came since the look, that round has fetched the line in vain: the next one finds it at
 * hand.
 */
void hw_line_exchange(struct hw_line *line)
{
	hw_counts.hot_line_retries += fetch(line);
	hw_charge(hw_costs.lock);
	line->released = hw.clk;
}

void hw_line_take(struct hw_line *line)
{
	int elsewhere = line->owner != hw.cpu + 1;
	simtime arrived = hw.clk;

	if (hw_mechanisms.locks)
		wait_for_lock(&line->acquired, line->released, line->owner);
	hw_charge(hw_costs.lock);
	hw_line_move(line, 1);
	if (elsewhere)
		hw_spent(HW_TIME_LOCK, arrived);
}

/* ------------------------------------------------------------------ lines found by address */

struct user_line {
	struct user_line *next;
	unsigned long number;
	struct hw_line line;
};

/* Found by address, but never ordered by it: addresses differ between runs. */
struct hw_line *hw_user_line(const void *addr)
{
	static struct user_line *buckets[4096];
	unsigned long number = (unsigned long)addr >> 6;
	struct user_line *l, **bucket = &buckets[number % 4096];

	for (l = *bucket; l; l = l->next)
		if (l->number == number)
			return &l->line;
	l = hw_zalloc(sizeof(*l), 16);
	l->number = number;
	l->next = *bucket;
	*bucket = l;
	return &l->line;
}

/*
 * Written under the runqueue's lock: by the CPU itself, or by another CPU that wakes a task there.
 * The lines of a cgroup and its parents do not wait for each other.
 */
void hw_psi_change(const void *state)
{
	struct hw_line *line = hw_user_line(state);

	if (hw_mechanisms.coherence && hw.live && line->owner && line->owner != hw.cpu + 1) {
		simtime latency = line_cost(line->owner - 1);

		hw_stall(hw.clk > miss_ends[hw.cpu] ? latency : latency / hw_costs.misses);
		fabric_pass(line->owner - 1, 1);
		miss_ends[hw.cpu] = hw.clk + ((simtime)hw_costs.psi_group * hw.slowdown >> 10);
	}
	line->owner = hw.cpu + 1;
	hw_charge(hw_costs.psi_group);
}

/* Stores of which each finds its line with the CPU that was here last, if another. */
void hw_scatter(struct hw_line *line, unsigned int stores)
{
	int last = line->owner;

	hw_line_lock(line);
	if (last && last != hw.cpu + 1)
		hw_stall((simtime)(stores - 1) * line_cost(last - 1));
	hw_line_unlock(line);
}

/* ------------------------------------------------------------------ regions' memory */

/*
 * An LLC holds what was touched last: a copy is there while less than the cache's size has come in
 * since.
 */
static int is_held(const struct hw_grain *copy)
{
	return copy->llc && came_in[copy->llc - 1] - copy->seen < (unsigned long)llc_kb << 10;
}

/* The LLC's copy of a grain, or room for one. */
static struct hw_grain *copy_in(struct hw_grain *g, int llc)
{
	struct hw_grain *free = NULL, *last = g;

	for (; g; last = g, g = g->next) {
		if (g->llc == llc + 1)
			return g;
		if (!free && !is_held(g))
			free = g;
	}
	if (!free)
		free = last->next = hw_zalloc(sizeof(*free), 16);
	free->llc = 0;
	return free;
}

/* Before a write the others' copies are called back; 1: there were some. */
static int call_back(struct hw_grain *g, const struct hw_grain *own)
{
	int found = 0;

	for (; g; g = g->next)
		if (g != own) {
			found |= is_held(g);
			g->llc = 0;
		}
	return found;
}

/*
 * An LLC holds one span of a grain.  Bytes that several LLCs hold are read by each at its own
 * speed; to write them, an LLC has to fetch them again.
 */
unsigned long hw_cache_fill(struct hw_grain *g, unsigned int from, unsigned int to, int write)
{
	int llc = hw_cpu_topo[hw.cpu].llc;
	unsigned int start = from, end = to, found = 0;
	struct hw_grain *own = copy_in(g, llc);
	int shared = write && call_back(g, own);

	if (is_held(own)) {
		if (own->from < to && from < own->to && !shared)
			found = (to < own->to ? to : own->to) - (from > own->from ? from : own->from);
		start = from < own->from ? from : own->from;
		end = to > own->to ? to : own->to;
		came_in[llc] -= own->to - own->from;
	}
	came_in[llc] += end - start;
	*own = (struct hw_grain) { start, end, llc + 1, came_in[llc], own->next };
	return to - from - found;
}
